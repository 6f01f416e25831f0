/* SPDX-License-Identifier: MIT */
/* Events of a run as lines for a person who watches. */
#ifndef CLIENT_LIVE_H
#define CLIENT_LIVE_H

#include <jansson.h>
#include <stdbool.h>

#include "client/print.h"

struct live;

/* print must live as long. commit: what passes is committed, as far as is known. */
struct live *live_new(const struct print *print, bool commit);
void live_free(struct live *live);

/* Print what an event is worth; params of the notification. */
void live_event(struct live *live, const json_t *event);

#endif
