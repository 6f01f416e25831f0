/* SPDX-License-Identifier: MIT */
/* Any text as a workflow: refused with a line, a column and a message, or a list in which all that
 * was promised holds. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/escape.h"
#include "task/task.h"

#define ROUNDS_MAX 300		/* of a list that is small enough for a plain look at its cycles */

static void check_error(const char *error, const char *text, size_t size)
{
	size_t lines = 1, n = strlen("workflow:");
	char *end;

	/* a line ends at whatever YAML 1.1 takes for a break; here CR LF counts twice */
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n' || text[i] == '\r' ||
		    (size - i >= 3 && memcmp(text + i, "\xe2\x80", 2) == 0) ||
		    (size - i >= 2 && memcmp(text + i, "\xc2\x85", 2) == 0);
	if (strncmp(error, "workflow:", n) != 0 || !text_is_utf8(error, strlen(error)) ||
	    strchr(error, '\n') != NULL || strchr(error, '\x1b') != NULL)
		abort();
	if (strtoul(error + n, &end, 10) < 1 || strtoul(error + n, NULL, 10) > lines ||
	    *end != ':' || strtoul(end + 1, &end, 10) < 1 || *end != ':')
		abort();
}

static size_t find(const struct task_list *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].id, id) == 0)
			return i;
	abort();
}

/* Round by round those go whose dependencies are gone: without a cycle all do. */
static void check_order(const struct task_list *list)
{
	char *gone = calloc(list->count + 1, 1);
	size_t left = list->count, before;

	do {
		before = left;
		for (size_t i = 0; i < list->count; i++) {
			char **on = list->items[i].depends_on;

			while (!gone[i] && on != NULL && *on != NULL && gone[find(list, *on)])
				on++;
			if (!gone[i] && (on == NULL || *on == NULL)) {
				gone[i] = 1;
				left--;
			}
		}
	} while (left < before);
	if (left > 0)
		abort();
	free(gone);
}

static void check_item(const struct task_list *list, size_t at)
{
	const struct task_item *item = &list->items[at];
	size_t size = strlen(item->id);

	if (size < 1 || size > TASK_ID_MAX || find(list, item->id) != at || item->line < 1 || item->column < 1)
		abort();
	for (size_t i = 0; i < size; i++)
		if (iscntrl((unsigned char)item->id[i]))
			abort();
	if (!item->review && (item->coder != NULL || item->reviewer != NULL || item->max_reviews != ROW_NONE))
		abort();
	if (item->max_reviews != ROW_NONE && (item->max_reviews < 1 || item->max_reviews > 101))
		abort();
	if ((item->coder != NULL) != (item->coder_line > 0) || (item->reviewer != NULL) != (item->reviewer_line > 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* exactly as large as it is, so that reading beyond it shows */
	char *text = malloc(size + (size == 0)), *error = NULL;
	struct task_list list;

	memcpy(text, data, size);
	if (workflow_read(text, size, &list, &error) != 0) {
		if (list.count != 0 || list.items != NULL)
			abort();
		check_error(error, text, size);
		free(error);
	} else {
		if (list.count == 0)
			abort();
		for (size_t i = 0; list.count <= ROUNDS_MAX && i < list.count; i++)
			check_item(&list, i);
		if (list.count <= ROUNDS_MAX)
			check_order(&list);
		task_list_release(&list);
	}
	free(text);
	return 0;
}
