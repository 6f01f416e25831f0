/* SPDX-License-Identifier: MIT */
/* Disputes: a fixer says of a finding that it is mistaken, and why. A run has a list of them; the
 * next verdict on the task answers each: it repeats the finding, or drops it. Pure. */
#ifndef CORE_DISPUTE_H
#define CORE_DISPUTE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/row.h"

#define DISPUTE_REPEATED "repeated"
#define DISPUTE_DROPPED "dropped"

struct dispute {
	const char *task, *finding;	/* their ids */
	const char *text;		/* "src/foo.c:42: the finding" */
	const char *by;			/* name of the agent */
	const char *reason;
	const char *at;			/* RFC 3339 */
	/* DISPUTE_REPEATED, DISPUTE_DROPPED; NULL: no verdict yet */
	const char *answer;
	/* run in which it was disputed, and the attempt that did so */
	int64_t run, attempt;
};

/* The texts belong to json. */
struct disputes {
	struct dispute *list;
	size_t count;
	json_t *json;
};

/* Read such a list; NULL or no list: it is empty. */
struct disputes disputes_read(const char *list);
void disputes_release(struct disputes *d);

/* Append one. Returns the new list, malloc'd. */
char *disputes_add(const char *list, const struct dispute *d);

/* The newest dispute of that finding, NULL: there is none. */
const struct dispute *disputes_find(const struct disputes *d, const char *task, const char *finding);
/* Likewise, as long as no verdict has answered it. */
const struct dispute *disputes_pending(const struct disputes *d, const char *task, const char *finding);

/* A verdict on the task has said these, so it answers what is pending. Returns the new list,
 * malloc'd; NULL: nothing was. */
char *disputes_answer(const char *list, const char *task, const struct finding_row *const *said, size_t count);

/* A line "Disputed <id>: reason" of an answer. */
struct dispute_line {
	char *finding, *reason;
};

/* The first `max` of these lines that are the agent's own words, *count of them; *more: there are
 * others. White space and a list marker may precede one, back quotes enclose the id. Free with
 * dispute_lines_free(); NULL: none. */
struct dispute_line *dispute_lines(const char *text, size_t size, size_t max, size_t *count, bool *more);
void dispute_lines_free(struct dispute_line *lines, size_t count);

#endif
