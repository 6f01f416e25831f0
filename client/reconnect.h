/* SPDX-License-Identifier: MIT */
/* Return to a daemon that disappeared: one that is restarted or upgraded is back in a moment. */
#ifndef CLIENT_RECONNECT_H
#define CLIENT_RECONNECT_H

#include <stdbool.h>
#include <stdint.h>

#define RECONNECTS_MAX 5	/* in a row without an event, for callers that count */

struct client;

enum reconnect_result { RECONNECT_BACK, RECONNECT_GONE, RECONNECT_INTERRUPTED };

/* Close the connection, wait ten seconds at most for a daemon with the same database at the same
 * socket, and follow the events of a run (FIELD_NONE: of all) after since again; since FIELD_NONE:
 * follow none. interrupts: a signalfd that ends the wait, -1: none. Unless it is back, there is no
 * connection. */
enum reconnect_result reconnect_events(struct client *c, int64_t run, int64_t since, int interrupts);

/* The same with a note the first time, and at most RECONNECTS_MAX times in a row: *returns counts
 * them. Returns whether the daemon is back. */
bool reconnect_told(struct client *c, int64_t run, int64_t since, int *returns);

#endif
