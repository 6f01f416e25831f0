/* SPDX-License-Identifier: MIT */
/* Restore the files of a git commit in a directory. */
#ifndef CLIENT_RESTORE_H
#define CLIENT_RESTORE_H

/* Write the tree of a commit of the repository at workspace byte for byte: settings, hooks,
 * attributes and filters of the repository have no effect, and it is not changed. dir is created,
 * or must be empty. Returns 0, or an exit code after a message. */
int restore_commit(const char *workspace, const char *commit, const char *dir);

#endif
