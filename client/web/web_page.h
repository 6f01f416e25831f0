/* SPDX-License-Identifier: MIT */
/* What all pages of the server have in common. */
#ifndef CLIENT_WEB_WEB_PAGE_H
#define CLIENT_WEB_WEB_PAGE_H

#include <stdbool.h>

#include "client/page/page_frame.h"
#include "client/web/web_request.h"
#include "proto/call.h"

/* A page with a bar of links above it. */
struct web_page {
	struct page_frame frame;
	const struct request *request;
	const char *at;		/* the page of the bar that it is: its path; "": none */
	char *stream;
	char *script;
	json_t *now;		/* {now: TIME} */
};

/* run FIELD_NONE: it shows all runs. The page must stay where it is until page_release(). */
void page_init(struct web_page *p, const struct request *r, const char *at, int64_t run);
void page_release(struct web_page *p);

/* Send what frame_end() has returned. Takes ownership of body. */
struct reply page_reply(unsigned status, char *body, size_t size);

/* A page with one or two sentences. hint "": none. */
struct reply page_notice(const struct request *r, unsigned status, const char *title, const char *message,
    const char *hint);
/* The same about what the daemon refused, or that it is gone. */
struct reply page_refused(const struct request *r, const struct call_error *error);
/* A page that leads into the place. */
struct reply page_enter(const struct request *r);

/* The status of HTTP for an error of the daemon. */
unsigned page_status(const struct call_error *error);

/* Begin a link to a page of the server; to be closed by html_close(). */
void page_link(struct html *h, const struct request *r, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* For the member decide of a frame: the form of a hold behind a summary. */
void page_decide(struct html *h, const json_t *hold, const struct page_frame *frame);

/* What decides an open hold: a form. text: what its field begins with. */
void page_form(struct html *h, const struct request *r, const json_t *hold, const char *text);

/* A hold in a list: a link to its page, its kind and its reason. */
void page_hold(struct html *h, const struct request *r, const json_t *hold);

/* The kind of a hold as a title; the caller frees nothing. */
const char *page_hold_title(const json_t *hold);

#endif
