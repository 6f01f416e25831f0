/* SPDX-License-Identifier: MIT */
#include "client/page/page_frame.h"

#include <time.h>

#include "client/page/pieces.h"
#include "client/page/style.h"

static void frame_meta(struct html *h, const char *name, const char *content)
{
	html_open(h, "meta");
	html_attr(h, "name", name);
	html_attr(h, "content", content);
	html_close(h);
}

static void frame_head(struct html *h, const struct page_frame *frame, const char *title)
{
	html_open(h, "head");
	html_open(h, "meta");
	html_attr(h, "charset", "utf-8");
	html_close(h);
	if (frame->policy != NULL) {
		html_open(h, "meta");
		html_attr(h, "http-equiv", "Content-Security-Policy");
		html_attr(h, "content", frame->policy);
		html_close(h);
		frame_meta(h, "referrer", "no-referrer");
	}
	frame_meta(h, "viewport", "width=device-width, initial-scale=1");
	frame_meta(h, "color-scheme", "light dark");
	html_leaf(h, "title", NULL, title);
	html_style(h, page_style);
	if (frame->style != NULL)
		html_style(h, frame->style);
	if (frame->script != NULL) {
		html_open(h, "script");
		html_attr(h, "src", frame->script);
		html_attr(h, "defer", "");
		html_close(h);
	}
	html_close(h);
}

struct html *frame_begin(const struct page_frame *frame, const char *title)
{
	struct html *h = html_new();

	html_open(h, "html");
	html_attr(h, "lang", "en");
	frame_head(h, frame, title);
	html_open(h, "body");
	html_attr(h, "data-stream", frame->stream);
	if (frame->top != NULL)
		frame->top(h, frame);
	html_open(h, "main");
	return h;
}

char *frame_end(struct html *h, const json_t *d, const char *command, size_t *size)
{
	time_t seconds = (time_t)(piece_now(d) / 1000);
	char zone[32] = "";
	struct tm tm;

	html_close(h);
	if (localtime_r(&seconds, &tm) != NULL)
		strftime(zone, sizeof(zone), "%Z", &tm);
	html_open(h, "footer");
	html_open(h, "p");
	html_text(h, "As of ");
	piece_time(h, d, "now");
	html_textf(h, " (%s), by ", zone);
	html_leaf(h, "code", NULL, command);
	html_text(h, ", version " RLD_VERSION ".");
	html_close(h);
	html_close(h);
	return html_take(h, size);
}
