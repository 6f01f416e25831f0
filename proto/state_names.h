/* SPDX-License-Identifier: MIT */
/* The names of an enum's values, as they are on the wire and on disk. */
#ifndef PROTO_STATE_NAMES_H
#define PROTO_STATE_NAMES_H

#include <stddef.h>

struct state_names {
	const char *what;		/* "run state", for messages */
	const char *const *names;	/* index = enum value */
	size_t count;
};

/* The name of a value, NULL of the first of an enum that has no name: no value. Aborts on a value
 * outside the enum (a bug). */
const char *state_name(const struct state_names *names, int value);

/* The value of a name, or -1. */
int state_value(const struct state_names *names, const char *name);

#endif
