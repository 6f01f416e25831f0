/* SPDX-License-Identifier: MIT */
/* The table of methods: one row says all that decoding, checking, rpc.discover and the man pages need. */
#ifndef RPC_METHOD_H
#define RPC_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "rpc/call.h"

struct rpc;

/* Who may call it, when there are roles: ids of the daemon's own user and root may everything. */
enum access { ACCESS_ANY, ACCESS_READ, ACCESS_SUBMIT, ACCESS_OWNER, ACCESS_ADMIN, ACCESSES };

enum param_type {
	PARAM_TEXT,		/* min..max bytes, no NUL */
	PARAM_INT,		/* min..max */
	PARAM_BOOL,
	PARAM_TEXT_OR_TRUE,	/* the same as PARAM_TEXT, or true */
	PARAM_OBJECT,		/* with the given members */
	PARAM_IDS,		/* array of min..max integers from 1 on */
	PARAM_TEXTS,		/* array of at most max texts */
	PARAM_PAIRS,		/* array of "K=V", or an object; at most max of them */
	PARAM_DURATION,		/* seconds, or text such as "15m" */
	PARAM_SETTING,		/* what the settings table says about path; config_resolve() checks it */
	PARAM_TYPES
};

struct param {
	const char *name;
	enum param_type type;
	bool required;
	bool clamp;			/* more than max means max */
	int64_t min, max;
	const char *const *choices;	/* PARAM_TEXT, and each of PARAM_TEXTS; NULL-terminated; NULL: any */
	const struct param *members;	/* PARAM_OBJECT; ends with name NULL */
	const char *path;		/* PARAM_SETTING: "review.agent" */
	const char *help;		/* PARAM_SETTING: NULL, the settings table has it */
};

struct result_field {
	const char *name;
	const char *type;		/* of JSON schema: "integer", "string|null" */
	const char *help;
};

struct method {
	const char *name;
	enum access access;
	bool large;			/* an answer may be large: one at a time per client */
	const struct param *params;	/* in the order of positional ones; ends with name NULL; NULL: none */
	const struct result_field *results;	/* ends with name NULL */
	const int *errors;		/* codes of its own, ends with 0; NULL: none */
	struct reply (*handler)(struct rpc *rpc, struct call *call);
	const char *help;
};

/* A list of tables, each ended by a row without name; the list by NULL. */
typedef const struct method *const *method_tables;

const struct method *method_find(method_tables tables, const char *name);

struct param_error {
	char field[128];
	char text[256];
};

/* Make an object by name of params (object, array, or null or NULL for none), which stays the caller's, and check it against
 * the table. NULL with error. */
json_t *method_bind(const struct method *method, json_t *params, struct param_error *error);

/* The OpenRPC document of the tables. */
json_t *method_discover(method_tables tables, const char *version);

#endif
