/* SPDX-License-Identifier: MIT */
#include "proto/error.h"

#include <stddef.h>

const struct rpc_error_row rpc_errors[] = {
	{ RPC_NOT_FOUND, "not-found", false, "look at what there is with `rlctl list`" },
	{ RPC_WRONG_STATE, "wrong-state", false, "look at its state with `rlctl show`" },
	{ RPC_NOT_PERMITTED, "not-permitted", false, "connect as the user whose daemon this is" },
	{ RPC_CONFLICT, "conflict", false, "look at what is there before trying again" },
	{ RPC_LIMIT_REACHED, "limit-reached", true,
	    "wait until something has ended, or ask for less" },
	{ RPC_DRAINING, "draining", true,
	    "the daemon takes no new work and will end: try again when it has been started again" },
	{ RPC_NO_SPACE, "no-space", true, "make room on the disk that holds the state directory" },
	{ RPC_UNAVAILABLE, "unavailable", true, "look into the daemon's log" },
	{ RPC_BUSY, "busy", true, "try again in a moment" },
	{ RPC_PARSE_ERROR, "parse-error", false,
	    "send one JSON document a line, or Content-Length frames" },
	{ RPC_INVALID_REQUEST, "invalid-request", false,
	    "send {\"jsonrpc\": \"2.0\", \"method\": ..., \"params\": ..., \"id\": ...}" },
	{ RPC_METHOD_NOT_FOUND, "method-not-found", false, "rpc.discover lists the methods" },
	{ RPC_INVALID_PARAMS, "invalid-params", false,
	    "rpc.discover, and rlctl help for its commands, describe the parameters" },
	{ RPC_INTERNAL, "internal", false,
	    "look into the daemon's log and report what stands there" },
	{ RPC_OK, NULL, false, NULL },
};

const struct rpc_error_row *rpc_error_find(int code)
{
	for (const struct rpc_error_row *row = rpc_errors; row->kind != NULL; row++) {
		if (row->code == code)
			return row;
	}
	return NULL;
}
