/* SPDX-License-Identifier: MIT */
/* Reviews as text. */
#ifndef CLIENT_REVIEW_COMMAND_H
#define CLIENT_REVIEW_COMMAND_H

#include <jansson.h>

#include "client/print.h"

/* Print all of one review. */
void review_print(const struct print *p, const json_t *review);

/* Print one line per review. */
void review_print_table(const struct print *p, const json_t *reviews);

#endif
