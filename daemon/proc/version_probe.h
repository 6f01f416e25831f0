/* SPDX-License-Identifier: MIT */
/* Asks a program something that it tells at once: its version, or what it finds. */
#ifndef PROC_VERSION_PROBE_H
#define PROC_VERSION_PROBE_H

#include <stddef.h>
#include <stdint.h>

#define VERSION_PROBE_MS 5000

/* Run the program at path with argv, and envp as its whole environment (NULL: ours): line has the
 * first line that it prints, as much as fits, "" when it prints nothing. A program that goes on for
 * more than ms is ended, with its whole process group. Blocks: off the loop only. 0; -ETIMEDOUT;
 * -ENOMSG: it failed; or another -errno: it did not start. */
int version_probe_run(const char *path, char *const *argv, char *const *envp, int64_t ms, char *line, size_t room);

/* The first line that "path --version" prints, as much as fits. A program that goes on for more
 * than VERSION_PROBE_MS is ended, with its whole process group. Blocks: off the loop only. 0;
 * -ETIMEDOUT; -ENOMSG: it failed, or printed nothing; or another -errno: it did not start. */
int version_probe(const char *path, char *line, size_t room);

#endif
