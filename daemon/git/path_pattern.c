/* SPDX-License-Identifier: MIT */
#include "git/path_pattern.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

bool path_matches(const char *path, char *const *patterns)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

	for (char *const *p = patterns; p != NULL && *p != NULL; p++) {
		const char *pattern = **p == '/' ? *p + 1 : *p;

		if (fnmatch(pattern, strchr(*p, '/') != NULL ? path : name, FNM_PATHNAME) == 0)
			return true;
	}
	return false;
}
