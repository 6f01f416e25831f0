/* SPDX-License-Identifier: MIT */
/* Error codes of the protocol: one table for daemon, client and docs. */
#ifndef PROTO_ERROR_H
#define PROTO_ERROR_H

#include <stdbool.h>

enum rpc_code {
	RPC_OK = 0,
	RPC_NOT_FOUND = 1,
	RPC_WRONG_STATE = 2,
	RPC_NOT_PERMITTED = 3,
	RPC_CONFLICT = 4,
	RPC_LIMIT_REACHED = 5,
	RPC_DRAINING = 6,
	RPC_NO_SPACE = 7,
	RPC_UNAVAILABLE = 8,
	RPC_BUSY = 9,
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_CANCELLED = -32800
};

struct rpc_error_row {
	int code;
	const char *kind;	/* data.kind: "not-found" */
	bool retryable;
	const char *help;	/* for docs, and the default hint */
};

extern const struct rpc_error_row rpc_errors[];	/* ends with kind NULL */
const struct rpc_error_row *rpc_error_find(int code);

#endif
