/* SPDX-License-Identifier: MIT */
#include "client/watch_data.h"

#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/run_view.h"
#include "proto/memory.h"

#define RUNS_MAX 200

void watch_data_init(struct watch_data *d, struct call_conn *conn)
{
	*d = (struct watch_data){ .conn = conn, .run = FIELD_NONE };
}

static void watch_data_forget(struct watch_data *d)
{
	json_decref(d->runs);
	json_decref(d->document);
	json_decref(d->attempts);
	json_decref(d->previews);
	json_decref(d->reviews);
	free(d->reviewed);
	free(d->last);
	live_free(d->live);
	watch_data_init(d, d->conn);
}

void watch_data_release(struct watch_data *d)
{
	watch_data_forget(d);
}

static enum watch_result watch_data_say(const json_t *result, const struct call_error *error)
{
	if (result != NULL)
		return WATCH_OK;
	return error->code == 0 ? WATCH_GONE : WATCH_REFUSED;
}

/* The result, or NULL with error. */
static enum watch_result watch_data_ask(struct watch_data *d, const char *method, json_t *params,
    json_t **result, struct call_error *error)
{
	*result = call_method(d->conn, method, params, error);
	return watch_data_say(*result, error);
}

/* The same for all pages of a list of the run. */
static enum watch_result watch_data_list(struct watch_data *d, const char *method, const char *rows,
    json_t *params, json_t **result, struct call_error *error)
{
	json_object_set_new(params, "run", json_integer(d->run));
	*result = call_pages(d->conn, method, rows, params, error);
	return watch_data_say(*result, error);
}

enum watch_result watch_data_follow(struct watch_data *d, int64_t run, struct call_error *error)
{
	json_t *params = json_object(), *result;
	enum watch_result rv;

	watch_data_forget(d);
	if (run != FIELD_NONE)
		json_object_set_new(params, "run", json_integer(run));
	rv = watch_data_ask(d, "event.subscribe", params, &result, error);
	json_decref(result);
	d->run = run;
	d->stale = true;
	return rv;
}

/* ---- one run ---- */

static void watch_data_replace(json_t **at, json_t *value)
{
	json_decref(*at);
	*at = value;
}

/* Number of lines in now that are not in before; the old last line may have moved up. */
static int64_t watch_data_new_lines(const json_t *before, const json_t *now)
{
	size_t had = json_array_size(before), has = json_array_size(now), same = had < has ? had : has;

	for (; same > 0; same--) {
		size_t i = 0;

		while (i < same && json_equal(json_array_get(before, had - same + i), json_array_get(now, i)))
			i++;
		if (i == same)
			break;
	}
	return (int64_t)(has - same);
}

static enum watch_result watch_data_load_preview(struct watch_data *d, int64_t attempt, json_t *previews)
{
	struct call_error error;
	const json_t *before;
	json_t *preview;
	int64_t events;
	char key[24];
	enum watch_result rv = watch_data_ask(d, "attempt.preview",
	    json_pack("{s:I, s:i}", "id", (json_int_t)attempt, "lines", VIEW_PREVIEW), &preview,
	    &error);

	if (rv != WATCH_OK)
		/* its record may have been removed */
		return rv == WATCH_GONE ? rv : WATCH_OK;
	snprintf(key, sizeof(key), "%lld", (long long)attempt);
	before = json_object_get(d->previews, key);
	events = field_int(before, "events");
	json_object_set_new(preview, "events", json_integer((events == FIELD_NONE ? 0 : events) +
		watch_data_new_lines(field_array(before, "lines"), field_array(preview, "lines"))));
	json_object_set_new(previews, key, preview);
	return WATCH_OK;
}

enum watch_result watch_data_tick(struct watch_data *d, size_t chosen, size_t slots)
{
	const json_t *list = field_array(d->document, "slots");
	json_t *previews = json_object();
	enum watch_result rv = WATCH_OK;

	for (size_t i = 0; rv == WATCH_OK && i < json_array_size(list); i++) {
		const json_t *slot = json_array_get(list, i);

		if (!view_is_over(slot) && field_int(slot, "attempt") != FIELD_NONE &&
		    (i == chosen || json_array_size(list) <= slots))
			rv = watch_data_load_preview(d, field_int(slot, "attempt"), previews);
	}
	watch_data_replace(&d->previews, previews);
	return rv;
}

void watch_data_uncount(struct watch_data *d)
{
	const char *attempt;
	json_t *preview;

	json_object_foreach(d->previews, attempt, preview)
		json_object_del(preview, "events");
}

/* The reviews of the chosen slot's task, requested again only if there is a new one. */
static enum watch_result watch_data_load_reviews(struct watch_data *d, size_t chosen)
{
	const char *task = view_reviewed(json_array_get(field_array(d->document, "slots"), chosen));
	char *wanted = xasprintf("%lld %s", field_count(d->document, "review_count"), task);
	enum watch_result rv = WATCH_OK;
	struct call_error error;
	json_t *result;

	if (*task == '\0' || (d->reviewed != NULL && strcmp(d->reviewed, wanted) == 0)) {
		free(wanted);
		return WATCH_OK;
	}
	rv = watch_data_list(d, "review.list", "reviews", json_pack("{s:s}", "task", task), &result, &error);
	if (rv == WATCH_OK) {
		free(d->reviewed);
		d->reviewed = wanted;
		watch_data_replace(&d->reviews, json_incref(json_object_get(result, "reviews")));
	} else {
		free(wanted);
	}
	json_decref(result);
	return rv == WATCH_GONE ? rv : WATCH_OK;
}

static enum watch_result watch_data_load_one(
    struct watch_data *d, size_t chosen, size_t slots, struct call_error *error)
{
	json_t *result;
	enum watch_result rv = watch_data_ask(
	    d, "run.get", json_pack("{s:I}", "id", (json_int_t)d->run), &result, error);

	if (rv != WATCH_OK)
		return rv;
	watch_data_replace(&d->document, result);
	if (d->live == NULL)
		d->live = live_new(&d->print, d->document, "");
	rv = watch_data_list(d, "attempt.list", "attempts", json_object(), &result, error);
	if (rv != WATCH_OK)
		return rv;
	watch_data_replace(&d->attempts, json_incref(json_object_get(result, "attempts")));
	json_decref(result);
	rv = watch_data_load_reviews(d, chosen);
	return rv == WATCH_OK ? watch_data_tick(d, chosen, slots) : rv;
}

/* ---- all of them ---- */

static const char *const unfinished[] = { "queued", "running", "paused", "held" };

/* In order of id, newest first; running ones are read in full, for their slots. */
static enum watch_result watch_data_add_runs(struct watch_data *d, const json_t *list, json_t *runs)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *run = json_incref(json_array_get(list, i)), *whole;
		struct call_error error;
		size_t at = 0;

		if (!field_is(run, "state", "queued")) {
			enum watch_result rv = watch_data_ask(d, "run.get",
			    json_pack("{s:I}", "id", (json_int_t)field_int(run, "id")), &whole,
			    &error);

			if (rv == WATCH_OK)
				watch_data_replace(&run, whole);
			if (rv == WATCH_GONE) {
				json_decref(run);
				return rv;
			}
		}
		while (at < json_array_size(runs) && field_int(json_array_get(runs, at), "id") > field_int(run, "id"))
			at++;
		json_array_insert_new(runs, at, run);
	}
	return WATCH_OK;
}

static enum watch_result watch_data_load_all(struct watch_data *d, struct call_error *error)
{
	json_t *runs = json_array();
	enum watch_result rv = WATCH_OK;

	for (size_t i = 0; rv == WATCH_OK && i < ARRAY_SIZE(unfinished); i++) {
		json_t *result;

		rv = watch_data_ask(d, "run.list",
		    json_pack("{s:s, s:i}", "state", unfinished[i], "limit", RUNS_MAX), &result,
		    error);
		if (rv == WATCH_OK)
			rv = watch_data_add_runs(d, field_array(result, "runs"), runs);
		json_decref(result);
	}
	if (rv == WATCH_OK)
		watch_data_replace(&d->runs, runs);
	else
		json_decref(runs);
	return rv;
}

enum watch_result watch_data_load(struct watch_data *d, size_t chosen, size_t slots, struct call_error *error)
{
	d->stale = false;
	return d->run == FIELD_NONE ? watch_data_load_all(d, error) : watch_data_load_one(d, chosen, slots, error);
}

/* ---- events ---- */

/* The last line printed for it, if any. */
static void watch_data_note(struct watch_data *d, const json_t *event)
{
	char *text = NULL, *line;
	size_t size = 0;

	if (d->live == NULL)
		return;
	d->print.file = open_memstream(&text, &size);
	if (d->print.file == NULL)
		return;
	live_event(d->live, event);
	fclose(d->print.file);
	if (size > 0) {
		text[size - 1] = '\0';
		line = strrchr(text, '\n');
		free(d->last);
		d->last = xstrdup(line == NULL ? text : line + 1);
	}
	free(text);
}

enum watch_result watch_data_events(struct watch_data *d)
{
	json_t *message;
	int got;

	while ((got = call_notification(d->conn, 0, &message)) == 1) {
		const json_t *event = json_object_get(message, "params");

		/* an event of the previous subscription may still arrive */
		if (field_is(message, "method", "event") &&
		    (d->run == FIELD_NONE || field_int(event, "run") == d->run)) {
			watch_data_note(d, event);
			d->stale = true;
		}
		json_decref(message);
	}
	return got == -1 ? WATCH_GONE : WATCH_OK;
}

bool watch_data_is_live(const struct watch_data *d)
{
	if (d->run == FIELD_NONE)
		return json_array_size(d->runs) > 0;
	return field_time(d->document, "ended_at") == FIELD_NONE;
}
