/* SPDX-License-Identifier: MIT */
/* Variables as sent by clients. */
#ifndef RPC_ENVIRONMENT_H
#define RPC_ENVIRONMENT_H

#include <jansson.h>

#define ENVIRONMENT_MAX 4096	/* number of variables */

/* An array of "K=V" or an object, checked as SCHEMA_PAIRS, as a NULL-terminated list; NULL for
 * NULL. Free with strings_free(). */
char **environment_strings(const json_t *pairs);

#endif
