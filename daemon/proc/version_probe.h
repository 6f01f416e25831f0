/* SPDX-License-Identifier: MIT */
/* Runs a program that prints one line and ends, such as its version. */
#ifndef PROC_VERSION_PROBE_H
#define PROC_VERSION_PROBE_H

#include <stddef.h>
#include <stdint.h>

#define VERSION_PROBE_MS 5000

/* Run the program at path with argv and envp, the whole environment (NULL: that of rld). line
 * gets the first line it prints, as much as fits, "": none. After ms it is ended with its
 * process group. Blocks: off the loop only. 0; -ETIMEDOUT; -ENOMSG: it failed; another -errno:
 * it did not start. */
int version_probe_run(const char *path, char *const *argv, char *const *envp, int64_t ms, char *line, size_t room);

/* The same; text gets all that it prints, as much as fits. */
int version_probe_text(const char *path, char *const *argv, char *const *envp, int64_t ms, char *text, size_t room);

/* The first line that "path --version" prints, as much as fits. After VERSION_PROBE_MS the program
 * is ended with its process group. Blocks: off the loop only. 0; -ETIMEDOUT; -ENOMSG: it failed or
 * printed nothing; another -errno: it did not start. */
int version_probe(const char *path, char *line, size_t room);

#endif
