/* SPDX-License-Identifier: MIT */
/* Starting rld: as a daemon on demand, or to look at a config file. The one file that starts processes. */
#ifndef CLIENT_START_H
#define CLIENT_START_H

/* Only one rlctl at a time starts a daemon; the others wait here and then find it. An fd to close, or -1 after telling. */
int start_lock(const char *state_dir);

/* Start a daemon of the user and wait until it says that it is ready. 0, or an exit code after telling what it said. */
int start_daemon(const char *state_dir);

/* Run "rld --check-config", with the given file unless it is NULL. Its exit code, or an own one after telling. */
int start_config_check(const char *file);

#endif
