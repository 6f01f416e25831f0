/* SPDX-License-Identifier: MIT */
#include "proto/program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/memory.h"

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *program_find(const char *search, const char *name)
{
	char *copy = xstrdup(search), *rest = copy, *found = NULL;
	const char *dir;

	while (found == NULL && rest != NULL && (dir = strsep(&rest, ":")) != NULL) {
		char *path = dir[0] == '/' ? xasprintf("%s/%s", dir, name) : NULL;

		if (path != NULL && is_program(path))
			found = path;
		else
			free(path);
	}
	free(copy);
	return found;
}
