/* SPDX-License-Identifier: MIT */
/* rlctl watch without a screen: a line per event. */
#ifndef CLIENT_WATCH_LINES_H
#define CLIENT_WATCH_LINES_H

#include <stdint.h>

struct client;

/* Runs until the run has ended; for all runs (FIELD_NONE): until interrupted. Returns the exit
 * code. */
int watch_lines(struct client *c, int64_t run);

#endif
