/* SPDX-License-Identifier: MIT */
/* Files with nearly the name of the review file: equal in letters and digits, ignoring case. A
 * reviewer that wrote one got the name wrong, and has not passed the work. Blocking: off the loop
 * only. */
#ifndef JOB_MISNAMED_H
#define JOB_MISNAMED_H

#include <stddef.h>

/* Record in the file `note` which of them exist below top, in any directory. review_file: absolute,
 * not included. skip: a directory to skip. Returns 0 or -errno: -EFBIG if there are too many. */
int misnamed_note(const char *top, const char *skip, const char *review_file, const char *note);

/* *found: the first one, relative to top, that is new or changed since then. malloc'd; NULL: none,
 * or nothing was recorded. Returns 0, or -errno with *found NULL if it is unknown. */
int misnamed_find(const char *top, const char *skip, const char *review_file, const char *note, char **found);

#endif
