/* SPDX-License-Identifier: MIT */
/* What methods answer with and events consist of, as tables: rpc.discover is made of them, and the
 * tests hold every answer against it. */
#ifndef RPC_RESULT_H
#define RPC_RESULT_H

#include <jansson.h>

#include "proto/state_names.h"

/* One member of an object. The words of type, divided by "|":
 *   integer, number, boolean, string, null, array, object (the last two with anything in them)
 *   'word'   the string with this value
 *   time     RFC 3339 in UTC, with milliseconds
 *   Name     the result_type or result_enum of that name
 *   [TYPE]   an array       {TYPE}   an object with any member names, all of one type
 * and at its end "?": the member is absent when it has no value. */
struct result_field {
	const char *name;
	const char *type;
	const char *help;
};

/* All columns of a row type that have a help text, for instance of "run". */
#define RESULT_ROW(row) { "*", row, NULL }
/* All members of a result_type. Alone in a table: the answer is of that type. */
#define RESULT_TYPE(type) { "*", type, NULL }

struct result_type {
	const char *name;			/* begins with a capital letter */
	const char *help;
	const struct result_field *fields;	/* ends with name NULL */
};

/* A string with one of these values. */
struct result_enum {
	const char *name;			/* begins with a capital letter */
	const struct state_names *names;
	const char *help;
};

/* Both end with name NULL. */
extern const struct result_type result_types[];
extern const struct result_enum result_enums[];

/* The schemas of all types and enums, by name. */
json_t *result_components(void);

/* The JSON schema of an object with these fields, which may be NULL: without members. */
json_t *result_schema(const struct result_field *fields);

#endif
