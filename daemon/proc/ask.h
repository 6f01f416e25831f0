/* SPDX-License-Identifier: MIT */
/* Asks a program for its version. */
#ifndef PROC_ASK_H
#define PROC_ASK_H

#include <stddef.h>

#define ASK_MS 5000

/* The first line that "path --version" prints, as much as fits. A program that goes on for more than ASK_MS is ended, with its whole
 * process group. Blocks: off the loop only. 0; -ETIMEDOUT; -ENOMSG: it failed, or printed nothing; or another -errno: it did not start. */
int ask_version(const char *path, char *line, size_t room);

#endif
