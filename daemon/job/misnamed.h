/* SPDX-License-Identifier: MIT */
/* Files whose names are nearly that of the review file: equal in letters and digits, upper and
 * lower case aside. A reviewer that wrote one has missed the name, and has not said that all is
 * well. Blocking: off the loop only. */
#ifndef JOB_MISNAMED_H
#define JOB_MISNAMED_H

#include <stddef.h>

/* Remembers in the file `note` which of them are below top, in any directory. review_file:
 * absolute, is none of them. skip: a directory that is not looked into. 0 or -errno: -EFBIG for
 * more of them than can be remembered. */
int misnamed_note(const char *top, const char *skip, const char *review_file, const char *note);

/* *found: the first one, relative to top, that is not as it was then, or is new. malloc'd;
 * NULL: there is none, or nothing was ever noted. 0, or -errno: it could not be found out,
 * and *found is NULL. */
int misnamed_find(const char *top, const char *skip, const char *review_file, const char *note, char **found);

#endif
