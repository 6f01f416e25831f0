/* SPDX-License-Identifier: MIT */
/* Other processes, as /proc shows them. */
#ifndef PROC_PROCESS_H
#define PROC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCESS_NAME_MAX 32
#define PROCESS_SHIM "rl-shim"		/* the name of a shim */

/* Name and parent of a process; false if it is gone. */
bool process_identify(pid_t pid, char name[PROCESS_NAME_MAX], pid_t *parent);

/* Whether its only thread has children, dead ones that it has not reaped included; false if that
 * cannot be read. */
bool process_has_children(pid_t pid);

/* The value of a variable in the environment that it was started with, cut at room; false: it has
 * none, or may not be read. */
bool process_variable(pid_t pid, const char *name, char *value, size_t room);

#endif
