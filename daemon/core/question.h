/* SPDX-License-Identifier: MIT */
/* A question of an agent to a human: the last paragraph of its final text begins with
 * "QUESTION:". Pure. */
#ifndef CORE_QUESTION_H
#define CORE_QUESTION_H

#include <stddef.h>

#define QUESTION_MARK "QUESTION:"

/* What follows the mark in that paragraph, malloc'd; NULL: there is no question. A paragraph in a
 * Markdown fence or a quotation is none of the agent's own. */
char *question_of(const char *text, size_t size);

#endif
