/* SPDX-License-Identifier: MIT */
/* Open holds. */
#ifndef CLIENT_HOLD_COMMAND_H
#define CLIENT_HOLD_COMMAND_H

#include <jansson.h>
#include <stdbool.h>

struct client;

/* Print one line per hold of the array to stderr: where to look. */
void hold_print_open(const struct client *c, const json_t *holds);

/* Whether rework of a hold of this kind needs no instructions. */
bool hold_is_silent(const char *kind);

#endif
