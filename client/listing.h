/* SPDX-License-Identifier: MIT */
/* Commands that call a method and print its result as a table. */
#ifndef CLIENT_LISTING_H
#define CLIENT_LISTING_H

#include <jansson.h>

#include "client/client.h"
#include "client/table.h"

struct listing {
	const char *method;
	const char *rows;			/* member of the result with the array of rows */
	const struct table_column *columns;
	size_t count;				/* of columns */
	const char *none;			/* message if there are no rows; NULL: none */
	/* option that shows the next page; NULL: no pages */
	const char *older;
	void (*no_rows)(struct client *c);	/* called if there are none; NULL: nothing */
};

/* Takes ownership of params. Returns the exit code. */
int listing_run(struct client *c, const struct listing *listing, json_t *params);

#endif
