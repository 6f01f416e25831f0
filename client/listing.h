/* SPDX-License-Identifier: MIT */
/* Commands that call a method and print what it returns as a table. */
#ifndef CLIENT_LISTING_H
#define CLIENT_LISTING_H

#include <jansson.h>

#include "client/client.h"
#include "client/table.h"

struct listing {
	const char *method;
	const char *rows;			/* the member of the result that is
						 * the array of rows */
	const struct table_column *columns;
	size_t count;				/* of columns */
	const char *none;			/* said on stderr when there are no
						 * rows; NULL: nothing */
	const char *older;			/* the command whose --before shows the next page;
						 * NULL: there are no pages */
};

/* params is consumed. The exit code. */
int listing_run(struct client *c, const struct listing *listing, json_t *params);

#endif
