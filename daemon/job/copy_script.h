/* SPDX-License-Identifier: MIT */
/* The script that takes the files of an attempt to a machine with directories of its own, and
 * brings its work back: copy.sh, with what that needs to know before it. */
#ifndef JOB_COPY_SCRIPT_H
#define JOB_COPY_SCRIPT_H

#include <stdbool.h>

#include "job/build_int.h"
#include "proc/launch.h"

/* For the launch with all its other files. words: the filled argv of the launcher, of which all but
 * the last execute a command line there; shim: the path of rl-shim; writes: the work of the agent
 * is its tree, otherwise only its answer. malloc'd. */
char *copy_script(const struct launch *launch, char *const *words, const struct places *p, const char *shim,
    bool writes);

/* What rsync executes to reach the machine; malloc'd. */
char *copy_shell(char *const *words);

#endif
