/* SPDX-License-Identifier: MIT */
/* Stable ids of findings, and their state from round to round. Pure. */
#ifndef CORE_FINDINGS_H
#define CORE_FINDINGS_H

#include <stdbool.h>

#include "core/row.h"

#define FINDING_ID 17	/* 16 hex digits and NUL */

/* Hash of file and text, without what core/likeness.h leaves out. file: NULL: none. */
void finding_id(const char *file, const char *text, char id[FINDING_ID]);
/* The same by the rule of older versions, whose runs keep it: only white space and line numbers are
 * left out, and only of the text. */
void finding_id_first(const char *file, const char *text, char id[FINDING_ID]);

/* Whether it must be fixed: it was neither resolved, dismissed nor outvoted, and is no
 * suggestion. */
bool finding_is_open(const struct finding_row *finding);

/* Hash of the set of ids of the open ones, whatever their order; of the feedback if none is. */
void findings_set(const struct finding_row *const *rows, size_t count, const char *feedback, char set[FINDING_ID]);

/* Whether one of them has that id. */
bool findings_have(const struct finding_row *const *rows, size_t count, const char *id);

struct finding_counts {
	int64_t new, repeated, resolved;
	int64_t dismissed;	/* those that the review has, see core/dismissal.h */
	int64_t open;		/* those of them that must be fixed: finding_is_open() */
};

/* Mark each finding of now as new or repeated compared with before (the previous round of the same
 * run and task), and count those of before that are gone. */
struct finding_counts findings_compare(struct finding_row *const *now, size_t nnow,
    const struct finding_row *const *before, size_t nbefore);

#endif
