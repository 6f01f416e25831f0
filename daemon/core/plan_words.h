/* SPDX-License-Identifier: MIT */
/* Lists of words in a plan, from the JSON of settings. */
#ifndef CORE_PLAN_WORDS_H
#define CORE_PLAN_WORDS_H

#include <jansson.h>
#include <stdbool.h>

/* New list for a plan: the words of an array, file and section of its tables, "K=V" of an
 * object. */
char **plan_words(const json_t *json);

/* Whether the list equals that of a JSON text. */
bool plan_words_are(char *const *words, const char *json);

#endif
