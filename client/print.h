/* SPDX-License-Identifier: MIT */
/* An output stream and what may be written to it: colours, width, agents' text, JSON. */
#ifndef CLIENT_PRINT_H
#define CLIENT_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct print {
	FILE *file;
	bool terminal;
	bool color;
	size_t width;		/* columns; 0: no limit */
};

enum paint { PAINT_NONE, PAINT_BOLD, PAINT_DIM, PAINT_RED, PAINT_GREEN, PAINT_YELLOW, PAINT_CYAN };

/* when: "auto", "always", "never". auto: a terminal, unless NO_COLOR is set or TERM is dumb. */
void print_init(struct print *p, FILE *file, const char *when);

/* Columns of the terminal as it is now; 80 if it does not tell. */
size_t print_columns(FILE *file);

/* Escaped, on one line, in a colour. */
void print_painted(const struct print *p, enum paint paint, const char *text);
void print_painted_bytes(const struct print *p, enum paint paint, const char *data, size_t size);

void print_paintedf(const struct print *p, enum paint paint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Escape sequence that switches a colour on; "" for PAINT_NONE. */
const char *print_sequence(enum paint paint);

/* Escaped, and cut to so many columns (0: not cut). The caller frees. */
char *print_clip(const char *text, size_t columns);

/* With blanks in place of tabs, which would be escaped elsewhere. The caller frees. *untabbed: its
 * size; may be NULL. */
char *print_untabbed(const char *text, size_t size, size_t *untabbed);

/* Output of an agent: unchanged, except that control characters are made visible on a terminal. */
void print_agent_text(const struct print *p, const char *data, size_t size);

/* A JSON value and a newline. On a terminal all characters outside ASCII are escaped, because parts
 * of it come from agents. */
void print_json(const struct print *p, const json_t *value);
void print_json_indented(const struct print *p, const json_t *value);

/* Colour for the state of a run, slot or attempt, or for a decision. */
enum paint print_state_paint(const char *state);

/* As text with units, a new string that the caller frees; "" for FIELD_NONE and NaN. */
char *print_duration(int64_t ms);
char *print_age(int64_t time);		/* "3m 05s" since time */
char *print_clock(int64_t time);	/* local time, to the second */
char *print_cost(double usd);
char *print_count(int64_t n);		/* "950", "12.3k", "4.5M" */

#endif
