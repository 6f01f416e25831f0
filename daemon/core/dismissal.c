/* SPDX-License-Identifier: MIT */
#include "core/dismissal.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

#define HUMAN "human:"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

static int64_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

struct dismissals dismissals_read(const char *list)
{
	struct dismissals d = { .json = list != NULL ? json_loads(list, 0, NULL) : NULL };

	d.count = json_array_size(d.json);
	d.list = xcalloc(d.count + 1, sizeof(*d.list));
	for (size_t i = 0; i < d.count; i++) {
		const json_t *object = json_array_get(d.json, i);

		d.list[i] = (struct dismissal){
			.task = text_of(object, "task"), .finding = text_of(object, "finding"),
			.text = text_of(object, "text"), .by = text_of(object, "by"),
			.reason = text_of(object, "reason"), .at = text_of(object, "at"),
			.by_uid = number_of(object, "by_uid"), .by_pid = number_of(object, "by_pid"),
			.run = number_of(object, "run"), .review = number_of(object, "review"),
		};
	}
	return d;
}

void dismissals_release(struct dismissals *d)
{
	free(d->list);
	json_decref(d->json);
	*d = (struct dismissals){ 0 };
}

char *dismissals_add(const char *list, const struct dismissal *d)
{
	json_t *all = list != NULL ? json_loads(list, 0, NULL) : NULL;
	char *text;

	if (all == NULL)
		all = json_array();
	json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "task", d->task,
	    "finding", d->finding, "text", d->text, "by", d->by, "reason", d->reason, "at", d->at,
	    "by_uid", (json_int_t)d->by_uid, "by_pid", (json_int_t)d->by_pid, "run", (json_int_t)d->run,
	    "review", (json_int_t)d->review));
	text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

const struct dismissal *dismissals_find(const struct dismissals *d, const char *task, const char *finding)
{
	for (size_t i = 0; i < d->count; i++)
		if (strcmp(d->list[i].task, task) == 0 && strcmp(d->list[i].finding, finding) == 0)
			return &d->list[i];
	return NULL;
}

void dismissals_mark(const struct dismissals *d, const char *task, struct finding_row *const *rows, size_t count,
    struct finding_counts *counts)
{
	for (size_t i = 0; i < count; i++) {
		if (dismissals_find(d, task, rows[i]->id) == NULL)
			continue;
		if (rows[i]->state == FINDING_REPEATED)
			counts->repeated--;
		else
			counts->new--;
		counts->dismissed++;
		rows[i]->state = FINDING_DISMISSED;
	}
}

static bool has_user(const struct dismissals *d, const char *task, const struct finding_row *const *rows,
    size_t count, const char *by)
{
	for (size_t i = 0; i < count; i++) {
		const struct dismissal *one = dismissals_find(d, task, rows[i]->id);

		if (one != NULL && strcmp(one->by, by) == 0)
			return true;
	}
	return false;
}

static const char *user_of(const struct dismissal *d)
{
	size_t size = strlen(HUMAN);

	return strncmp(d->by, HUMAN, size) == 0 ? d->by + size : d->by;
}

char *dismissals_users(const struct dismissals *d, const char *task, const struct finding_row *const *rows,
    size_t count)
{
	struct buf users = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct dismissal *one = dismissals_find(d, task, rows[i]->id);

		if (one != NULL && !has_user(d, task, rows, i, one->by))
			buf_addf(&users, "%s%s", users.size > 0 ? ", " : "", user_of(one));
	}
	return buf_take(&users, NULL);
}
