/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "proto/clock.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "task/bead.h"
#include "task/list.h"
#include "task/task.h"
#include "task/value.h"

#define SIZE_LIMIT ((size_t)64 * 1024 * 1024)
#define LINE_MAX_SIZE ((size_t)4 * 1024 * 1024)
#define LINE_VALUES 100000
#define ANSWER_VALUES 2000000

/* Beads in the order of their lines. */
struct pile {
	struct bead *beads;
	size_t count;
	int64_t now;
};

static struct bead *pile_add(struct pile *pile)
{
	size_t n = pile->count;

	if ((n & (n - 1)) == 0)
		pile->beads = xreallocarray(pile->beads, n == 0 ? 1 : n * 2, sizeof(*pile->beads));
	pile->beads[n] = (struct bead){ 0 };
	pile->count++;
	return &pile->beads[n];
}

static void pile_release(struct pile *pile)
{
	for (size_t i = 0; i < pile->count; i++)
		bead_release(&pile->beads[i]);
	free(pile->beads);
	*pile = (struct pile){ 0 };
}

static int compare_beads(const void *a, const void *b)
{
	const struct bead *x = a, *y = b;
	int by_id = strcmp(x->item.id, y->item.id);

	/* line: reading order */
	return by_id != 0 ? by_id : (x->item.line > y->item.line) - (x->item.line < y->item.line);
}

/* Sort by id, keeping for each id the bead read last. */
static void pile_sort(struct pile *pile)
{
	size_t kept = 0;

	for (size_t i = 0; i < pile->count; i++)
		pile->beads[i].item.line = i;
	if (pile->count > 0)
		qsort(pile->beads, pile->count, sizeof(*pile->beads), compare_beads);
	for (size_t i = 0; i < pile->count; i++) {
		pile->beads[i].item.line = 0;
		if (i + 1 < pile->count && strcmp(pile->beads[i].item.id, pile->beads[i + 1].item.id) == 0)
			bead_release(&pile->beads[i]);
		else
			pile->beads[kept++] = pile->beads[i];
	}
	pile->count = kept;
}

/* Turn the beads into a list, in the order of the source. */
static void pile_move(struct pile *pile, struct task_list *list)
{
	for (size_t i = 0; i < pile->count; i++) {
		*list_add(list) = pile->beads[i].item;
		pile->beads[i].item = (struct task_item){ 0 };
	}
	list_sort(list, true);
	pile_release(pile);
}

/* ---- .beads/issues.jsonl ---- */

/* Lines of other types are memories and the like. */
static bool is_issue(const json_t *object)
{
	const json_t *type = json_object_get(object, "_type");

	return type == NULL || (json_is_string(type) && strcmp(json_string_value(type), "issue") == 0);
}

static const char *line_remedy(const char *line, size_t size)
{
	static const char *const marks[] = { "<<<<<<<", "=======", ">>>>>>>" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (size >= strlen(marks[i]) && memcmp(line, marks[i], strlen(marks[i])) == 0)
			return "this is an unresolved merge conflict: resolve it";
	return "correct or remove the line, or let bd write the file again: bd export -o "
	    ".beads/issues.jsonl";
}

static bool is_blank(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	return true;
}

/* Returns false with *words. */
static bool take_line(struct pile *pile, const char *line, size_t size, char **words)
{
	json_t *object;
	bool ok;

	if (size > LINE_MAX_SIZE) {
		*words = xstrdup("it is longer than 4 MiB");
		return false;
	}
	object = value_read(line, size, LINE_VALUES, words);
	if (object == NULL)
		return false;
	ok = (json_is_object(object) && !is_issue(object)) || bead_read(pile_add(pile), object, pile->now, words);
	json_decref(object);
	return ok;
}

int beads_read_jsonl(const char *text, size_t size, struct task_list *list, char **error)
{
	struct pile pile = { .now = clock_wall() };
	size_t at = value_mark(text, size), number = 0;
	char *words;

	*list = (struct task_list){ 0 };
	if (size > SIZE_LIMIT) {
		*error = xstrdup(".beads/issues.jsonl is longer than 64 MiB; install bd, or remove "
		    "closed issues");
		return -1;
	}
	while (at < size) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end != NULL ? (size_t)(end - text) - at : size - at;

		number++;
		if (!is_blank(text + at, length) && !take_line(&pile, text + at, length, &words)) {
			*error = xasprintf(".beads/issues.jsonl:%zu: %s; %s", number, words,
			    line_remedy(text + at, length));
			free(words);
			pile_release(&pile);
			return -1;
		}
		at += length + 1;
	}
	pile_sort(&pile);
	beads_work_out(pile.beads, pile.count);
	pile_move(&pile, list);
	return 0;
}

/* ---- bd --json ---- */

/* The content of {"schema_version", "data"}, or the value itself. */
static json_t *unwrapped(json_t *value)
{
	json_t *data = json_object_get(value, "schema_version") != NULL ? json_object_get(value, "data") : NULL;

	if (data == NULL)
		return value;
	json_incref(data);
	json_decref(value);
	return data;
}

json_t *bd_answer(const char *text, size_t size, char **error)
{
	json_t *value, *list;
	const json_t *said;

	if (size > SIZE_LIMIT) {
		*error = xstrdup("bd printed more than 64 MiB");
		return NULL;
	}
	if (is_blank(text, size)) {
		*error = xstrdup("bd printed nothing");
		return NULL;
	}
	value = value_read(text, size, ANSWER_VALUES, error);
	if (value == NULL)
		return NULL;
	value = unwrapped(value);
	if (json_is_array(value))
		return value;
	said = json_object_get(value, "error");
	if (said != NULL) {
		const char *words = json_is_string(said) ? json_string_value(said) :
		    "bd reported a failure";

		*error = text_escape(words, strlen(words), false);
	} else if (!json_is_object(value) && !json_is_null(value)) {
		*error = xasprintf("bd printed %s instead of issues", value_kind(value));
	} else {
		list = json_array();
		if (json_is_object(value))
			json_array_append(list, value);
		json_decref(value);
		return list;
	}
	json_decref(value);
	return NULL;
}

int bd_list(const json_t *answer, struct task_list *list, char **error)
{
	struct pile pile = { .now = clock_wall() };
	const json_t *one;
	char *words;
	size_t i;

	*list = (struct task_list){ 0 };
	json_array_foreach(answer, i, one) {
		if (!bead_read(pile_add(&pile), one, pile.now, &words)) {
			*error = xasprintf("issue %zu in the output of bd: %s", i + 1, words);
			free(words);
			pile_release(&pile);
			return -1;
		}
	}
	pile_sort(&pile);
	for (i = 0; i < pile.count; i++)
		/* bd would take it as an option */
		pile.beads[i].item.ready = pile.beads[i].item.id[0] != '-';
	pile_move(&pile, list);
	return 0;
}

static char **blockers(const json_t *object)
{
	const json_t *one;
	char **ids = NULL;
	size_t i;

	json_array_foreach(json_object_get(object, "blocked_by"), i, one)
		if (json_is_string(one))
			strings_append(&ids, json_string_value(one));
	return ids;
}

void bd_list_blocked(const json_t *answer, struct task_list *list)
{
	int64_t now = clock_wall();
	json_t *known = json_object();	/* indexed by id: there may be thousands of each */
	const json_t *one;
	struct bead bead;
	char *words;
	size_t i;

	for (i = 0; i < list->count; i++)
		json_object_set_new_nocheck(known, list->items[i].id, json_true());
	json_array_foreach(answer, i, one) {
		if (!bead_read(&bead, one, now, &words)) {
			free(words);
		} else if (bead.idle && bead.item.id[0] != '-' && json_object_get(known,
		    bead.item.id) == NULL && (bead.item.held_by = blockers(one)) != NULL) {
			json_object_set_new_nocheck(known, bead.item.id, json_true());
			*list_add(list) = bead.item;
			bead.item = (struct task_item){ 0 };
		}
		bead_release(&bead);
	}
	json_decref(known);
	list_sort(list, true);
}
