/* SPDX-License-Identifier: MIT */
/* What has happened since the start, counted from the events: for daemon.metrics. */
#ifndef RPC_COUNTERS_H
#define RPC_COUNTERS_H

#include <jansson.h>

#include "core/row.h"

/* Objects from the value of a label, or from two values with a blank between, to a number. */
struct counters {
	json_t *runs;			/* ended: by state */
	json_t *attempts;		/* ended: by role and outcome */
	json_t *reviews;		/* by decision */
	json_t *cost, *input, *output;	/* of ended attempts: by role */
	json_t *events;			/* by type */
};

void counters_init(struct counters *counters);
void counters_release(struct counters *counters);
void counters_add(struct counters *counters, const struct event_row *event);

#endif
