/* SPDX-License-Identifier: MIT */
/* What was refused lately, so that each refusal is recorded once, however often it is tried. */
#ifndef RPC_REFUSALS_H
#define RPC_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REFUSALS_KEPT 256

struct refusals {
	struct {
		bool agent;
		int64_t who;		/* an attempt, or a user */
		const char *method;	/* static; NULL: none */
	} list[REFUSALS_KEPT];
	size_t next;
};

/* Remember it. Returns whether it is the first of its kind. */
bool refusals_of_agent(struct refusals *refusals, int64_t attempt, const char *method);
bool refusals_of_user(struct refusals *refusals, uid_t uid, const char *method);

#endif
