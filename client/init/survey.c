/* SPDX-License-Identifier: MIT */
#include "client/init/survey.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/memory.h"

#define ENTRIES_MAX 20000	/* of one directory */
#define FILES_MAX 64		/* read in each directory */
#define TEXT_MAX (1 << 20)

int survey_text(int directory, const char *name, struct buf *text)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rv;
	struct stat st;

	if (fd == -1)
		return -errno;
	rv = fstat(fd, &st) == -1 ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : buf_read(text, fd, TEXT_MAX);
	close(fd);
	return rv;
}

/* Add what the file says. One that is too large says nothing. */
static void survey_read(int directory, const char *name, const char *path, struct signs *signs)
{
	struct buf text = { 0 };

	if (survey_text(directory, name, &text) == 0 && text.size > 0)
		proposal_add_text(signs, path, text.data, text.size);
	buf_release(&text);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the regular files that may be signs, sorted, so that the order on the disk decides
 * nothing. The caller frees. */
static char **survey_list(DIR *entries, const char *prefix)
{
	char **names = xcalloc(1, sizeof(*names));
	const struct dirent *entry;
	size_t seen = 0, count = 0;
	struct stat st;

	while (seen++ < ENTRIES_MAX && (entry = readdir(entries)) != NULL) {
		char *path = xasprintf("%s%s%s", prefix, *prefix != '\0' ? "/" : "", entry->d_name);

		if (proposal_wants(path) &&
		    fstatat(dirfd(entries), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
			strings_append(&names, entry->d_name);
			count++;
		}
		free(path);
	}
	qsort(names, count, sizeof(*names), compare_names);
	return names;
}

static int survey_directory(int top, const char *prefix, struct signs *signs)
{
	int fd = openat(top, *prefix != '\0' ? prefix : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd == -1 ? NULL : fdopendir(fd);
	size_t files = 0;
	char **names;

	if (entries == NULL) {
		int failure = errno;

		if (fd != -1)
			close(fd);
		return -failure;
	}
	names = survey_list(entries, prefix);
	for (size_t i = 0; names[i] != NULL; i++) {
		char *path = xasprintf("%s%s%s", prefix, *prefix != '\0' ? "/" : "", names[i]);

		proposal_add_file(signs, path);
		if (proposal_reads(path) && files++ < FILES_MAX)
			survey_read(dirfd(entries), names[i], path, signs);
		free(path);
	}
	strings_free(names);
	closedir(entries);
	return 0;
}

int survey_make(const char *directory, struct signs *signs)
{
	int top = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv = top == -1 ? -errno : 0;

	for (size_t i = 0; rv == 0 && proposal_directories[i] != NULL; i++) {
		int failure = survey_directory(top, proposal_directories[i], signs);

		if (i == 0)
			rv = failure;
	}
	if (top != -1)
		close(top);
	return rv;
}
