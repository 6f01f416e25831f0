/* SPDX-License-Identifier: MIT */
/* Reviews as people read them. */
#ifndef CLIENT_REVIEW_COMMAND_H
#define CLIENT_REVIEW_COMMAND_H

#include <jansson.h>

#include "client/print.h"

/* The whole of one. */
void review_print(const struct print *p, const json_t *review);

/* One line a review. */
void review_print_table(const struct print *p, const json_t *reviews);

#endif
