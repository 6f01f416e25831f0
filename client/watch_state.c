/* SPDX-License-Identifier: MIT */
/* What rlctl watch shows, and how it is read. */
#include <poll.h>
#include <stdlib.h>

#include "client/field.h"
#include "client/watch.h"
#include "proto/clock.h"

json_t *watch_listed(const struct watch *w)
{
	json_t *listed = json_array();
	size_t i;
	json_t *run;

	json_array_foreach(w->data.runs, i, run) {
		char *text = xasprintf("%lld %s %s %s %s", field_count(run, "id"), field_text(run, "state"),
		    field_text(run, "title"), field_text(run, "workdir"), field_text(run, "group"));

		if (pager_matches(text, w->filter))
			json_array_append(listed, run);
		free(text);
	}
	return listed;
}

const json_t *watch_run(const struct watch *w)
{
	json_t *listed;
	const json_t *run;

	if (w->data.run != FIELD_NONE)
		return w->data.document;
	listed = watch_listed(w);
	run = json_array_get(listed, w->chosen);	/* the list of all has it as well */
	json_decref(listed);
	return run;
}

const json_t *watch_hold(const struct watch *w)
{
	const json_t *run = watch_run(w), *holds = field_array(run, "holds"),
	             *slot = json_array_get(field_array(run, "slots"), w->data.run == FIELD_NONE ? 0 : w->choice.slot);

	for (size_t i = 0; i < json_array_size(holds); i++)
		if (field_is(json_array_get(holds, i), "task", field_text(slot, "task")))
			return json_array_get(holds, i);
	return json_array_get(holds, 0);
}

void watch_notice(struct watch *w, enum paint paint, char *text)
{
	free(w->notice);
	w->notice = text;
	w->notice_paint = paint;
}

/* A block needs at least two lines. */
size_t watch_room(const struct watch *w)
{
	return w->lines / 2;
}

enum watch_end watch_after(const struct watch *w, enum watch_result result)
{
	struct pollfd p = { .fd = w->quit, .events = POLLIN };

	if (result == WATCH_OK)
		return GO_ON;
	if (result == WATCH_REFUSED)
		return END_REFUSED;
	/* an interrupted call looks like a daemon that has disappeared */
	return poll(&p, 1, 0) > 0 ? GO_ON : END_GONE;
}

enum watch_end watch_refused(struct watch *w, const struct call_error *error)
{
	if (error->code == 0)
		return watch_after(w, WATCH_GONE);
	watch_notice(w, PAINT_RED,
	    xasprintf("%s%s%s", error->message, error->hint[0] != '\0' ? "; " : "", error->hint));
	return GO_ON;
}

size_t watch_count(const struct watch *w)
{
	json_t *listed = watch_listed(w);
	size_t count = json_array_size(listed);

	json_decref(listed);
	return count;
}

/* Choose this run of the list, wherever it is now; without it what has its place. */
static void choose_again(struct watch *w, int64_t id)
{
	json_t *listed = watch_listed(w), *run;
	size_t i, count = json_array_size(listed);

	json_array_foreach(listed, i, run)
		if (id != FIELD_NONE && field_int(run, "id") == id)
			w->chosen = i;
	if (w->chosen >= count)
		w->chosen = count > 0 ? count - 1 : 0;
	json_decref(listed);
}

enum watch_end watch_load(struct watch *w)
{
	/* a run may have come or gone above the chosen one */
	int64_t chosen = w->data.run == FIELD_NONE ? field_int(watch_run(w), "id") : FIELD_NONE;
	enum watch_end end = watch_after(w, watch_data_load(&w->data, w->choice.slot, watch_room(w), &w->error));
	size_t slot = w->choice.slot;

	if (end != GO_ON)
		return end;
	choose_again(w, chosen);
	screen_follow(&w->choice, w->data.document);
	w->data.stale |= w->choice.slot != slot;	/* it was the review of another slot */
	w->loaded = w->ticked = clock_steady();
	w->dirty = true;
	return GO_ON;
}

enum watch_end watch_look_at(struct watch *w, int64_t run)
{
	int64_t before = w->data.run;
	enum watch_end end = watch_after(w, watch_data_follow(&w->data, run, &w->error));

	w->choice = (struct screen_choice){ .slot = 0 };
	if (end == GO_ON)
		end = watch_load(w);
	if (end == GO_ON && run == FIELD_NONE)
		choose_again(w, before);
	return end;
}
