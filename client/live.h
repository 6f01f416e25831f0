/* SPDX-License-Identifier: MIT */
/* Events of a run as lines for a person who watches. */
#ifndef CLIENT_LIVE_H
#define CLIENT_LIVE_H

#include <jansson.h>

#include "client/print.h"

struct live;

/* print must live as long. run: as in run.get, for what no event says: how many iterations there
 * may be, whether a pass is committed, whether lines must name slot and task since there are
 * several; NULL: not known. before: stands in front of each line. */
struct live *live_new(const struct print *print, const json_t *run, const char *before);
void live_free(struct live *live);

/* Print what an event is worth; params of the notification. */
void live_event(struct live *live, const json_t *event);

#endif
