/* SPDX-License-Identifier: MIT */
#include "job/host_refusal.h"

#include <stdlib.h>

#include "proto/error.h"
#include "record/host_fault.h"

int host_refusal_code(int error, int code)
{
	switch (host_fault_class(error)) {
	case HOST_FAULT_NONE: return code;
	case HOST_FAULT_BUSY: return RPC_BUSY;
	case HOST_FAULT_SPACE: return RPC_NO_SPACE;
	case HOST_FAULT_BROKEN: return RPC_UNAVAILABLE;
	}
	abort();
}

const char *host_refusal_hint(int error, const char *hint)
{
	const char *retry = host_fault_retry(error);

	return retry != NULL ? retry : hint;
}
