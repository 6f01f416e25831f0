/* SPDX-License-Identifier: MIT */
/* What the end of a run means to who waits for it: the exit status of rlctl run, and the
 * outcome in a report. */
#ifndef PROTO_RUN_CLASS_H
#define PROTO_RUN_CLASS_H

#include "proto/kinds.h"

struct run_class {
	int code;
	const char *outcome;	/* "success", "exhausted", "error", "cancelled", "held" */
};

/* NULL: the run goes on. */
const struct run_class *run_class_of(const char *state, enum end_kind end);

#endif
