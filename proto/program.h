/* SPDX-License-Identifier: MIT */
/* Looks for programs on a PATH. */
#ifndef PROTO_PROGRAM_H
#define PROTO_PROGRAM_H

/* The absolute path of the first program of that name in the directories of search, which are
 * parted by ":"; one that is not absolute is passed over, for what it holds depends on who looks.
 * search NULL: nowhere; so is NULL. The caller frees. Blocks on the disk. */
char *program_find(const char *search, const char *name);

#endif
