/* SPDX-License-Identifier: MIT */
/* One line at the end of a terminal that is drawn over and over, below the lines that stay. */
#ifndef CLIENT_STATUS_LINE_H
#define CLIENT_STATUS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "client/print.h"

/* Zeroed except for print: nothing is shown. */
struct status_line {
	const struct print *print;
	char *shown;		/* NULL: no line */
	size_t columns;		/* of the terminal at that time */
};

/* Whether the stream is a terminal that can draw a line again. */
bool status_line_usable(const struct print *print);

/* Columns for the text, of the terminal as it is now: one less than it has, so that the cursor
 * stays on the line. */
size_t status_line_room(const struct status_line *line);

/* text: escaped and cut already. Nothing is drawn by a process in the background. */
void status_line_draw(struct status_line *line, const char *text);

/* Before anything else is printed, and at the end. */
void status_line_erase(struct status_line *line);

#endif
