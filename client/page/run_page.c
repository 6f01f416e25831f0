/* SPDX-License-Identifier: MIT */
#include "client/page/run_page.h"

#include <stdbool.h>
#include <stdlib.h>

#include "client/field.h"
#include "client/page/html.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "client/page/timeline.h"
#include "client/print.h"
#include "client/task_summary.h"
#include "proto/memory.h"

/* Nothing is loaded, and no script runs, whatever is in the page. */
const struct page_frame run_page_file = {
	.policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
};

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

char *run_page(const json_t *d, const struct page_frame *frame, size_t *size)
{
	const json_t *run = json_object_get(d, "run");
	long long id = field_count(run, "id");
	char *about = piece_title_text(run), *what = print_clip(about, 80),
	     *title = xasprintf("Run %lld %s: %s", id, field_text(run, "state"), what),
	     *command = frame->stream != NULL ? xstrdup("rlctl web") :
	         xasprintf("rlctl report %lld --format html", id), *page;
	struct html *h = frame_begin(frame, title);

	section_summary(h, d, frame);
	page_contents(h, d);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		sections[i].view(h, d);
	page = frame_end(h, d, command, size);
	free(about);
	free(what);
	free(title);
	free(command);
	return page;
}
