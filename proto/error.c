/* SPDX-License-Identifier: MIT */
#include "proto/error.h"

#include <stddef.h>

const struct rpc_error_row rpc_errors[] = {
	{ RPC_NOT_FOUND, "not-found", false, "see `rlctl list`" },
	{ RPC_WRONG_STATE, "wrong-state", false, "see `rlctl show` for its state" },
	{ RPC_NOT_PERMITTED, "not-permitted", false,
	    "ask an administrator of the daemon for a role ([access] in rld.toml), or start your own" },
	{ RPC_CONFLICT, "conflict", false, "see what exists before trying again" },
	{ RPC_LIMIT_REACHED, "limit-reached", true,
	    "wait until something has ended, or request less" },
	{ RPC_DRAINING, "draining", true,
	    "the daemon accepts no new work and will exit: try again when it has been started again" },
	{ RPC_NO_SPACE, "no-space", true, "free space on the disk of the state directory" },
	{ RPC_UNAVAILABLE, "unavailable", true, "see the daemon's log" },
	{ RPC_BUSY, "busy", true, "try again in a moment" },
	{ RPC_PARSE_ERROR, "parse-error", false,
	    "send one JSON document per line, or Content-Length frames" },
	{ RPC_INVALID_REQUEST, "invalid-request", false,
	    "send {\"jsonrpc\": \"2.0\", \"method\": ..., \"params\": ..., \"id\": ...}" },
	{ RPC_METHOD_NOT_FOUND, "method-not-found", false, "\"rlctl rpc rpc.discover\" lists the methods" },
	{ RPC_INVALID_PARAMS, "invalid-params", false,
	    "\"rlctl rpc rpc.discover\" lists the parameters, \"rlctl help\" the commands" },
	{ RPC_INTERNAL, "internal", false,
	    "report the messages in the daemon's log as a bug" },
	{ RPC_CANCELLED, "call-cancelled", false, "the client sent $/cancelRequest for this call" },
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
