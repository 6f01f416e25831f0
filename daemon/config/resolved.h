/* SPDX-License-Identifier: MIT */
/* The plans that were resolved last: most submits are like an earlier one but for their task.
 * Private to this room. */
#ifndef CONFIG_RESOLVED_H
#define CONFIG_RESOLVED_H

#include "config/config.h"
#include "config/layers.h"

struct resolved;

struct resolved *resolved_new(void);
void resolved_free(struct resolved *resolved);

/* All that a plan depends on beside the config, as bytes: the project's values and those of the
 * submit, with what their errors would name. */
struct resolved_key {
	char *data;
	size_t size;
};

struct resolved_key resolved_key(const struct project *project, const struct config_override *overrides, size_t count);
void resolved_key_release(struct resolved_key *key);

/* Fill *plan with a copy. False: it was not resolved lately. */
bool resolved_find(const struct resolved *resolved, const struct resolved_key *key, struct plan *plan);
/* Keep a copy, unless the plan names a file that must be looked at for each submit. */
void resolved_keep(struct resolved *resolved, struct resolved_key *key, const struct plan *plan);

#endif
