/* SPDX-License-Identifier: MIT */
/* Shared by the readers of all sources: a growing list of tasks, its order, and its validation as a
 * whole. Pure. */
#ifndef TASK_LIST_H
#define TASK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "task/task.h"

struct list_fault {
	size_t item;		/* which task */
	size_t dependency;	/* index in its depends_on; SIZE_MAX: the task itself */
	char *words;		/* a sentence with the remedy, without the place; malloc'd */
};

/* Append an item, zeroed, without a priority or a number of reviews. Valid until the next call. */
struct task_item *list_add(struct task_list *list);

/* Free the strings of an item and zero it. */
void task_item_release(struct task_item *item);

/* Sort by priority, with missing ones last; then by position, or by id. */
void list_sort(struct task_list *list, bool by_id);

/* Why id is invalid, a sentence without a place; NULL: it is valid. */
const char *list_id_fault(const char *id);

/* Check that ids are valid and unique, and that dependencies exist and form no cycle. False: *fault
 * is the first mistake. */
bool list_check(const struct task_list *list, struct list_fault *fault);

#endif
