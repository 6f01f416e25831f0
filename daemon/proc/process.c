/* SPDX-License-Identifier: MIT */
#include "proc/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/memory.h"

/* as much as the kernel takes for an environment by default */
#define ENVIRONMENT_MAX ((size_t)2 << 20)

bool process_identify(pid_t pid, char name[PROCESS_NAME_MAX], pid_t *parent)
{
	char path[32], text[512], *open_at, *close_at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* "17 (a name) S 1 ...": the name may contain brackets and spaces */
	open_at = strchr(text, '(');
	close_at = strrchr(text, ')');
	if (open_at == NULL || close_at == NULL || strlen(close_at) < 4)
		return false;
	*close_at = '\0';
	strlcpy(name, open_at + 1, PROCESS_NAME_MAX);
	*parent = (pid_t)strtol(close_at + 3, NULL, 10);
	return true;
}

bool process_has_children(pid_t pid)
{
	char path[64], first;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, &first, 1);
	close(fd);
	return n == 1;
}

/* The first value of name in text, which ends with a NUL; NULL. */
static const char *find_value(const struct buf *text, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < text->size; i += strlen(text->data + i) + 1)
		if (strncmp(text->data + i, name, length) == 0 && text->data[i + length] == '=')
			return text->data + i + length + 1;
	return NULL;
}

bool process_variable(pid_t pid, const char *name, char *value, size_t room)
{
	char path[48], chunk[16384];
	struct buf text = { 0 };
	const char *found;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd != -1 && text.size < ENVIRONMENT_MAX && (n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(&text, chunk, (size_t)n);
	if (fd != -1)
		close(fd);
	buf_add(&text, "", 1);
	found = find_value(&text, name);
	if (found != NULL)
		strlcpy(value, found, room);
	buf_release(&text);
	return found != NULL;
}
