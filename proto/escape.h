/* SPDX-License-Identifier: MIT */
/* Text from agents and clients, made safe for a terminal or a log: control characters, bidi overrides and invalid
 * UTF-8 become visible; the rest passes unchanged. */
#ifndef PROTO_ESCAPE_H
#define PROTO_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Escape size bytes into a new string. keep_lines: LF and TAB pass; otherwise they become \n and \t.
 * C0, DEL, C1: \xNN (ESC: \x1b); bidi controls U+202A-202E, U+2066-2069, U+200E-200F, U+061C, and the
 * line separators U+2028-2029: \u{202e}; a byte
 * that is not UTF-8: \xNN. */
char *text_escape(const char *data, size_t size, bool keep_lines);

/* Columns a UTF-8 string takes on a terminal; wide characters count 2, combining ones 0. */
size_t text_width(const char *text);

/* Bytes of the longest beginning of a UTF-8 string that takes at most so many columns; combining characters go with what they
 * combine with. */
size_t text_fit(const char *text, size_t columns);

/* How many bytes at the end of data begin a character that goes on behind them: 0 to 3. */
size_t text_unfinished(const char *data, size_t size);

/* True when data is valid UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool text_is_utf8(const char *data, size_t size);

#endif
