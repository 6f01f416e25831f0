/* SPDX-License-Identifier: MIT */
/* What a run may spend, in words. */
#ifndef CLIENT_BUDGET_TEXT_H
#define CLIENT_BUDGET_TEXT_H

#include <jansson.h>

/* Of the member "budget" of a run: "$1.20 of $5.00, $0.25 set aside; 12.3k of 1.0M tokens"; "" when
 * there is no limit. The caller frees. */
char *budget_line(const json_t *budget);

/* Of an event of type "budget": "$4.10 of $5.00". The caller frees. */
char *budget_told(const json_t *event);

#endif
