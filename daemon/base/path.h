/* SPDX-License-Identifier: MIT */
/* Paths of an instance: from systemd for a system instance, from the XDG directories for a
 * user's. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

/* From the command line. NULL: not given. Relative paths are relative to the working directory. */
struct places_given {
	bool system;			/* --system, or implied by $STATE_DIRECTORY */
	const char *config, *state_dir, *socket;
};

/* All absolute and owned. */
struct places {
	bool system;
	char *config_file;
	char *config_dir;		/* directory of config_file, which also contains prompts/ */
	char *state_dir;
	char *socket[2];		/* [1] NULL: only one */
	bool can_do_without;		/* ... the first one: it is in $XDG_RUNTIME_DIR */
	bool inherited;			/* ... the first one is there: places_inherit() */
};

/* environment: getenv(), or a test's replacement. Returns 0, or -1 with a sentence in error and
 * *out empty. */
int places_find(struct places *out, const struct places_given *given,
    char *(*environment)(const char *name), char error[512]);
/* The service manager listens at path: it replaces the first socket. Takes ownership of path.
 * Returns 0, or -1 with a sentence in error. */
int places_inherit(struct places *places, const struct places_given *given, char *path, char error[512]);
void places_release(struct places *places);

#endif
