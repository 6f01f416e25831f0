/* SPDX-License-Identifier: MIT */
/* Diffs and hunks as HTML, with a colour and a sign for each line. */
#ifndef CLIENT_PAGE_DIFF_VIEW_H
#define CLIENT_PAGE_DIFF_VIEW_H

#include <stdbool.h>

#include "client/page/diff_hunks.h"
#include "client/page/html.h"

/* All files of a diff. more: the command that shows all of a diff that is cut; NULL: it is
 * whole. */
void diff_view_all(struct html *h, const struct diff *diff, const char *more);

/* The hunk that a finding is about, around its line; mark: that line is marked. */
void diff_view_hunk(struct html *h, const char *file, const struct diff_hunk *hunk, long long line,
    bool mark);

#endif
