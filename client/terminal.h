/* SPDX-License-Identifier: MIT */
/* The terminal as a screen: plain ANSI sequences on standard output, keys from standard
 * input. There is one. */
#ifndef CLIENT_TERMINAL_H
#define CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Standard input and output are a terminal that knows more than to print. */
bool terminal_usable(void);

/* Take the terminal: alternate screen, no cursor, keys as they are pressed. It is given back by
 * terminal_close(), at exit, and when the program dies of a bug. 0 or -errno. */
int terminal_open(void);
/* As it was before. Harmless when it is not open. */
void terminal_close(void);

void terminal_size(size_t *columns, size_t *lines);

/* Show these lines from the top, of which only those are written that have changed. */
void terminal_draw(char *const *lines, size_t count);
/* Nothing on the screen is known any more: the next draw writes everything. */
void terminal_forget(void);

enum key { KEY_NONE, KEY_UP, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_ENTER, KEY_BACKSPACE, KEY_END, KEY_TEXT };

/* What was pressed, as far as it is there: KEY_NONE when there is no more, KEY_END when
 * nothing will come any more. *c: the character of a KEY_TEXT. Sequences that are no key of
 * ours are passed over. */
enum key terminal_key(char *c);

#endif
