/* SPDX-License-Identifier: MIT */
/* The terminal as a screen: plain ANSI sequences on standard output, keys from standard input.
 * There is only one. */
#ifndef CLIENT_TERMINAL_H
#define CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether standard input and output are a terminal with cursor control. */
bool terminal_usable(void);

/* Take the terminal over: alternate screen, no cursor, keys without Enter. terminal_close()
 * restores it, as do exit() and a crash. Returns 0 or -errno. */
int terminal_open(void);
/* Restore the terminal. Does nothing if it is not open. */
void terminal_close(void);

void terminal_size(size_t *columns, size_t *lines);

/* Show these lines from the top; only changed lines are written. */
void terminal_draw(char *const *lines, size_t count);
/* The content of the screen is unknown: the next draw writes all of it. */
void terminal_forget(void);

enum key { KEY_NONE, KEY_UP, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_LAST, KEY_ENTER,
	KEY_BACKSPACE, KEY_ESCAPE, KEY_END, KEY_TEXT, KEY_PASTED };

/* The next key: KEY_NONE if there is none yet, KEY_END at the end of the input. *c: a byte of the
 * character of a KEY_TEXT, or of a pasted text, which is no command: there it may be a newline or a
 * tab. KEY_ESCAPE: nothing follows it at once. Unknown sequences are skipped. */
enum key terminal_key(char *c);

#endif
