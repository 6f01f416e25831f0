/* SPDX-License-Identifier: MIT */
/* The number of changed lines of each file of a patch. */
#ifndef CLIENT_DIFF_STAT_H
#define CLIENT_DIFF_STAT_H

#include <stddef.h>

#include "client/print.h"

/* A line per file, in the order of the patch, and one for all of them, as git diff --stat prints
 * them. Lines about files that the patch leaves out come first, as they are. */
void diff_stat_print(const struct print *p, const char *patch, size_t size);

#endif
