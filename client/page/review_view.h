/* SPDX-License-Identifier: MIT */
/* A review as HTML: decision, votes, findings beside the lines they are about. */
#ifndef CLIENT_PAGE_REVIEW_VIEW_H
#define CLIENT_PAGE_REVIEW_VIEW_H

#include <jansson.h>

#include "client/page/diff_hunks.h"
#include "client/page/html.h"

struct review_context {
	const json_t *reviews;		/* of the run: findings that come again are shown once */
	const struct diff *diff;	/* the newest of the task */
	const char *tree;		/* that it leads to; "": unknown */
	const char *more;		/* the command that shows the whole review */
};

/* The reviews of a round. */
void review_view(struct html *h, const json_t *reviews, const struct review_context *context);

#endif
