/* SPDX-License-Identifier: MIT */
/* The queue of open holds, the page of one of them, and its decision. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/hold_choice.h"
#include "client/page/diff_view.h"
#include "client/page/pieces.h"
#include "client/page/review_view.h"
#include "client/page/sections.h"
#include "client/web/web_page.h"
#include "proto/memory.h"

#define QUEUE_ROWS 20

/* ---- the queue ---- */

struct reply queue_reply(const struct request *r)
{
	struct call_error error;
	json_t *params = json_pack("{s:s, s:i}", "state", "open", "limit", QUEUE_ROWS), *result;
	const json_t *holds;
	struct web_page p;
	struct html *h;
	int64_t before;
	size_t size;
	char *body;

	if (client_parse_id(field_text(r->query, "before"), &before) == 0)
		json_object_set_new(params, "cursor", json_integer(before));
	page_init(&p, r, "/holds", FIELD_NONE);
	result = link_call(r->link, "hold.list", params, &error);
	if (result == NULL) {
		page_release(&p);
		return page_refused(r, &error);
	}
	holds = field_array(result, "holds");
	h = frame_begin(&p.frame, "Decisions");
	html_open(h, "header");
	html_leaf(h, "h1", NULL, "Decisions");
	html_leaf(h, "p", NULL, json_array_size(holds) > 0 ? "These wait for you. What waits costs nothing." :
	    "Nothing waits for a decision.");
	html_close(h);
	html_open_class(h, "ul", "rows");
	html_attr(h, "id", "queue");
	for (size_t i = 0; i < json_array_size(holds); i++)
		page_hold(h, r, json_array_get(holds, i));
	html_close(h);
	if (field_int(result, "next") != FIELD_NONE) {
		html_open_class(h, "p", "pager");
		page_link(h, r, "/holds?before=%lld", field_count(result, "next"));
		html_text(h, "Older decisions");
		html_close(h);
		html_close(h);
	}
	body = frame_end(h, p.now, "rlctl web", &size);
	json_decref(result);
	page_release(&p);
	return page_reply(200, body, size);
}

/* ---- one hold ---- */

static void hold_heading(struct html *h, const struct request *r, const json_t *hold)
{
	const char *task = field_text(hold, "task");

	html_open(h, "header");
	html_open_class(h, "p", "eyebrow");
	html_textf(h, "Hold %lld of ", field_count(hold, "id"));
	page_link(h, r, "/run/%lld", field_count(hold, "run"));
	html_textf(h, "run %lld", field_count(hold, "run"));
	html_close(h);
	if (*task != '\0') {
		html_text(h, ", task ");
		piece_clip(h, task, 60);
	}
	html_text(h, ", since ");
	piece_time(h, hold, "created_at");
	html_close(h);
	html_leaf(h, "h1", NULL, page_hold_title(hold));
	piece_prose(h, field_text(hold, "reason"), "rlctl hold show");
	html_close(h);
}

/* Another one that waits. */
static void hold_next(struct html *h, const struct request *r)
{
	struct call_error error;
	json_t *result = link_call(r->link, "hold.list", json_pack("{s:s, s:i}", "state", "open", "limit", 1), &error);
	const json_t *next = json_array_get(field_array(result, "holds"), 0);

	html_open(h, "p");
	if (next != NULL) {
		page_link(h, r, "/hold/%lld", field_count(next, "id"));
		html_textf(h, "Next decision: hold %lld", field_count(next, "id"));
		html_close(h);
	} else {
		html_text(h, "Nothing else waits for a decision.");
	}
	html_close(h);
	json_decref(result);
}

/* The form; or who has decided. refused: what the daemon did not like about the last try. */
static void hold_decide(struct html *h, const struct request *r, const json_t *hold,
    const struct call_error *refused)
{
	bool open = field_is(hold, "state", "open");

	piece_section(h, "decide", open ? "Your decision" : "Decided");
	if (refused != NULL) {
		html_open_class(h, "div", "refused");
		html_attr(h, "role", "alert");
		html_leaff(h, "p", NULL, "Refused: %s.", refused->message);
		if (*refused->hint != '\0')
			html_leaff(h, "p", "note", "%s.", refused->hint);
		html_close(h);
	}
	if (open) {
		page_form(h, r, hold, refused != NULL ? field_text(r->form, "message") : "");
	} else {
		html_open(h, "p");
		piece_state(h, field_text(hold, "state"));
		html_close(h);
		section_decided(h, hold, "rlctl hold show");
		hold_next(h, r);
	}
	html_close(h);
}

/* The newest diff of the task, as gather.h describes; the caller decrefs. */
static json_t *hold_diff(const struct request *r, const json_t *hold)
{
	const char *task = field_text(hold, "task");
	struct call_error error;
	json_t *params = json_pack("{s:I, s:i}", "id", (json_int_t)field_count(hold, "run"), "limit", PIECE_DIFF_MAX);

	if (*task != '\0')
		json_object_set_new(params, "task", json_string(task));
	return link_call(r->link, "run.diff", params, &error);
}

/* The reviews of the last round are shown, those before it behind a summary. */
static void hold_reviews(struct html *h, const json_t *reviews, const struct review_context *context)
{
	int64_t last = field_int(json_array_get(reviews, json_array_size(reviews) - 1), "iteration");
	json_t *newest = json_array(), *earlier = json_array();

	for (size_t i = 0; i < json_array_size(reviews); i++) {
		json_t *review = json_array_get(reviews, i);

		json_array_append(field_int(review, "iteration") == last ? newest : earlier, review);
	}
	if (json_array_size(reviews) > 0) {
		piece_section(h, "reviews", "What the review says");
		review_view(h, newest, context);
		if (json_array_size(earlier) > 0) {
			html_open(h, "details");
			html_leaf(h, "summary", NULL, "Earlier reviews");
			review_view(h, earlier, context);
			html_close(h);
		}
		html_close(h);
	}
	json_decref(newest);
	json_decref(earlier);
}

static void hold_work(struct html *h, const struct request *r, const json_t *hold)
{
	char *more = xasprintf("rlctl diff %lld", field_count(hold, "run")),
	     *show = xasprintf("rlctl hold show %lld", field_count(hold, "id"));
	json_t *document = hold_diff(r, hold);
	const char *text = field_text(document, "diff");
	struct diff diff;
	struct review_context context = { .reviews = field_array(hold, "reviews"), .diff = &diff,
		.tree = field_text(document, "tree"), .more = show };

	if (!field_is(document, "encoding", "utf-8"))
		text = "";
	hunks_read(&diff, text, strlen(text));
	hold_reviews(h, field_array(hold, "reviews"), &context);
	if (diff.count > 0) {
		piece_section(h, "diff", "The work");
		diff_view_all(h, &diff, field_true(document, "eof") ? NULL : more);
		html_close(h);
	}
	hunks_release(&diff);
	json_decref(document);
	free(more);
	free(show);
}

static struct reply hold_page(const struct request *r, const json_t *hold, const struct call_error *refused)
{
	char *title = xasprintf("Hold %lld: %s", field_count(hold, "id"), page_hold_title(hold)), *body;
	struct web_page p;
	struct html *h;
	size_t size;

	page_init(&p, r, "", field_int(hold, "run"));
	h = frame_begin(&p.frame, title);
	hold_heading(h, r, hold);
	hold_decide(h, r, hold, refused);
	hold_work(h, r, hold);
	body = frame_end(h, p.now, "rlctl web", &size);
	free(title);
	page_release(&p);
	return page_reply(refused == NULL ? 200 : page_status(refused), body, size);
}

/* refused NULL: nothing was tried. */
static struct reply hold_show(const struct request *r, const struct call_error *refused)
{
	struct call_error error;
	json_t *hold = link_call(r->link, "hold.get", json_pack("{s:I}", "id", (json_int_t)r->number), &error);
	struct reply reply;

	if (hold == NULL)
		return page_refused(r, refused != NULL ? refused : &error);
	reply = hold_page(r, hold, refused);
	json_decref(hold);
	return reply;
}

struct reply hold_reply(const struct request *r)
{
	return hold_show(r, NULL);
}

/* ---- its decision ---- */

struct reply decision_reply(const struct request *r)
{
	const struct choice *choice = choice_find(field_text(r->form, "decision"));
	const char *message = field_text(r->form, "message");
	struct call_error error;
	struct reply reply;
	json_t *params, *hold;
	char *method;
	bool there;

	if (!secret_equal(r->session->form, field_text(r->form, "form")))
		return page_notice(r, 403, "Not accepted", "This form is not one of this session.",
		    "Load the page of the hold again, and decide there.");
	if (choice == NULL)
		return page_notice(r, 400, "Not accepted", "The form names no decision.", "");
	params = json_pack("{s:I}", "id", (json_int_t)r->number);
	if (message[strspn(message, " \t\n")] != '\0')
		json_object_set_new(params, "message", json_string(message));
	there = link_is_there(r->link);
	method = xasprintf("hold.%s", choice->word);
	hold = link_call(r->link, method, params, &error);
	free(method);
	if (hold == NULL && error.code == 0)
		return page_notice(r, 503, "The daemon is gone",
		    there ? "This decision may have been carried out or not." : "Nothing was decided.",
		    "When the daemon is back, see what has become of the hold. \"Back\" of the browser has your text.");
	if (hold == NULL)
		return hold_show(r, &error);
	json_decref(hold);
	reply = page_reply(303, xstrdup(""), 0);
	reply.location = xasprintf("%s/hold/%lld", r->address, (long long)r->number);
	return reply;
}
