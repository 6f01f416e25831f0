/* SPDX-License-Identifier: MIT */
/* What the end of a run means to who waits for it: the exit status of rlctl run, and the outcome in a report. */
#ifndef PROTO_RUN_CLASS_H
#define PROTO_RUN_CLASS_H

#include <stdbool.h>

struct run_class {
	const char *state;
	const char *cause;	/* what the cause begins with */
	int code;
	const char *outcome;	/* "success", "exhausted", "error", "cancelled", "held" */
};

/* cause: NULL or "" for none. NULL: the run goes on. */
const struct run_class *run_class_of(const char *state, const char *cause);

/* The cause of a slot or run, "NO_GO unresolved after 2 fix attempt(s)": its review found something to the last round. */
bool cause_is_exhausted(const char *cause);

#endif
