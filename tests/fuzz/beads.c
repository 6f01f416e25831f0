/* SPDX-License-Identifier: MIT */
/* Any text as .beads/issues.jsonl and as an answer of bd: refused with a message, or a list in
 * which the ready ones are free of everything that the list itself says; and the same text as an
 * agent's output, from which a task is picked. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/escape.h"
#include "task/bead.h"
#include "task/marker.h"
#include "task/pick.h"
#include "task/task.h"

static void check_error(char *error, const char *begins)
{
	if (strncmp(error, begins, strlen(begins)) != 0 || !text_is_utf8(error, strlen(error)) ||
	    strchr(error, '\n') != NULL || strchr(error, '\x1b') != NULL)
		abort();
	free(error);
}

static bool holds_back(const struct task_list *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].id, id) == 0)
			return !list->items[i].done && strcmp(list->items[i].status, "pinned") != 0;
	return true;
}

static void check_list(struct task_list *list, bool all_ready)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct task_item *item = &list->items[i], *before = i > 0 ? item - 1 : NULL;

		if (item->id[0] == '\0' || item->status == NULL || (item->ready && item->id[0] == '-') ||
		    (all_ready && !item->ready && item->id[0] != '-'))
			abort();
		if (before != NULL && (before->priority == item->priority ? strcmp(before->id, item->id) >= 0 :
		    before->priority == ROW_NONE || (item->priority != ROW_NONE && before->priority > item->priority)))
			abort();
		if (item->held_by != NULL && (item->ready || item->done || strcmp(item->status,
		    "open") != 0 || item->held_by[0] == NULL))
			abort();
		if (!item->ready || all_ready)
			continue;
		if (item->done || strcmp(item->status, "open") != 0)
			abort();
		for (size_t d = 0; item->depends_on != NULL && item->depends_on[d] != NULL; d++)
			if (strcmp(item->depends_on[d], item->id) == 0 ||
			    (list->count < 500 && holds_back(list, item->depends_on[d])))
				abort();
	}
	task_list_release(list);
}

/* The same task whatever the pieces, and one that is known. */
static void check_pick(const char *text, size_t size, size_t piece)
{
	static char *const ids[] = { (char *)"a", (char *)"x-7", (char *)"x-7.1", (char *)"x 1", NULL };
	static char *const markers[] = { (char *)"no_beads_available", (char *)"no beads available", NULL };
	struct pick *whole = pick_new(ids), *pieces = pick_new(ids);
	const char *marker = marker_in(text, size, markers);

	pick_feed(whole, text, size);
	pick_end(whole);
	for (size_t at = 0; at < size; at += piece)
		pick_feed(pieces, text + at, size - at < piece ? size - at : piece);
	pick_end(pieces);
	if ((pick_id(whole) == NULL) != (pick_id(pieces) == NULL) ||
	    (pick_id(whole) != NULL && strcmp(pick_id(whole), pick_id(pieces)) != 0))
		abort();
	if (marker != NULL && marker != markers[0] && marker != markers[1])
		abort();
	pick_free(whole);
	pick_free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + (size == 0)), *error = NULL;
	struct task_list list;
	json_t *answer;

	memcpy(text, data, size);
	if (beads_read_jsonl(text, size, &list, &error) == 0)
		check_list(&list, false);
	else
		check_error(error, ".beads/issues.jsonl");
	answer = bd_answer(text, size, &error);
	if (answer != NULL && bd_list(answer, &list, &error) == 0)
		check_list(&list, true);
	else
		check_error(error, "");
	json_decref(answer);
	check_pick(text, size, size > 0 ? 1 + (unsigned char)text[0] % 64 : 1);
	free(text);
	return 0;
}
