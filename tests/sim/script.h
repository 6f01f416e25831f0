/* SPDX-License-Identifier: MIT */
/* Which steps of a history are played. Each step that is kept makes the choices that it makes in
 * the whole history, so that one can be left out and the others stay what they are. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

struct script {
	uint64_t *states;	/* of the random numbers, before each step and before the rest */
	bool *kept;
	int steps;
	bool recorded;		/* states are known */
	int *reached;		/* steps begun, when it was recorded */
};

/* All steps; shared with children. */
struct script *script_new(int steps);

/* "1-20,45": keep those, from 1 on. false: it is no such list. */
bool script_keep_only(struct script *script, const char *list);
/* The same list of those that are kept, malloc'd. */
char *script_list(const struct script *script);

/* Before step i, or i = steps before the rest: false: it is left out. */
bool script_at(struct script *script, int i, uint64_t *random);

/* Leave out all that can be left out so that diverges() says true still. */
void script_shrink(struct script *script, bool (*diverges)(struct script *script, void *arg), void *arg);

#endif
