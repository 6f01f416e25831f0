/* SPDX-License-Identifier: MIT */
/* Open holds. */
#ifndef CLIENT_HOLD_COMMAND_H
#define CLIENT_HOLD_COMMAND_H

#include <jansson.h>

struct client;

/* Print one line per hold of the array to stderr: where to look. */
void hold_print_open(const struct client *c, const json_t *holds);

#endif
