/* SPDX-License-Identifier: MIT */
/* What waits for a human. */
#ifndef CLIENT_HOLD_COMMAND_H
#define CLIENT_HOLD_COMMAND_H

#include <jansson.h>

struct client;

/* On stderr, a line for each hold of the array: where to look. */
void hold_print_open(const struct client *c, const json_t *holds);

#endif
