/* SPDX-License-Identifier: MIT */
#include "record/handed_environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ids_are_split(void)
{
	uid_t uid, effective, saved;
	gid_t gid, its_effective, its_saved;

	return getresuid(&uid, &effective, &saved) == 0 && getresgid(&gid, &its_effective, &its_saved) == 0 &&
	    (uid != effective || uid != saved || gid != its_effective || gid != its_saved);
}

int environment_take(void)
{
	struct stat st;
	size_t size, count = 0, at = 0;
	char *text, **list;

	if (!ids_are_split() || fstat(RECORD_ENVIRONMENT_FD, &st) == -1)
		return 0;
	size = (size_t)st.st_size;
	text = calloc(1, size + 1);
	if (text == NULL || pread(RECORD_ENVIRONMENT_FD, text, size, 0) != (ssize_t)size) {
		free(text);
		return text == NULL ? -ENOMEM : -EIO;
	}
	for (size_t i = 0; i < size; i++)
		count += text[i] == '\0';
	list = calloc(count + 1, sizeof(*list));
	if (list == NULL) {
		free(text);
		return -ENOMEM;
	}
	for (size_t i = 0; i < size; i += strlen(text + i) + 1)
		list[at++] = text + i;
	environ = list;	/* both are kept to the end of the process */
	return 0;
}
