/* SPDX-License-Identifier: MIT */
#include "core/dispute.h"

#include <stdlib.h>
#include <string.h>

#include "base/own_lines.h"
#include "core/findings.h"
#include "proto/memory.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

struct disputes disputes_read(const char *list)
{
	struct disputes d = { .json = list != NULL ? json_loads(list, 0, NULL) : NULL };

	d.count = json_array_size(d.json);
	d.list = xcalloc(d.count + 1, sizeof(*d.list));
	for (size_t i = 0; i < d.count; i++) {
		const json_t *object = json_array_get(d.json, i);

		d.list[i] = (struct dispute){
			.task = text_of(object, "task"), .finding = text_of(object, "finding"),
			.text = text_of(object, "text"), .by = text_of(object, "by"),
			.reason = text_of(object, "reason"), .at = text_of(object, "at"),
			.answer = json_string_value(json_object_get(object, "answer")),
			.run = json_integer_value(json_object_get(object, "run")),
			.attempt = json_integer_value(json_object_get(object, "attempt")),
		};
	}
	return d;
}

void disputes_release(struct disputes *d)
{
	free(d->list);
	json_decref(d->json);
	*d = (struct disputes){ 0 };
}

char *disputes_add(const char *list, const struct dispute *d)
{
	json_t *all = list != NULL ? json_loads(list, 0, NULL) : NULL;
	char *text;

	if (all == NULL)
		all = json_array();
	json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:n, s:I, s:I}", "task", d->task,
	    "finding", d->finding, "text", d->text, "by", d->by, "reason", d->reason, "at", d->at, "answer",
	    "run", (json_int_t)d->run, "attempt", (json_int_t)d->attempt));
	text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

const struct dispute *disputes_find(const struct disputes *d, const char *task, const char *finding)
{
	for (size_t i = d->count; i > 0; i--)
		if (strcmp(d->list[i - 1].task, task) == 0 && strcmp(d->list[i - 1].finding, finding) == 0)
			return &d->list[i - 1];
	return NULL;
}

const struct dispute *disputes_pending(const struct disputes *d, const char *task, const char *finding)
{
	const struct dispute *newest = disputes_find(d, task, finding);

	return newest != NULL && newest->answer == NULL ? newest : NULL;
}

char *disputes_answer(const char *list, const char *task, const struct finding_row *const *said, size_t count)
{
	struct disputes d = disputes_read(list);
	bool any = false;
	char *text;

	for (size_t i = 0; i < d.count; i++) {
		if (d.list[i].answer != NULL || strcmp(d.list[i].task, task) != 0)
			continue;
		any = true;
		json_object_set_new(json_array_get(d.json, i), "answer",
		    json_string(findings_have(said, count, d.list[i].finding) ? DISPUTE_REPEATED : DISPUTE_DROPPED));
	}
	text = any ? json_dumps(d.json, JSON_COMPACT) : NULL;
	disputes_release(&d);
	return text;
}

/* ---- the lines of an answer ---- */

#define WORD "Disputed "

/* Whether it is one; *id and *reason are parts of it. */
static bool parse(struct own_line line, struct own_line *id, struct own_line *reason)
{
	const char *colon;

	if (line.size > 2 && strchr("-*+", line.text[0]) != NULL && line.text[1] == ' ')
		line = own_line_trim(line.text + 1, line.size - 1);
	if (line.size < sizeof(WORD) || memcmp(line.text, WORD, sizeof(WORD) - 1) != 0)
		return false;
	line.text += sizeof(WORD) - 1;
	line.size -= sizeof(WORD) - 1;
	colon = memchr(line.text, ':', line.size);
	if (colon == NULL)
		return false;
	*id = own_line_trim(line.text, (size_t)(colon - line.text));
	if (id->size > 2 && id->text[0] == '`' && id->text[id->size - 1] == '`')
		*id = (struct own_line){ id->text + 1, id->size - 2 };
	*reason = own_line_trim(colon + 1, line.size - (size_t)(colon + 1 - line.text));
	/* an id is one short word, so that a sentence does not become a dispute */
	return id->size > 0 && id->size < FINDING_ID * 4 && memchr(id->text, ' ', id->size) == NULL && reason->size > 0;
}

struct dispute_line *dispute_lines(const char *text, size_t size, size_t max, size_t *count, bool *more)
{
	struct own_lines lines = own_lines_of(text, size);
	struct own_line line, id, reason;
	struct dispute_line *found = NULL;

	*count = 0;
	*more = false;
	while (own_lines_next(&lines, &line)) {
		if (!parse(line, &id, &reason))
			continue;
		if (*count == max) {
			*more = true;
			break;
		}
		found = xreallocarray(found, *count + 1, sizeof(*found));
		found[(*count)++] = (struct dispute_line){ xmemdup0(id.text, id.size),
		    xmemdup0(reason.text, reason.size) };
	}
	return found;
}

void dispute_lines_free(struct dispute_line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(lines[i].finding);
		free(lines[i].reason);
	}
	free(lines);
}
