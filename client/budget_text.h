/* SPDX-License-Identifier: MIT */
/* The budget of a run as text. */
#ifndef CLIENT_BUDGET_TEXT_H
#define CLIENT_BUDGET_TEXT_H

#include <jansson.h>

/* The member "budget" of a run: "$1.20 of $5.00, $0.25 reserved; 12.3k of 1.0M tokens"; "" without
 * a limit. The caller frees. */
char *budget_line(const json_t *budget);

/* An event of type "budget": "$4.10 of $5.00". The caller frees. */
char *budget_told(const json_t *event);

#endif
