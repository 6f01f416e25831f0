/* SPDX-License-Identifier: MIT */
/* Text from agents and clients, made safe for a terminal or a log: control characters, bidi
 * overrides, characters that are not seen, and invalid UTF-8 become visible; the rest
 * passes unchanged. */
#ifndef PROTO_ESCAPE_H
#define PROTO_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Escape size bytes into a new string. keep_lines: LF and TAB pass; otherwise they become \n and
 * \t. C0, DEL, C1: \xNN (ESC: \x1b); bidi controls, line separators, zero-width and other format
 * characters, fillers, tags: \u{202e}; a byte that is not UTF-8: \xNN. What scripts and emoji need
 * passes where it does something: a joiner U+200C-200D between two characters beyond ASCII, one
 * variation selector U+FE00-FE0F behind such a character or a keycap's. */
char *text_escape(const char *data, size_t size, bool keep_lines);

/* Columns a UTF-8 string takes on a terminal; wide characters count 2, combining ones 0. */
size_t text_width(const char *text);

/* Bytes of the longest beginning of a UTF-8 string that takes at most so many columns; combining
 * characters go with what they combine with. */
size_t text_fit(const char *text, size_t columns);

/* How many bytes at the end of data begin a character that goes on behind them: 0 to 3. */
size_t text_unfinished(const char *data, size_t size);

/* True when data is valid UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool text_is_utf8(const char *data, size_t size);

#endif
