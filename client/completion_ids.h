/* SPDX-License-Identifier: MIT */
/* What the daemon knows by a name or a number, for completion. Nothing without a daemon. */
#ifndef CLIENT_COMPLETION_IDS_H
#define CLIENT_COMPLETION_IDS_H

#include <jansson.h>

struct client;

/* Called for each word; what: what it means, "" if unknown. */
typedef void completion_found(void *arg, const char *word, const char *what);

/* kind: "RUN", "RUN/ATTEMPT", "RUN/TASK", "HOLD", "GROUP", "ACCOUNT", "SALVAGE", "METHOD" or
 * "AGENT"; others are ignored. prefix: the word so far; after "42/" the attempts or tasks of run 42
 * are found. */
void completion_ids(struct client *c, const char *kind, const char *prefix, completion_found *found, void *arg);

#endif
