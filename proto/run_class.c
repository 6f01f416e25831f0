/* SPDX-License-Identifier: MIT */
#include "proto/run_class.h"

#include <stddef.h>
#include <string.h>

/* First match wins. */
static const struct run_class classes[] = {
	{ "succeeded", "", 0, "success" },
	{ "cancelled", "", 11, "cancelled" },
	{ "held", "", 13, "held" },
	{ "failed", "limit: ", 14, "exhausted" },
	{ "failed", "lost", 12, "error" },
	{ "failed", "stalled: ", 10, "exhausted" },
	{ "failed", "check `", 10, "exhausted" },
	{ "failed", "", 10, "error" },
};
static const struct run_class exhausted = { "failed", "", 10, "exhausted" };

const struct run_class *run_class_of(const char *state, const char *cause)
{
	if (cause == NULL)
		cause = "";
	if (strcmp(state, "failed") == 0 && cause_is_exhausted(cause))
		return &exhausted;
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
		if (strcmp(classes[i].state, state) == 0 &&
		    strncmp(classes[i].cause, cause, strlen(classes[i].cause)) == 0)
			return &classes[i];
	}
	return NULL;
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool cause_is_exhausted(const char *cause)
{
	/* the first word is the profile's: drift, NO_GO, must-fix */
	const char *behind = cause + strcspn(cause, " ");

	return begins(behind, " unresolved after ") || begins(cause, "Review failed after ") ||
	    begins(cause, "max review rounds ");
}
