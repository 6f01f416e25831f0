/* SPDX-License-Identifier: MIT */
#include "verdict/echo.h"

#include <stdlib.h>
#include <string.h>

#include "base/strip.h"
#include "proto/memory.h"
#include "verdict/extract.h"

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool same_words(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (is_white(*a))
			a++;
		while (is_white(*b))
			b++;
		if (*a != *b)
			return false;
		if (*a == '\0')
			return true;
	}
}

static bool same_value(const json_t *a, const json_t *b);

static bool same_members(const json_t *a, const json_t *b)
{
	const char *name;
	json_t *value;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach((json_t *)a, name, value) {
		if (!same_value(value, json_object_get(b, name)))
			return false;
	}
	return true;
}

static bool same_elements(const json_t *a, const json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++) {
		if (!same_value(json_array_get(a, i), json_array_get(b, i)))
			return false;
	}
	return true;
}

static bool same_value(const json_t *a, const json_t *b)
{
	if (json_is_object(a) && json_is_object(b))
		return same_members(a, b);
	if (json_is_array(a) && json_is_array(b))
		return same_elements(a, b);
	if (json_is_string(a) && json_is_string(b))
		return same_words(json_string_value(a), json_string_value(b));
	if (json_is_number(a) && json_is_number(b))
		return !(json_number_value(a) < json_number_value(b)) && !(json_number_value(a) > json_number_value(b));
	return a != NULL && b != NULL && json_typeof(a) == json_typeof(b);
}

static size_t depth_of(const json_t *value)
{
	const char *name;
	size_t deepest = 0, depth, i;
	json_t *inner;

	json_object_foreach((json_t *)value, name, inner) {
		depth = depth_of(inner);
		deepest = depth > deepest ? depth : deepest;
	}
	json_array_foreach((json_t *)value, i, inner) {
		depth = depth_of(inner);
		deepest = depth > deepest ? depth : deepest;
	}
	return json_is_object(value) || json_is_array(value) ? deepest + 1 : 0;
}

/* Size of the object at the start of the text, by its brackets; 0: none, or one that is deeper. */
static size_t object_size(const char *text, size_t size, size_t deepest)
{
	size_t depth = 0;
	bool string = false;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				string = false;
		} else if (c == '"') {
			string = true;
		} else if (c == '{' || c == '[') {
			if (++depth > deepest)
				return 0;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

/* A program that has read an object with a name twice prints the last one only. */
static bool is_same(const char *text, size_t size, const json_t *object)
{
	json_t *value = json_loadb(text, size, 0, NULL);
	bool same = value != NULL && same_value(value, object);

	json_decref(value);
	return same;
}

static bool stands_in(const char *text, size_t size, const json_t *object)
{
	const size_t deepest = depth_of(object);
	const char *at = text, *end = size > 0 ? text + size : text;

	for (; at < end && (at = memchr(at, '{', (size_t)(end - at))) != NULL; at++) {
		const char *next = at + 1;
		size_t length;

		while (next < end && is_white(*next))
			next++;
		if (next == end || (*next != '"' && *next != '}'))
			continue;
		length = object_size(at, (size_t)(end - at), deepest);
		if (length > 0 && is_same(at, length, object))
			return true;
	}
	return false;
}

/* The lines of a diff that begin with one of the marks, without it. */
static void add_lines(struct buf *out, const struct echo_text *diff, const char *marks)
{
	const char *end = diff->data + diff->size;

	for (const char *line = diff->data, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		next = stop != NULL ? stop + 1 : end;
		if (*line != '\0' && strchr(marks, *line) != NULL)
			buf_add(out, line + 1, (size_t)(next - line) - 1);
	}
}

/* Length of the escape after a backslash, which git writes in quoted names, and its byte. */
static size_t unescape(const char *text, size_t left, char *byte)
{
	static const char names[] = "abtnvfr\"\\", bytes[] = "\a\b\t\n\v\f\r\"\\";
	const char *name = left > 0 && *text != '\0' ? strchr(names, *text) : NULL;
	int value = 0;

	if (name != NULL) {
		*byte = bytes[name - names];
		return 1;
	}
	if (left < 3 || text[0] < '0' || text[0] > '3')
		return 0;
	for (int i = 0; i < 3; i++) {
		if (text[i] < '0' || text[i] > '7')
			return 0;
		value = value * 8 + (text[i] - '0');
	}
	*byte = (char)value;
	return 3;
}

/* The header lines of a diff, with the names in them as they are. */
static void add_names(struct buf *out, const struct echo_text *diff)
{
	static const char *const headers[] = { "diff --git ", "+++ ", "--- ", "rename ", "copy ", "Binary files " };
	const char *end = diff->data + diff->size;

	for (const char *line = diff->data, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		bool header = false;

		next = stop != NULL ? stop + 1 : end;
		for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
			header |= (size_t)(next - line) > strlen(headers[i]) &&
			    memcmp(line, headers[i], strlen(headers[i])) == 0;
		for (const char *p = line; header && p < next; p++) {
			char byte = *p;

			if (*p == '\\')
				p += unescape(p + 1, (size_t)(next - p) - 1, &byte);
			buf_add(out, &byte, 1);
		}
	}
}

/* All lines, the new and the old file, and what was added or removed. */
static bool stands_in_diff(const struct echo_text *diff, const json_t *object)
{
	static const char *const marks[] = { "+- ", "+ ", "- ", "+", "-" };
	struct buf text = { 0 };
	bool found = false;

	for (size_t i = 0; !found && i < sizeof(marks) / sizeof(marks[0]); i++) {
		text.size = 0;
		add_lines(&text, diff, marks[i]);
		found = stands_in(text.data, text.size, object);
	}
	if (!found) {
		text.size = 0;
		add_names(&text, diff);
		found = stands_in(text.data, text.size, object);
	}
	buf_release(&text);
	return found;
}

/* The text as a program prints it that has it as a string: without one level of escapes. */
static bool stands_in_string(const struct echo_text *text, const json_t *object)
{
	struct buf plain = { 0 };
	bool found;

	for (size_t i = 0; i < text->size; i++) {
		char byte = text->data[i];

		if (byte == '\\')
			i += unescape(text->data + i + 1, text->size - i - 1, &byte);
		buf_add(&plain, &byte, 1);
	}
	found = plain.size < text->size && stands_in(plain.data, plain.size, object);
	buf_release(&plain);
	return found;
}

static bool stands_in_text(const struct echo_text *text, const json_t *object)
{
	return stands_in(text->data, text->size, object) || (text->diff && stands_in_diff(text, object)) ||
	    stands_in_string(text, object);
}

bool echo_found(const struct echo_text *text, const json_t *object)
{
	struct echo_text plain = { .diff = text->diff };
	bool found = text->data != NULL && stands_in_text(text, object);
	char *stripped = text->data != NULL && !found ? strip_escapes(text->data, text->size, &plain.size) : NULL;

	plain.data = stripped;
	found = found || (stripped != NULL && stands_in_text(&plain, object));
	free(stripped);
	return found;
}
