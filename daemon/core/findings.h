/* SPDX-License-Identifier: MIT */
/* Stable ids of findings, and their state from round to round. Pure. */
#ifndef CORE_FINDINGS_H
#define CORE_FINDINGS_H

#include <stdbool.h>

#include "core/row.h"

#define FINDING_ID 17	/* 16 hex digits and NUL */

/* Hash of file and text, white space and line numbers aside: "foo.c:12: x  is unset" and "foo.c:14:
 *                                                                          x is unset" are one. */
void finding_id(const char *file, const char *text, char id[FINDING_ID]);

/* Whether one of them has that id. */
bool findings_have(const struct finding_row *const *rows, size_t count, const char *id);

struct finding_counts {
	int64_t new, repeated, resolved;
};

/* Mark each finding of now as new or repeated compared with before (the previous round of the same
 * run and task), and count those of before that are gone. */
struct finding_counts findings_compare(struct finding_row *const *now, size_t nnow,
    const struct finding_row *const *before, size_t nbefore);

#endif
