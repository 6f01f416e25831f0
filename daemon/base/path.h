/* SPDX-License-Identifier: MIT */
/* Where an instance keeps its things: a system instance as systemd says, a user instance as the XDG
 * directories say. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

/* What the command line asked for. NULL: not given. Relative paths are taken from the
 * working directory. */
struct places_given {
	bool system;			/* --system; $STATE_DIRECTORY says the same */
	const char *config, *state_dir, *socket;
};

/* All absolute and owned. */
struct places {
	bool system;
	char *config_file;
	char *config_dir;		/* directory of config_file; prompts/ lies in it */
	char *state_dir;
	char *socket[2];		/* [1] NULL: only one */
};

/* environment: getenv(), or a test's own. 0, or -1 with a sentence in error; *out is empty then. */
int places_find(struct places *out, const struct places_given *given,
    char *(*environment)(const char *name), char error[512]);
void places_release(struct places *places);

#endif
