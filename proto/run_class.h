/* SPDX-License-Identifier: MIT */
/* The end of a run for programs that wait for it: exit status of rlctl run, and
 * outcome in a report. */
#ifndef PROTO_RUN_CLASS_H
#define PROTO_RUN_CLASS_H

#include "proto/kinds.h"

struct run_class {
	int code;
	const char *outcome;	/* "success", "exhausted", "error", "cancelled", "held" */
};

/* NULL: the run is unfinished. */
const struct run_class *run_class_of(const char *state, enum end_kind end);

#endif
