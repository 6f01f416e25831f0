/* SPDX-License-Identifier: MIT */
/* Search for programs on a PATH. */
#ifndef PROTO_PROGRAM_H
#define PROTO_PROGRAM_H

/* Absolute path of the first program of that name in the directories of search, separated by ":";
 * relative ones are skipped, because they depend on the caller. search NULL, or not found: NULL.
 * The caller frees. Blocks on the disk. */
char *program_find(const char *search, const char *name);

#endif
