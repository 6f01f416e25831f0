/* SPDX-License-Identifier: MIT */
/* What surrounds the content of a page: it is in a file, or comes from a server. */
#ifndef CLIENT_PAGE_PAGE_FRAME_H
#define CLIENT_PAGE_PAGE_FRAME_H

#include <jansson.h>
#include <stddef.h>

#include "client/page/html.h"

struct page_frame {
	const char *policy;	/* Content-Security-Policy in the page; NULL: sent beside it */
	const char *style;	/* rules beside those of every page; NULL: none */
	const char *script;	/* address; NULL: none */
	const char *stream;	/* address of events about what the page shows; NULL: none */
	/* what stands above the content; NULL: nothing */
	void (*top)(struct html *h, const struct page_frame *frame);
	/* what decides an open hold; NULL: the commands that do */
	void (*decide)(struct html *h, const json_t *hold, const struct page_frame *frame);
	const void *arg;	/* for these two */
};

/* Begin a page, up to its content. */
struct html *frame_begin(const struct page_frame *frame, const char *title);

/* End it. d has the time in its member now; command made the page. Frees h; the caller frees the
 * result. */
char *frame_end(struct html *h, const json_t *d, const char *command, size_t *size);

#endif
