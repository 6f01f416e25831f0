/* SPDX-License-Identifier: MIT */
/* Makes text from agents and clients safe for a terminal or a log: control characters, bidi
 * overrides, invisible characters and invalid UTF-8 become visible; everything else is
 * unchanged. */
#ifndef PROTO_ESCAPE_H
#define PROTO_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Escape size bytes into a new string. keep_lines: LF and TAB stay; otherwise they become \n and
 * \t. C0, DEL, C1: \xNN (ESC: \x1b); bidi controls, line separators, zero-width and other format
 * characters, fillers, tags: \u{202e}; an invalid byte: \xNN. What scripts and emoji need stays
 * where it has an effect: a joiner U+200C-200D between two characters beyond ASCII, one variation
 * selector U+FE00-FE0F after such a character or a keycap's. */
char *text_escape(const char *data, size_t size, bool keep_lines);

/* Width of a UTF-8 string on a terminal in columns; wide characters count 2, combining ones 0. */
size_t text_width(const char *text);

/* Length in bytes of the longest prefix of a UTF-8 string that fits into so many columns; combining
 * characters stay with their base. */
size_t text_fit(const char *text, size_t columns);

/* Number of bytes at the end of data that begin an incomplete character: 0 to 3. */
size_t text_unfinished(const char *data, size_t size);

/* Whether data is valid UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool text_is_utf8(const char *data, size_t size);

#endif
