/* SPDX-License-Identifier: MIT */
/* Starting rld, as a daemon on demand or to look at a config file, git, and programs that tell
 * their version. The one file that starts processes. */
#ifndef CLIENT_SPAWN_PROGRAM_H
#define CLIENT_SPAWN_PROGRAM_H

#include <sys/types.h>

#include "proto/memory.h"

/* Only one rlctl at a time starts a daemon; the others wait here and then find it. An fd to close,
 * or -1 after telling. */
int start_lock(const char *state_dir);

/* Start a daemon of the user, wait until it says that it is ready, and tell so on stderr. 0, or an
 * exit code after telling what it said. */
int start_daemon(const char *state_dir);

/* Run "rld --check-config", with the given file unless it is NULL. Its exit code, or an own
 * one after telling. */
int start_config_check(const char *file);

/* Run git with these words, the name of the program first and NULL last. What our environment says
 * of a repository is taken away; more: "K=V" added to it, NULL-terminated. What git prints goes to
 * output, or to standard error when that is NULL; it reads nothing, and its errors are seen. Its
 * exit code, or -1 after telling. */
int start_git(const char *const *argv, const char *const *more, struct buf *output);

/* Start "path --version" in this environment and a process group of its own: it reads nothing, and
 * writes to output and errors. 0 or an errno. */
int start_version(const char *path, char *const *environment, int output, int errors, pid_t *pid);

#endif
