/* SPDX-License-Identifier: MIT */
/* Stop markers: an agent declares that there is nothing left to do. Pure. */
#ifndef TASK_MARKER_H
#define TASK_MARKER_H

#include <stddef.h>

/* The first of markers (NULL-terminated) that is a separate line of text, ignoring surrounding
 * white space and ASCII case; NULL: none. Lines in a Markdown fence or a quotation ("> ") are not
 * the agent's own and do not count; neither does an empty marker. */
const char *marker_in(const char *text, size_t size, char *const *markers);

#endif
