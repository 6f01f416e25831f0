/* SPDX-License-Identifier: MIT */
/* Names of an enum's values, as used on the wire and on disk. */
#ifndef PROTO_STATE_NAMES_H
#define PROTO_STATE_NAMES_H

#include <stddef.h>

struct state_names {
	const char *what;		/* "run state", for messages */
	const char *const *names;	/* index = enum value */
	size_t count;
	/* an earlier name of the last value, still understood; NULL: none */
	const char *older;
};

/* Name of a value; NULL for the first of an enum without a name there: no value. Aborts on a value
 * outside the enum (a bug). */
const char *state_name(const struct state_names *names, int value);

/* The value of a name, or -1. */
int state_value(const struct state_names *names, const char *name);

#endif
