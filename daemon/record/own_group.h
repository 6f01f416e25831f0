/* SPDX-License-Identifier: MIT */
/* The cgroup of this process in the hierarchy of version 2, and that of an attempt: what its limits
 * have done is in the exit record. Used by rl-shim too: nothing but libc. */
#ifndef RECORD_OWN_GROUP_H
#define RECORD_OWN_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/exit_record.h"

/* The cgroup of an attempt that rl-start has started: this, and the mark. */
#define ATTEMPT_GROUP "attempt-"

/* Its directory. False: there is none, or the path is longer than room. */
bool own_group(char *path, size_t room);

/* The number behind key in a file of lines "key number"; key NULL: of a file that is a number. -1:
 * none. */
int64_t group_number(const char *dir, const char *file, const char *key);

/* What the limits of the group have done so far. */
void group_tell(const char *dir, struct exit_record *record);

/* The same of our own group, if that is the attempt's. */
void own_group_tell(const char *uuid, struct exit_record *record);

#endif
