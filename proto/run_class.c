/* SPDX-License-Identifier: MIT */
#include "proto/run_class.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *state;
	struct run_class class;
} states[] = {
	{ "succeeded", { 0, "success" } },
	{ "cancelled", { 11, "cancelled" } },
	{ "held", { 13, "held" } },
	{ "failed", { 10, "error" } },
};

/* For failed runs; code 0: the general one. */
static const struct run_class failed[ENDS] = {
	[END_LIMIT] = { 14, "exhausted" },
	[END_LOST] = { 12, "error" },
	[END_EXHAUSTED] = { 10, "exhausted" },
	[END_STALLED] = { 10, "exhausted" },
	[END_CHECK] = { 10, "exhausted" },
};

const struct run_class *run_class_of(const char *state, enum end_kind end)
{
	if (strcmp(state, "failed") == 0 && failed[end].code != 0)
		return &failed[end];
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
		if (strcmp(states[i].state, state) == 0)
			return &states[i].class;
	}
	return NULL;
}
