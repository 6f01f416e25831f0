/* SPDX-License-Identifier: MIT */
/* The types of events and their members. */
#ifndef RPC_EVENT_TYPES_H
#define RPC_EVENT_TYPES_H

#include "rpc/result.h"

struct event_type {
	const char *name;
	const char *help;
	/* beside seq, time, type and run; ends with name NULL */
	const struct result_field *fields;
};

/* Ends with name NULL. */
extern const struct event_type event_types[];
extern const struct state_names event_type_names;

/* The notifications of a subscription, for the OpenRPC document: event and gap. */
json_t *event_notifications(void);

#endif
