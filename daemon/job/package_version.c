/* SPDX-License-Identifier: MIT */
#include "job/package_version.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "proto/memory.h"

#define MANIFEST_MAX (1024 * 1024)
#define VERSION_MAX 64
#define MODULES "/node_modules/"

/* The member of a manifest in dir; NULL: there is none, or it says nothing. malloc'd. */
static char *version_in(const char *dir)
{
	char *path = xasprintf("%s/package.json", dir), *text = NULL, *version = NULL;
	const char *said;
	json_t *manifest;
	size_t size;

	if (file_read(AT_FDCWD, path, MANIFEST_MAX, &text, &size) == 0) {
		manifest = json_loadb(text, size, 0, NULL);
		said = json_string_value(json_object_get(manifest, "version"));
		if (said != NULL && strlen(said) <= VERSION_MAX)
			version = xstrdup(said);
		json_decref(manifest);
	}
	free(text);
	free(path);
	return version;
}

char *package_version(const char *program)
{
	char *path = realpath(program, NULL), *modules = NULL, *slash, *version = NULL;

	for (char *at = path; at != NULL && (at = strstr(at, MODULES)) != NULL; at++)
		modules = at;
	while (modules != NULL && version == NULL &&
	    (slash = strrchr(path, '/')) >= modules + strlen(MODULES)) {
		*slash = '\0';
		version = version_in(path);
	}
	free(path);
	return version;
}
