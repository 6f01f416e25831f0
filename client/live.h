/* SPDX-License-Identifier: MIT */
/* Events of a run as lines for people. */
#ifndef CLIENT_LIVE_H
#define CLIENT_LIVE_H

#include <jansson.h>

#include "client/print.h"

struct live;

/* print must outlive it. run: as in run.get, for what events do not contain: the number of
 * iterations, whether passed work is committed, whether lines must name slot and task; NULL:
 * unknown. before: prefix of each line. */
struct live *live_new(const struct print *print, const json_t *run, const char *before);
void live_free(struct live *live);

/* Print what an event means; params of the notification. */
void live_event(struct live *live, const json_t *event);

#endif
