/* SPDX-License-Identifier: MIT */
/* The environment of a process that rl-start or a shim of it has started, with two kinds of ids: it
 * comes by a descriptor. Of a process that was started otherwise this descriptor is not open. */
#ifndef RECORD_HANDED_ENVIRONMENT_H
#define RECORD_HANDED_ENVIRONMENT_H

#include <stdbool.h>

#define RECORD_ENVIRONMENT_FD 4

/* Whether real, effective and saved ids differ. */
bool ids_are_split(void);

/* Take the place of environ by that of the descriptor, if it is open. Before anything reads the
 * environment. 0 or -errno. */
int environment_take(void);

#endif
