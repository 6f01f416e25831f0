/* SPDX-License-Identifier: MIT */
#include "client/page/gather.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/attempt_output.h"
#include "client/field.h"
#include "client/page/pieces.h"
#include "proto/clock.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/units.h"

#define DIFFS_BYTES_MAX (4 * 1024 * 1024)	/* of all tasks together */

/* Lists of a run that the daemon gives in pages. */
static const struct {
	const char *method, *rows;
} lists[] = {
	{ "attempt.list", "attempts" }, { "review.list", "reviews" }, { "product.list", "products" },
	{ "evidence.list", "evidence" }, { "hold.list", "holds" },
};

static bool gather_lists(struct call_conn *conn, int64_t run, json_t *d, struct call_error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		json_t *result = call_pages(conn, lists[i].method, lists[i].rows,
		    json_pack("{s:I}", "run", (json_int_t)run), error);

		if (result == NULL)
			return false;
		json_object_set(d, lists[i].rows, json_object_get(result, lists[i].rows));
		json_decref(result);
	}
	return true;
}

/* The bytes in a member of a result, as a JSON text: those that are no text are made visible. */
static json_t *gather_text(const json_t *result, const char *key)
{
	struct buf bytes = { 0 };
	json_t *text = NULL;
	char *safe;

	if (output_add(&bytes, result, key) == 0 && bytes.size > 0) {
		safe = text_escape(bytes.data, bytes.size, true);
		text = json_string(safe);
		free(safe);
	}
	buf_release(&bytes);
	return text == NULL ? json_string("") : text;
}

/* What cannot be had is left out, and the page says why. */
static json_t *gather_diff(struct call_conn *conn, int64_t run, const char *task)
{
	struct call_error error;
	json_t *params = json_pack("{s:I, s:i, s:s*}", "id", (json_int_t)run, "limit", PIECE_DIFF_MAX, "task", task),
	       *result = call_method(conn, "run.diff", params, &error), *diff;

	if (result == NULL)
		return json_pack("{s:s}", "why", error.message);
	diff = json_pack("{s:o, s:b, s:O*}", "text", gather_text(result, "diff"), "cut", !field_true(result, "eof"),
	    "tree", json_object_get(result, "tree"));
	json_decref(result);
	return diff;
}

static void gather_diffs(struct call_conn *conn, int64_t run, json_t *d)
{
	const json_t *tasks = field_array(json_object_get(d, "run"), "tasks");
	json_t *diffs = json_object();
	size_t bytes = 0;

	json_object_set_new(diffs, "", gather_diff(conn, run, NULL));
	for (size_t i = 0; json_array_size(tasks) > 1 && i < json_array_size(tasks) && i < PIECE_ROUNDS_MAX; i++) {
		const json_t *task = json_array_get(tasks, i);
		const char *id = field_text(task, "id");
		json_t *diff;

		if (field_count(task, "attempts") == 0 || *id == '\0')
			continue;
		diff = bytes < DIFFS_BYTES_MAX ? gather_diff(conn, run, id) :
		    json_pack("{s:s}", "why", "the diffs of the tasks before it are many MiB; rlctl diff shows it");
		bytes += strlen(field_text(diff, "text"));
		json_object_set_new(diffs, id, diff);
	}
	json_object_set_new(d, "diffs", diffs);
}

/* The beginning of a stream of an attempt; nothing if it is not kept. */
static void gather_output(struct call_conn *conn, json_t *d, const char *name, int64_t attempt, const char *stream)
{
	struct call_error error;
	json_t *result;

	if (attempt == FIELD_NONE)
		return;
	result = call_method(conn, "attempt.output",
	    json_pack("{s:I, s:s, s:i}", "id", (json_int_t)attempt, "stream", stream, "limit", PIECE_TEXT_MAX * 2),
	    &error);
	if (result != NULL)
		json_object_set_new(d, name, json_pack("{s:o}", "text", gather_text(result, "data")));
	json_decref(result);
}

/* Of a run with one task: what it was, and what its agent answered. */
static void gather_words(struct call_conn *conn, json_t *d)
{
	const json_t *run = json_object_get(d, "run"), *tasks = field_array(run, "tasks"),
	             *attempts = field_array(d, "attempts"), *task = json_array_get(tasks, 0);

	if (json_array_size(tasks) != 1)
		return;
	gather_output(conn, d, "answer", field_int(json_object_get(run, "result"), "attempt"), "answer");
	for (size_t i = 0; i < json_array_size(attempts); i++) {
		const json_t *attempt = json_array_get(attempts, i);

		if (!field_is(attempt, "role", "implement"))
			continue;
		if (field_int(task, "size") > (int64_t)strlen(field_text(task, "title")) + 1)
			gather_output(conn, d, "asked", field_int(attempt, "id"), "prompt");
		return;
	}
}

json_t *gather_run(struct call_conn *conn, int64_t run, struct call_error *error)
{
	json_t *d = json_object(),
	       *got = call_method(conn, "run.get", json_pack("{s:I}", "id", (json_int_t)run), error);
	char now[32];

	if (got != NULL)
		json_object_set_new(d, "run", got);
	if (got == NULL || !gather_lists(conn, run, d, error)) {
		json_decref(d);
		return NULL;
	}
	gather_diffs(conn, run, d);
	gather_words(conn, d);
	time_format(clock_wall(), now, sizeof(now));
	json_object_set_new(d, "now", json_string(now));
	return d;
}
