/* SPDX-License-Identifier: MIT */
/* A plan as JSON, as stored in the row of a run or task. */
#ifndef CORE_PLAN_JSON_H
#define CORE_PLAN_JSON_H

#include <jansson.h>
#include <stdbool.h>

struct plan;

/* Default files with review criteria: JSON, as in a setting. */
#define GUIDELINES_DEFAULT "[{\"file\":\"constitution.md\",\"section\":\"Standards\"}]"
#define CONVENTIONS_DEFAULT "[\"CLAUDE.md\",\"AGENTS.md\"]"

/* New string. */
char *plan_to_json(const struct plan *plan);
/* A deep copy; to is overwritten. */
void plan_copy(struct plan *to, const struct plan *from);

/* 0, and plan_release() frees the content; -1: a damaged row, nothing is filled in. Members missing
 * in older plans get the profile's value, or none. */
int plan_from_json(const char *json, struct plan *plan);

#endif
