/* SPDX-License-Identifier: MIT */
/* Variables as sent by clients. */
#ifndef RPC_ENVIRONMENT_H
#define RPC_ENVIRONMENT_H

#include <jansson.h>

#define ENVIRONMENT_MAX 4096	/* number of variables */

struct call;

/* Learn who the daemon's user is. May block: call it at the start. */
void environment_init(void);

/* The parameter environment of a call. From a caller who is another user than the daemon's, without
 * what is that user's own: agents run as the daemon's user, and get its home, name, shell and
 * PATH. */
char **environment_sent(struct call *call);

/* An array of "K=V" or an object, checked as SCHEMA_PAIRS, as a NULL-terminated list; NULL for
 * NULL. Free with strings_free(). */
char **environment_strings(const json_t *pairs);

#endif
