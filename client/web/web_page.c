/* SPDX-License-Identifier: MIT */
#include "client/web/web_page.h"

#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/page/pieces.h"
#include "client/web/web_text.h"
#include "proto/clock.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/units.h"

/* The links of the bar. */
static const struct {
	const char *path, *title;
} places[] = { { "/", "Runs" }, { "/holds", "Decisions" } };

static void page_top(struct html *h, const struct page_frame *frame)
{
	const struct web_page *p = frame->arg;

	html_open_class(h, "nav", "bar");
	html_attr(h, "aria-label", "Pages");
	for (size_t i = 0; i < ARRAY_SIZE(places) && p->request->session != NULL; i++) {
		page_link(h, p->request, "%s", places[i].path);
		html_attr(h, "aria-current", strcmp(places[i].path, p->at) == 0 ? "page" : NULL);
		html_text(h, places[i].title);
		html_close(h);
	}
	html_open(h, "span");
	html_attr(h, "id", "live");
	html_attr(h, "role", "status");
	html_close(h);
	html_close(h);
}

void page_init(struct web_page *p, const struct request *r, const char *at, int64_t run)
{
	char now[32];

	*p = (struct web_page){ .request = r, .at = at };
	time_format(clock_wall(), now, sizeof(now));
	p->now = json_pack("{s:s}", "now", now);
	p->frame = (struct page_frame){ .style = web_style, .top = page_top, .arg = p };
	if (r->session == NULL)
		return;
	p->stream = run == FIELD_NONE ? xasprintf("%s/events?since=%lld", r->address, (long long)r->link->seq) :
	    xasprintf("%s/events?since=%lld&run=%lld", r->address, (long long)r->link->seq, (long long)run);
	p->script = xasprintf("%s/live.js", r->address);
	p->frame.stream = p->stream;
	p->frame.script = p->script;
}

void page_release(struct web_page *p)
{
	free(p->stream);
	free(p->script);
	json_decref(p->now);
}

struct reply page_reply(unsigned status, char *body, size_t size)
{
	return (struct reply){ .status = status, .type = "text/html; charset=utf-8", .body = body, .size = size };
}

struct reply page_notice(const struct request *r, unsigned status, const char *title, const char *message,
    const char *hint)
{
	struct web_page p;
	struct html *h;
	size_t size;
	char *body;

	page_init(&p, r, "", FIELD_NONE);
	h = frame_begin(&p.frame, title);
	html_open(h, "header");
	html_leaf(h, "h1", NULL, title);
	html_leaf(h, "p", "verdict", message);
	if (*hint != '\0')
		html_leaf(h, "p", NULL, hint);
	html_close(h);
	body = frame_end(h, p.now, "rlctl web", &size);
	page_release(&p);
	return page_reply(status, body, size);
}

unsigned page_status(const struct call_error *error)
{
	static const struct {
		int code;
		unsigned status;
	} rows[] = {
		{ 0, 503 }, { RPC_NOT_FOUND, 404 }, { RPC_WRONG_STATE, 409 }, { RPC_NOT_PERMITTED, 403 },
		{ RPC_INVALID_PARAMS, 422 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].code == error->code)
			return rows[i].status;
	return error->retryable ? 503 : 500;
}

/* As a sentence of its own. The caller frees. */
static char *page_sentence(const char *text)
{
	char *sentence = xstrdup(text);

	if (*sentence >= 'a' && *sentence <= 'z')
		*sentence = (char)(*sentence - 'a' + 'A');
	return sentence;
}

struct reply page_refused(const struct request *r, const struct call_error *error)
{
	char *message = page_sentence(error->message), *hint = page_sentence(error->hint);
	struct reply reply = page_notice(r, page_status(error), error->code == 0 ? "The daemon is gone" :
	    error->code == RPC_NOT_FOUND ? "Not found" : "Refused", message, hint);

	free(message);
	free(hint);
	return reply;
}

struct reply page_enter(const struct request *r)
{
	struct reply reply;
	struct web_page p;
	struct html *h;
	size_t size;
	char *body;

	page_init(&p, r, "", FIELD_NONE);
	h = frame_begin(&p.frame, "rlctl web");
	html_open(h, "header");
	html_leaf(h, "h1", NULL, "This browser has access now");
	html_open(h, "p");
	page_link(h, r, "/");
	html_text(h, "Continue to the runs");
	html_close(h);
	html_close(h);
	html_close(h);
	body = frame_end(h, p.now, "rlctl web", &size);
	page_release(&p);
	reply = page_reply(200, body, size);
	reply.location = xasprintf("%s/", r->address);
	return reply;
}

void page_link(struct html *h, const struct request *r, const char *fmt, ...)
{
	va_list ap;
	char *path;

	va_start(ap, fmt);
	path = xvasprintf(fmt, ap);
	va_end(ap);
	html_open(h, "a");
	html_attrf(h, "href", "%s%s", r->address, path);
	free(path);
}
