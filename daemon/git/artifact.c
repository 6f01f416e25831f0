/* SPDX-License-Identifier: MIT */
#include "git/artifact.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

char **artifacts_copy(char *const *list)
{
	char **copy = NULL;

	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		const char *path = list[i];
		size_t size;
		char *plain;

		while (strncmp(path, "./", 2) == 0)
			path += 2 + strspn(path + 2, "/");
		size = strlen(path);
		while (size > 0 && path[size - 1] == '/')
			size--;
		plain = xmemdup0(path, size);
		/* the whole workspace is not an artifact */
		if (size > 0 && strcmp(plain, ".") != 0)
			strings_append(&copy, plain);
		free(plain);
	}
	return copy;
}

bool artifact_has(char *const *list, const char *path)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		size_t size = strlen(list[i]);

		if (strncmp(path, list[i], size) == 0 && (path[size] == '\0' || path[size] == '/'))
			return true;
	}
	return false;
}
