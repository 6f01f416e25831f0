/* SPDX-License-Identifier: MIT */
/* Stop markers: an agent's word that there is nothing left to do. Pure. */
#ifndef TASK_MARKER_H
#define TASK_MARKER_H

#include <stddef.h>

/* The first of markers (NULL-terminated) that is a line of its own in text, white space around it
 * and ASCII letter case aside; NULL: none. Lines in a Markdown fence or a quotation ("> ") are
 * somebody else's words and do not count; neither does an empty marker. */
const char *marker_in(const char *text, size_t size, char *const *markers);

#endif
