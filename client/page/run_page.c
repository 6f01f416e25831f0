/* SPDX-License-Identifier: MIT */
#include "client/page/run_page.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "client/field.h"
#include "client/page/html.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "client/page/style.h"
#include "client/page/timeline.h"
#include "client/task_summary.h"
#include "proto/memory.h"

/* Nothing is loaded, and no script runs, whatever is in the page. */
#define POLICY "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

/* Sections in their order, and the links to them; in a run without such content there is no
 * link. */
static const struct {
	const char *id, *title;
	void (*view)(struct html *h, const json_t *d);
	const char *rows;	/* it is there if this list of d, or of its run, has any */
} sections[] = {
	{ "issues", "Known issues", section_known_issues, "known_issues" },
	{ "warnings", "Warnings", section_warnings, "warnings" },
	{ "tasks", "Tasks", section_tasks, NULL },
	{ "timeline", "Timeline", timeline_view, "attempts" },
	{ "rounds", "Rounds", section_rounds, "attempts" },
	{ "holds", "Holds", section_holds, "holds" },
	{ "evidence", "Evidence", section_evidence, "evidence" },
	{ "cost", "Cost", section_cost, "attempts" },
};

static bool page_has(const json_t *d, size_t section)
{
	const json_t *run = json_object_get(d, "run");
	const char *rows = sections[section].rows;

	return rows == NULL ? tasks_are_many(run) :
	    json_array_size(field_array(d, rows)) + (json_is_array(json_object_get(d, rows)) ? 0 :
	    json_array_size(field_array(run, rows))) > 0;
}

static void page_head(struct html *h, const json_t *run)
{
	html_open(h, "head");
	html_open(h, "meta");
	html_attr(h, "charset", "utf-8");
	html_close(h);
	html_open(h, "meta");
	html_attr(h, "http-equiv", "Content-Security-Policy");
	html_attr(h, "content", POLICY);
	html_close(h);
	html_open(h, "meta");
	html_attr(h, "name", "viewport");
	html_attr(h, "content", "width=device-width, initial-scale=1");
	html_close(h);
	html_open(h, "meta");
	html_attr(h, "name", "color-scheme");
	html_attr(h, "content", "light dark");
	html_close(h);
	html_open(h, "meta");
	html_attr(h, "name", "referrer");
	html_attr(h, "content", "no-referrer");
	html_close(h);
	html_open(h, "title");
	html_textf(h, "Run %lld %s: ", field_count(run, "id"), field_text(run, "state"));
	piece_clip(h, field_text(run, "title"), 80);
	html_close(h);
	html_style(h, page_style);
	html_close(h);
}

static void page_contents(struct html *h, const json_t *d)
{
	html_open_class(h, "nav", "contents");
	html_attr(h, "aria-label", "On this page");
	html_open(h, "ul");
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!page_has(d, i))
			continue;
		html_open(h, "li");
		html_open(h, "a");
		html_attrf(h, "href", "#%s", sections[i].id);
		html_text(h, sections[i].title);
		html_close(h);
		html_close(h);
	}
	html_close(h);
	html_close(h);
}

static void page_footer(struct html *h, const json_t *d)
{
	time_t seconds = (time_t)(piece_now(d) / 1000);
	char zone[32] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm) != NULL)
		strftime(zone, sizeof(zone), "%Z", &tm);
	html_open(h, "footer");
	html_open(h, "p");
	html_text(h, "As of ");
	piece_time(h, d, "now");
	html_textf(h, " (%s), by ", zone);
	html_leaff(h, "code", NULL, "rlctl report %lld --format html",
	    field_count(json_object_get(d, "run"), "id"));
	html_text(h, ", version " RLD_VERSION ".");
	html_close(h);
	html_close(h);
}

char *run_page(const json_t *d, size_t *size)
{
	struct html *h = html_new();

	html_open(h, "html");
	html_attr(h, "lang", "en");
	page_head(h, json_object_get(d, "run"));
	html_open(h, "body");
	html_open(h, "main");
	section_summary(h, d);
	page_contents(h, d);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		sections[i].view(h, d);
	html_close(h);
	page_footer(h, d);
	return html_take(h, size);
}
