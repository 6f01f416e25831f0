/* SPDX-License-Identifier: MIT */
#include "task/list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define CYCLE_SHOWN 8	/* names of a cycle shown in a message */

/* An item and its position. */
struct entry {
	const struct task_item *item;
	size_t at;
};

struct task_item *list_add(struct task_list *list)
{
	size_t n = list->count;

	/* room is a power of two: full if the count is one */
	if ((n & (n - 1)) == 0)
		list->items = xreallocarray(list->items, n == 0 ? 1 : n * 2, sizeof(*list->items));
	list->items[n] = (struct task_item){ .priority = ROW_NONE, .max_reviews = ROW_NONE };
	list->count++;
	return &list->items[n];
}

void task_item_release(struct task_item *item)
{
	free(item->id);
	free(item->title);
	free(item->status);
	free(item->description);
	free(item->acceptance);
	strings_free(item->depends_on);
	strings_free(item->held_by);
	free(item->updated_at);
	free(item->agent);
	free(item->coder);
	free(item->reviewer);
	*item = (struct task_item){ 0 };
}

void task_list_release(struct task_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		task_item_release(&list->items[i]);
	free(list->items);
	free(list->project);
	free(list->description);
	*list = (struct task_list){ 0 };
}

/* ---- order ---- */

static int compare_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_priority(const struct entry *a, const struct entry *b)
{
	bool none_a = a->item->priority == ROW_NONE, none_b = b->item->priority == ROW_NONE;

	if (none_a || none_b)
		return none_a - none_b;
	return (a->item->priority > b->item->priority) - (a->item->priority < b->item->priority);
}

static int in_given_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by_priority = compare_priority(x, y);

	return by_priority != 0 ? by_priority : compare_number(x->at, y->at);
}

static int in_order_of_ids(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by_priority = compare_priority(x, y);

	return by_priority != 0 ? by_priority : strcmp(x->item->id, y->item->id);
}

static int by_id_only(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by_id = strcmp(x->item->id, y->item->id);

	return by_id != 0 ? by_id : compare_number(x->at, y->at);
}

/* All items, sorted; `count` of them. */
static struct entry *entries(const struct task_list *list, int (*compare)(const void *, const void *))
{
	struct entry *all = xcalloc(list->count + 1, sizeof(*all));

	for (size_t i = 0; i < list->count; i++)
		all[i] = (struct entry){ &list->items[i], i };
	qsort(all, list->count, sizeof(*all), compare);
	return all;
}

void list_sort(struct task_list *list, bool by_id)
{
	struct entry *all = entries(list, by_id ? in_order_of_ids : in_given_order);
	struct task_item *items;
	size_t room = 1;

	while (room < list->count)
		room *= 2;
	items = xcalloc(room, sizeof(*items));
	for (size_t i = 0; i < list->count; i++)
		items[i] = *all[i].item;
	free(list->items);
	list->items = items;
	free(all);
}

/* ---- what can be wrong ---- */

const char *list_id_fault(const char *id)
{
	size_t size = strlen(id);

	if (size == 0)
		return "the id is empty; give the task one";
	if (size > TASK_ID_MAX)
		return "the id is longer than 200 bytes; give the task a shorter one";
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)id[i];

		/* also C1 in UTF-8 */
		if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)id[i + 1] < 0xa0))
			return "the id contains a control character; remove it";
	}
	return NULL;
}

static char *shown(const char *id)
{
	return text_escape(id, strlen(id), false);
}

static bool bad(struct list_fault *fault, size_t item, size_t dependency, char *words)
{
	*fault = (struct list_fault){ item, dependency, words };
	return false;
}

static bool check_ids(const struct task_list *list, const struct entry *sorted, struct list_fault *fault)
{
	size_t twice = SIZE_MAX;
	char *id, *words;

	for (size_t i = 0; i < list->count; i++)
		if (list_id_fault(list->items[i].id) != NULL)
			return bad(fault, i, SIZE_MAX, xstrdup(list_id_fault(list->items[i].id)));
	for (size_t i = 1; i < list->count; i++)
		if (strcmp(sorted[i - 1].item->id, sorted[i].item->id) == 0 && sorted[i].at < twice)
			twice = sorted[i].at;
	if (twice == SIZE_MAX)
		return true;
	id = shown(list->items[twice].id);
	words = xasprintf("the id \"%s\" is used by two tasks; rename one of them", id);
	free(id);
	return bad(fault, twice, SIZE_MAX, words);
}

static int compare_key(const void *key, const void *member)
{
	return strcmp(key, ((const struct entry *)member)->item->id);
}

static size_t list_find(const struct task_list *list, const struct entry *sorted, const char *id)
{
	const struct entry *found = bsearch(id, sorted, list->count, sizeof(*sorted), compare_key);

	return found != NULL ? found->at : SIZE_MAX;
}

static bool check_names(const struct task_list *list, const struct entry *sorted, struct list_fault *fault)
{
	for (size_t i = 0; i < list->count; i++) {
		char **names = list->items[i].depends_on;

		for (size_t d = 0; names != NULL && names[d] != NULL; d++) {
			char *id, *on, *words;

			if (list_find(list, sorted, names[d]) != SIZE_MAX)
				continue;
			id = shown(list->items[i].id);
			on = shown(names[d]);
			words = xasprintf("\"%s\" depends on \"%s\", which does not exist; write "
			    "the id of another task, or remove it", id, on);
			free(id);
			free(on);
			return bad(fault, i, d, words);
		}
	}
	return true;
}

/* State of a search: the item, and which of its dependencies is being followed. */
struct step {
	size_t item, dependency;
};

/* The steps from first on form a cycle. */
static bool bad_cycle(const struct task_list *list, const struct step *path, size_t first,
    size_t depth, struct list_fault *fault)
{
	struct buf b = { 0 };

	buf_adds(&b, "the dependencies form a cycle: ");
	for (size_t i = first; i < depth; i++) {
		char *id = shown(list->items[path[i].item].id);

		if (i - first < CYCLE_SHOWN)
			buf_addf(&b, "%s -> ", id);
		else if (i - first == CYCLE_SHOWN)
			buf_addf(&b, "(%zu more) -> ", depth - i);
		free(id);
	}
	char *id = shown(list->items[path[first].item].id);

	buf_addf(&b, "%s; remove one of them", id);
	free(id);
	return bad(fault, path[depth - 1].item, path[depth - 1].dependency, buf_take(&b, NULL));
}

/* Depth first, without recursion: a chain may be as long as the list. */
static bool check_cycles(const struct task_list *list, const struct entry *sorted, struct list_fault *fault)
{
	enum { UNSEEN, ON_PATH, SEEN };
	char *seen = xcalloc(list->count + 1, 1);
	struct step *path = xcalloc(list->count + 1, sizeof(*path));
	bool ok = true;

	for (size_t i = 0; ok && i < list->count; i++) {
		size_t depth = 0;

		if (seen[i] != UNSEEN)
			continue;
		path[depth++] = (struct step){ i, 0 };
		seen[i] = ON_PATH;
		while (ok && depth > 0) {
			struct step *top = &path[depth - 1];
			char **names = list->items[top->item].depends_on;
			size_t on;

			if (names == NULL || names[top->dependency] == NULL) {
				seen[top->item] = SEEN;
				if (--depth > 0)
					path[depth - 1].dependency++;
				continue;
			}
			on = list_find(list, sorted, names[top->dependency]);
			if (seen[on] == ON_PATH) {
				size_t first = 0;

				while (path[first].item != on)
					first++;
				ok = bad_cycle(list, path, first, depth, fault);
			} else if (seen[on] == UNSEEN) {
				seen[on] = ON_PATH;
				path[depth++] = (struct step){ on, 0 };
			} else {
				top->dependency++;
			}
		}
	}
	free(seen);
	free(path);
	return ok;
}

bool list_check(const struct task_list *list, struct list_fault *fault)
{
	struct entry *sorted = entries(list, by_id_only);
	bool ok = check_ids(list, sorted, fault) && check_names(list, sorted, fault) &&
	    check_cycles(list, sorted, fault);

	free(sorted);
	return ok;
}
