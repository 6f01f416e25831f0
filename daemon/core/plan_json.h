/* SPDX-License-Identifier: MIT */
/* A plan as JSON, as the row of a run or task keeps it. */
#ifndef CORE_PLAN_JSON_H
#define CORE_PLAN_JSON_H

#include <jansson.h>
#include <stdbool.h>

struct plan;

/* The lists of files that reviews go by when no setting names any: JSON, as a setting has them. */
#define GUIDELINES_DEFAULT "[{\"file\":\"constitution.md\",\"section\":\"Standards\"}]"
#define CONVENTIONS_DEFAULT "[\"CLAUDE.md\",\"AGENTS.md\"]"

/* New string. */
char *plan_to_json(const struct plan *plan);

/* 0, then plan_release() frees what was filled in; -1: a damaged row, and nothing is filled in.
 * What a plan of an older version does not have is as its profile says, or nothing. */
int plan_from_json(const char *json, struct plan *plan);

/* New list of a plan: the words of an array, file and section of its tables, "K=V" of an object. */
char **plan_words(const json_t *json);

/* Whether such a list is the one of a JSON text. */
bool plan_words_are(char *const *words, const char *json);

#endif
