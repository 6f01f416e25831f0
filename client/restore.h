/* SPDX-License-Identifier: MIT */
/* The files of a git commit laid out in a directory of their own. */
#ifndef CLIENT_RESTORE_H
#define CLIENT_RESTORE_H

/* The tree of a commit of the repository at workspace, byte for byte as git has it: neither
 * settings, hooks, attributes nor filters of the repository have a say, and nothing of it is
 * changed. dir is made, or must be empty. 0, or an exit code after telling. */
int restore_commit(const char *workspace, const char *commit, const char *dir);

#endif
