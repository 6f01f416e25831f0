/* SPDX-License-Identifier: MIT */
/* The commands that rlctl init tells its user to type: they work in the current directory. */
#ifndef CLIENT_NEXT_COMMAND_H
#define CLIENT_NEXT_COMMAND_H

#include <stdbool.h>

/* Whether the directory, or one above it, looks like a git repository: a review needs one. */
bool next_in_repository(const char *directory);

/* The first run there, malloc'd. start, review: whether it takes that option. */
char *next_run(const char *directory, bool start, bool review);

/* Commit the .rld.toml of the directory, malloc'd. */
char *next_commit(const char *directory);

#endif
