/* SPDX-License-Identifier: MIT */
#include "job/review_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/kept_environment.h"
#include "proto/memory.h"
#include "record/host_fault.h"

/* 0, or the errno that tells why it cannot be executed. */
static int program_fault(const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) == -1 ? errno : 0;
}

int review_program_find(const char *reviewer, char *const *env, char **path)
{
	const char *search = environment_get(env, "PATH");
	char *copy, *rest, *dir;
	int error = ENOENT;

	*path = NULL;
	if (strchr(reviewer, '/') != NULL) {
		error = program_fault(reviewer);
		*path = error == 0 ? xstrdup(reviewer) : NULL;
		return error;
	}
	copy = rest = xstrdup(search != NULL ? search : "/usr/bin:/bin");
	/* a fault of the host ends the search */
	while (*path == NULL && !host_fault(error) && (dir = strsep(&rest, ":")) != NULL) {
		char *file = xasprintf("%s/%s", dir[0] != '\0' ? dir : ".", reviewer);

		error = program_fault(file);
		if (error == 0)
			*path = file;
		else
			free(file);
	}
	free(copy);
	return error;
}

int review_program_digest(const char *reviewer, char *const *env, char hex[DIGEST_HEX])
{
	char *path;
	int error = review_program_find(reviewer, env, &path);

	if (error != 0)
		return error;
	error = digest_file(path, hex);
	free(path);
	return error;
}
