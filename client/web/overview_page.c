/* SPDX-License-Identifier: MIT */
/* The runs, newest first, and what waits for a decision. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/cooldown_command.h"
#include "client/field.h"
#include "client/page/pieces.h"
#include "client/page/run_page.h"
#include "client/task_summary.h"
#include "client/web/form.h"
#include "client/web/web_page.h"
#include "proto/memory.h"

#define RUNS_ROWS 25
#define HOLDS_ROWS 5

/* What the overview is made of. */
struct overview {
	const struct request *r;
	json_t *status, *runs, *holds;
	const char *state, *text;	/* the filter; "": all */
};

/* Filters by state. */
static const struct {
	const char *state, *title;
} filters[] = {
	{ "", "All" }, { "running", "Running" }, { "queued", "Queued" }, { "held", "Held" }, { "paused", "Paused" },
	{ "succeeded", "Succeeded" }, { "failed", "Failed" }, { "cancelled", "Cancelled" },
};

static void overview_heading(struct html *h, const struct overview *o)
{
	const json_t *cooling = field_array(o->status, "cooling");

	html_open(h, "header");
	html_leaf(h, "h1", "unseen", "Runs");
	if (field_is(o->status, "state", "draining"))
		html_leaf(h, "p", "verdict warn", "The daemon takes no new runs and stops when nothing runs any more.");
	for (size_t i = 0; i < json_array_size(cooling); i++) {
		const json_t *account = json_array_get(cooling, i);
		char *text = cooldown_text(account);

		html_leaff(h, "p", "note", "Account %s is %s.", field_text(account, "account"), text);
		free(text);
	}
	html_close(h);
}

static void overview_holds(struct html *h, const struct overview *o)
{
	const json_t *holds = field_array(o->holds, "holds");

	html_open(h, "section");
	html_attr(h, "id", "waits");
	html_attr(h, "aria-label", "Decisions");
	if (json_array_size(holds) > 0) {
		html_leaf(h, "h2", NULL, "These need your decision");
		html_open_class(h, "ul", "rows");
		for (size_t i = 0; i < json_array_size(holds); i++)
			page_hold(h, o->r, json_array_get(holds, i));
		html_close(h);
	}
	if (field_int(o->holds, "next") != FIELD_NONE) {
		html_open_class(h, "p", "pager");
		page_link(h, o->r, "/holds");
		html_text(h, "All decisions");
		html_close(h);
		html_close(h);
	}
	html_close(h);
}

/* "/?state=held&text=a%20b": the address of a list. before 0: from its newest run on. */
static char *overview_path(const char *state, const char *text, long long before)
{
	struct buf path = { 0 };

	buf_adds(&path, "/");
	if (*state != '\0')
		buf_addf(&path, "?state=%s", state);
	if (*text != '\0') {
		char *safe = form_encode(text);

		buf_addf(&path, "%ctext=%s", path.size > 1 ? '&' : '?', safe);
		free(safe);
	}
	if (before > 0)
		buf_addf(&path, "%cbefore=%lld", path.size > 1 ? '&' : '?', before);
	return buf_take(&path, NULL);
}

static void overview_states(struct html *h, const struct overview *o)
{
	const json_t *counts = json_object_get(o->status, "runs");

	html_open(h, "nav");
	html_attr(h, "aria-label", "Runs by state");
	html_open_class(h, "ul", "states");
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		char *path = overview_path(filters[i].state, o->text, 0);

		html_open(h, "li");
		page_link(h, o->r, "%s", path);
		html_attr(h, "aria-current", strcmp(filters[i].state, o->state) == 0 ? "true" : NULL);
		html_text(h, filters[i].title);
		if (json_object_get(counts, filters[i].state) != NULL)
			html_leaff(h, "span", "count", " %lld", field_count(counts, filters[i].state));
		html_close(h);
		html_close(h);
		free(path);
	}
	html_close(h);
	html_close(h);
}

static void overview_search(struct html *h, const struct overview *o)
{
	html_open_class(h, "form", "search");
	html_attr(h, "role", "search");
	html_attrf(h, "action", "%s/", o->r->address);
	if (*o->state != '\0') {
		html_open(h, "input");
		html_attr(h, "type", "hidden");
		html_attr(h, "name", "state");
		html_attr(h, "value", o->state);
		html_close(h);
	}
	html_open(h, "label");
	html_attr(h, "for", "text");
	html_text(h, "Find");
	html_close(h);
	html_open(h, "input");
	html_attr(h, "type", "search");
	html_attr(h, "id", "text");
	html_attr(h, "name", "text");
	html_attr(h, "value", o->text);
	html_attr(h, "placeholder", "a word of the task");
	html_close(h);
	html_close(h);
}

static void overview_meta(struct html *h, const json_t *run)
{
	const json_t *overview = json_object_get(run, "overview");
	char *age = cell_age(run, "created_at"), *took = cell_took(run, NULL), *cost = cell_cost(overview, "cost_usd");
	const char *group = field_text(run, "group");

	html_open_class(h, "p", "by");
	html_textf(h, "Run %lld, %s ago", field_count(run, "id"), age);
	if (*took != '\0' && field_time(run, "ended_at") != FIELD_NONE)
		html_textf(h, ", took %s", took);
	if (*cost != '\0')
		html_textf(h, ", %s", cost);
	if (*group != '\0' && strcmp(group, "default") != 0)
		html_textf(h, ", group %s", group);
	html_text(h, ", ");
	html_leaf(h, "span", NULL, field_text(run, "workdir"));
	html_close(h);
	free(age);
	free(took);
	free(cost);
}

/* Why it is in its state; "" of what passed. The caller frees. */
static char *overview_why(const json_t *run)
{
	const json_t *overview = json_object_get(run, "overview");

	if (*field_text(overview, "why") != '\0')
		return cell_text(overview, "why");
	return *field_text(run, "cause") != '\0' ? cell_text(run, "cause") : cell_reason(run, NULL);
}

static void overview_run(struct html *h, const struct overview *o, const json_t *run)
{
	char *why = overview_why(run), *tasks = piece_tasks(run);

	html_open_class(h, "li", "row");
	html_open_class(h, "p", "row-head");
	piece_state(h, field_text(run, "state"));
	page_link(h, o->r, "/run/%lld", field_count(run, "id"));
	html_attr(h, "dir", "auto");
	piece_title(h, run, 160);
	html_close(h);
	html_close(h);
	if (tasks_are_many(run))
		html_leaff(h, "p", "row-tasks", "%s.", tasks);
	if (*why != '\0') {
		html_open_class(h, "p", "row-why");
		html_attr(h, "dir", "auto");
		piece_clip(h, why, 240);
		html_close(h);
	}
	overview_meta(h, run);
	html_close(h);
	free(why);
	free(tasks);
}

static void overview_runs(struct html *h, const struct overview *o)
{
	const json_t *runs = field_array(o->runs, "runs");
	bool all = *o->state == '\0' && *o->text == '\0' && *field_text(o->r->query, "before") == '\0';
	char *older = overview_path(o->state, o->text, field_count(o->runs, "next"));

	html_open(h, "section");
	html_attr(h, "id", "runs");
	html_attr(h, "aria-label", "Runs");
	if (json_array_size(runs) == 0)
		html_leaf(h, "p", NULL, all ? "No runs yet. \"rlctl submit\" makes one." : "No such runs.");
	html_open_class(h, "ul", "rows");
	for (size_t i = 0; i < json_array_size(runs); i++)
		overview_run(h, o, json_array_get(runs, i));
	html_close(h);
	if (field_int(o->runs, "next") != FIELD_NONE) {
		html_open_class(h, "p", "pager");
		page_link(h, o->r, "%s", older);
		html_text(h, "Older runs");
		html_close(h);
		html_close(h);
	}
	html_close(h);
	free(older);
}

static struct reply overview_page(const struct overview *o, struct web_page *p)
{
	struct html *h = frame_begin(&p->frame, "Runs");
	size_t size;
	char *body;

	overview_heading(h, o);
	overview_holds(h, o);
	html_open_class(h, "div", "filters");
	overview_states(h, o);
	overview_search(h, o);
	html_close(h);
	overview_runs(h, o);
	body = frame_end(h, p->now, "rlctl web", &size);
	return page_reply(200, body, size);
}

static json_t *overview_list(const struct overview *o)
{
	json_t *params = json_pack("{s:i}", "limit", RUNS_ROWS);
	int64_t before;

	if (*o->state != '\0')
		json_object_set_new(params, "state", json_string(o->state));
	if (*o->text != '\0')
		json_object_set_new(params, "text", json_string(o->text));
	if (client_parse_id(field_text(o->r->query, "before"), &before) == 0)
		json_object_set_new(params, "cursor", json_integer(before));
	return params;
}

struct reply overview_reply(const struct request *r)
{
	struct overview o = { .r = r, .state = field_text(r->query, "state"), .text = field_text(r->query, "text") };
	struct call_error error;
	struct web_page p;
	struct reply reply;

	page_init(&p, r, "/", FIELD_NONE);
	o.status = link_call(r->link, "daemon.status", NULL, &error);
	if (o.status != NULL)
		o.holds = link_call(r->link, "hold.list", json_pack("{s:s, s:i}", "state", "open", "limit", HOLDS_ROWS),
		    &error);
	if (o.holds != NULL)
		o.runs = link_call(r->link, "run.list", overview_list(&o), &error);
	reply = o.runs != NULL ? overview_page(&o, &p) : page_refused(r, &error);
	json_decref(o.status);
	json_decref(o.holds);
	json_decref(o.runs);
	page_release(&p);
	return reply;
}

struct reply run_reply(const struct request *r)
{
	struct call_error error;
	struct web_page p;
	size_t size;
	char *body;
	json_t *d;

	page_init(&p, r, "", r->number);
	p.frame.decide = page_decide;
	d = link_run(r->link, r->number, &error);
	body = d != NULL ? run_page(d, &p.frame, &size) : NULL;
	json_decref(d);
	page_release(&p);
	return body != NULL ? page_reply(200, body, size) : page_refused(r, &error);
}
