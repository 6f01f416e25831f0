/* SPDX-License-Identifier: MIT */
/* What the readers of all sources share: a list of tasks that grows, is put in order and is looked
 * at as a whole. Pure. */
#ifndef TASK_LIST_H
#define TASK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "task/task.h"

struct list_fault {
	size_t item;		/* which task */
	size_t dependency;	/* position in its depends_on; SIZE_MAX: it is about
				 * the task itself */
	char *words;		/* a sentence with the remedy, without a place; malloc'd */
};

/* A new last item, zeroed, without a priority or a number of reviews. Valid until the next call. */
struct task_item *list_add(struct task_list *list);

/* One item's strings; the struct is zeroed. */
void task_item_release(struct task_item *item);

/* By priority, those without one last; then as they stand, or by id. */
void list_sort(struct task_list *list, bool by_id);

/* Why id can be none, a sentence without a place; NULL: it can. */
const char *list_id_fault(const char *id);

/* Ids are valid and unique, dependencies are there and form no cycle. False: *fault is the first
 * thing that is wrong. */
bool list_check(const struct task_list *list, struct list_fault *fault);

#endif
