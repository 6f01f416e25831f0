/* SPDX-License-Identifier: MIT */
/* The table of methods: a row contains everything needed for decoding, checking, rpc.discover and
 * the man pages. */
#ifndef RPC_METHOD_H
#define RPC_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/access.h"
#include "proto/schema.h"
#include "rpc/request.h"
#include "rpc/result.h"

struct rpc;

struct method {
	const char *name;
	enum access access;		/* see rpc/roles.h; of an agent, rpc/agent_access.h */
	bool large;			/* the answer may be large: one at a time per client */
	/* in positional order; ends with name NULL; NULL: none. ANY: config_resolve() checks it */
	const struct schema *params;
	/* Ends with name NULL. If it is one type and there is a parameter "check", a dry run
	 * answers with a Checked instead. */
	const struct result_field *results;
	const int *errors;		/* additional error codes, ends with 0; NULL: none */
	struct reply (*handler)(struct rpc *rpc, struct call *call);
	const char *help;
};

/* The only notification that clients send and that is not a method: ends a waiting call. */
#define CANCEL_REQUEST "$/cancelRequest"

/* A NULL-terminated list of tables, each ended by a row without a name. */
typedef const struct method *const *method_tables;

const struct method *method_find(method_tables tables, const char *name);

/* Convert params (object, array, or null or NULL for none; borrowed) to an object by name, and
 * check it against the table. NULL with error, whose text begins with the parameter at fault and
 * whose field names it. */
json_t *method_bind(const struct method *method, json_t *params, struct schema_error *error);

/* What a client can rely on: the names of the methods, and "event:TYPE" of each type of events. */
json_t *method_capabilities(method_tables tables);

/* The OpenRPC document of the tables. */
json_t *method_discover(method_tables tables, const char *version);

#endif
