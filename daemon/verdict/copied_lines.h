/* SPDX-License-Identifier: MIT */
/* Whether a text without a form of its own is a copy of what its writer was given. Pure. */
#ifndef VERDICT_COPIED_LINES_H
#define VERDICT_COPIED_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "verdict/echo.h"

/* Each line of the text stands in the source, whatever its order, when only letters and digits are
 * compared, in lower case. Of a long text the first lines are compared, and a text with few letters
 * is no copy: "ok" stands in any. */
bool copied_lines(const struct echo_text *source, const char *text, size_t size);

#endif
