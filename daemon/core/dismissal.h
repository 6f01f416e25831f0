/* SPDX-License-Identifier: MIT */
/* Dismissals: decisions of users that a finding need not be fixed. A run has a list of them, and
 * recognises their findings by id, see core/findings.h. Pure. */
#ifndef CORE_DISMISSAL_H
#define CORE_DISMISSAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/findings.h"
#include "core/row.h"

struct dismissal {
	const char *task, *finding;	/* their ids */
	const char *text;		/* "src/foo.c:42: the finding" */
	const char *by;			/* "human:<user>" */
	const char *reason;
	const char *at;			/* RFC 3339 */
	int64_t by_uid, by_pid;		/* process that asked for it */
	/* run in which the finding was dismissed, and the number of its newest review then; 0:
	 * none */
	int64_t run, review;
};

/* The texts belong to json. */
struct dismissals {
	struct dismissal *list;
	size_t count;
	json_t *json;
};

/* Read such a list; NULL or no list: it is empty. */
struct dismissals dismissals_read(const char *list);
void dismissals_release(struct dismissals *d);

/* Append one. Returns the new list, malloc'd. */
char *dismissals_add(const char *list, const struct dismissal *d);

/* The dismissal of that finding, NULL: it is not dismissed. */
const struct dismissal *dismissals_find(const struct dismissals *d, const char *task, const char *finding);

/* Mark the dismissed ones among the findings that a review of the task has, and correct counts, as
 * of findings_compare(). */
void dismissals_mark(const struct dismissals *d, const char *task, struct finding_row *const *rows, size_t count,
    struct finding_counts *counts);

/* "ann", "ann, bob": the users who dismissed findings of these, each once. malloc'd; "": none
 * is dismissed. */
char *dismissals_users(const struct dismissals *d, const char *task, const struct finding_row *const *rows,
    size_t count);

#endif
