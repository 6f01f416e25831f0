/* SPDX-License-Identifier: MIT */
/* Any text as a PRD: refused with a message, or read; then each story passes, and nothing else
 * changes by that. */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/escape.h"
#include "task/task.h"

#define STORIES_TRIED 8

static void check_error(char *error)
{
	if (strncmp(error, "the PRD: ", 9) != 0 || !text_is_utf8(error, strlen(error)) ||
	    strchr(error, '\n') != NULL || strchr(error, '\x1b') != NULL)
		abort();
	free(error);
}

static json_t *parse(const char *text, size_t size)
{
	size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	return json_loadb(text + mark, size - mark, JSON_REJECT_DUPLICATES, NULL);
}

/* The document as it should be, made by another way. */
static json_t *passed(const char *text, size_t size, const char *id)
{
	json_t *document = parse(text, size), *story;
	size_t i;

	json_array_foreach(json_object_get(document, "userStories"), i, story) {
		json_t *value = json_object_get(story, "id");
		char number[32];

		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		if (strcmp(json_is_string(value) ? json_string_value(value) : number, id) == 0)
			json_object_set_new(story, "passes", json_true());
	}
	return document;
}

static void check_pass(const char *text, size_t size, const char *id)
{
	size_t out_size = 0, same = 0;
	char *error = NULL, *out = stories_pass(text, size, id, &out_size, &error);
	json_t *want = passed(text, size, id), *got;

	if (out == NULL)
		abort();
	got = parse(out, out_size);
	if (got == NULL || !json_equal(want, got))
		abort();
	json_decref(want);
	json_decref(got);
	/* one stretch differs, and is short */
	while (same < size && same < out_size && text[same] == out[same])
		same++;
	for (size_t i = 0; i < size && i < out_size && text[size - 1 - i] == out[out_size - 1 - i]; i++)
		same++;
	if (out_size > size && same < size)
		abort();
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + (size == 0)), *error = NULL, *out;
	struct task_list list;
	size_t out_size;

	memcpy(text, data, size);
	if (stories_read(text, size, &list, &error) != 0) {
		if (list.count != 0 || list.items != NULL)
			abort();
		check_error(error);
		/* what is no PRD by now may still have that story */
		out = stories_pass(text, size, "a", &out_size, &error);
		if (out != NULL)
			check_pass(text, size, "a");
		else
			check_error(error);
		free(out);
	} else {
		for (size_t i = 1; i < list.count; i++)
			if (list.items[i].priority != ROW_NONE && (list.items[i - 1].priority ==
			    ROW_NONE || list.items[i - 1].priority > list.items[i].priority))
				abort();
		for (size_t i = 0; i < list.count && i < STORIES_TRIED; i++)
			check_pass(text, size, list.items[i].id);
		task_list_release(&list);
	}
	free(text);
	return 0;
}
