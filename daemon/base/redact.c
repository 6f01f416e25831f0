/* SPDX-License-Identifier: MIT */
#include "base/redact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/secret_patterns.h"
#include "proto/memory.h"

#define HEADS 1024

/* A value; those with the same hash of the first eight bytes form a chain, longest first. */
struct value {
	struct value *next;
	size_t size;
	char text[];
};

struct redactor {
	struct value *heads[HEADS];
};

struct redactor *redact_new(void)
{
	return xcalloc(1, sizeof(struct redactor));
}

void redact_free(struct redactor *redactor)
{
	if (redactor == NULL)
		return;
	for (size_t i = 0; i < HEADS; i++) {
		struct value *value = redactor->heads[i], *next;

		for (; value != NULL; value = next) {
			next = value->next;
			explicit_bzero(value->text, value->size);
			free(value);
		}
	}
	free(redactor);
}

/* Hash of the first REDACT_VALUE_MIN bytes. */
static size_t head_of(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	return (size_t)((word * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

static void redact_add_value(struct redactor *redactor, const char *text, size_t size)
{
	struct value **at, *value;

	if (size < REDACT_VALUE_MIN || secret_is_placeholder(text, size))
		return;
	for (at = &redactor->heads[head_of(text)]; *at != NULL && (*at)->size >= size; at = &(*at)->next)
		if ((*at)->size == size && memcmp((*at)->text, text, size) == 0)
			return;
	value = xcalloc(1, sizeof(*value) + size);
	value->size = size;
	memcpy(value->text, text, size);
	value->next = *at;
	*at = value;
}

#define LINE_MIN 16

/* The forms of a value: as in a JSON string, and each line of several. */
static void add_forms(struct redactor *redactor, const char *text, size_t size)
{
	struct buf quoted = { 0 };
	const char *end = text + size;

	if (memchr(text, '"', size) == NULL && memchr(text, '\\', size) == NULL && memchr(text, '\n', size) == NULL)
		return;
	for (const char *p = text; p < end; p++) {
		if (*p == '\n')
			buf_adds(&quoted, "\\n");
		else if (*p == '"' || *p == '\\')
			buf_addf(&quoted, "\\%c", *p);
		else
			buf_add(&quoted, p, 1);
	}
	redact_add_value(redactor, quoted.data, quoted.size);
	explicit_bzero(quoted.data, quoted.size);
	buf_release(&quoted);
	while (memchr(text, '\n', (size_t)(end - text)) != NULL) {
		size_t line = (size_t)((const char *)memchr(text, '\n', (size_t)(end - text)) - text);

		if (line >= LINE_MIN)
			redact_add_value(redactor, text, line);
		text += line + 1;
	}
	if (end - text >= LINE_MIN)
		redact_add_value(redactor, text, (size_t)(end - text));
}

void redact_add(struct redactor *redactor, const char *value)
{
	size_t size = strlen(value);

	while (size > 0 && strchr(" \t\r\n", value[size - 1]) != NULL)
		size--;
	while (size > 0 && strchr(" \t\r\n", *value) != NULL) {
		value++;
		size--;
	}
	redact_add_value(redactor, value, size);
	if (size > 0)
		add_forms(redactor, value, size);
}

/* The password in https://user:password@host. */
static void add_password(struct redactor *redactor, const char *value)
{
	const char *mark = strstr(value, "://");
	struct secret_scan scan = { .text = value, .size = strlen(value) };
	struct secret_match hit;

	if (mark == NULL || !secret_find(&scan, (size_t)(mark - value), &hit))
		return;
	redact_add_value(redactor, value + hit.from, hit.to - hit.from);
}

/* Paths of files and sockets are not redacted: knowing which one is missing helps, and reveals
 * nothing. */
static bool is_path(const char *value)
{
	if ((value[0] != '/' && strncmp(value, "~/", 2) != 0) ||
	    strpbrk(value, "+= \t\n") != NULL || strchr(value + 1, '/') == NULL)
		return false;
	/* base64 may also begin with and contain slashes */
	for (const char *p = value; *p != '\0'; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (secret_is_key(p, n))
			return false;
		p += n;
	}
	return true;
}

/* Names whose values have letters and digits but are no keys: users, places, ids. */
static bool is_told(const char *name, size_t size)
{
	static const char *const endings[] = {
		"USER", "LOGNAME", "NAME", "HOST", "MODEL", "VERSION", "PROJECT", "REGION",
		"LOCATION", "LANG", "URL", "TYPE", "FORMAT", "MODE", "LEVEL", "ID",
	};

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (size >= n && strncasecmp(name + size - n, endings[i], n) == 0)
			return true;
	}
	return false;
}

static bool redact_is_secret(const char *name, size_t size, const char *value)
{
	if (secret_is_name(name, size))
		return value == NULL || !is_path(value);
	return value != NULL && !is_told(name, size) && secret_is_key(value, strlen(value));
}

void redact_add_variable(struct redactor *redactor, const char *entry)
{
	size_t name = strcspn(entry, "=");
	const char *value = entry[name] == '=' ? entry + name + 1 : "";

	if (redact_is_secret(entry, name, value))
		redact_add(redactor, value);
	add_password(redactor, value);
}

/* Where the text really ends: a cut text ends with an ellipsis. */
static size_t cut_end(const char *text, size_t size)
{
	static const char *const marks[] = { "\xe2\x80\xa6", "..." };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t n = strlen(marks[i]);

		if (size >= n && memcmp(text + size - n, marks[i], n) == 0)
			return size - n;
	}
	return size;
}

/* Length of a value at the beginning of text, up to `end`: all of it, or what a cut left of it. 0:
 * none. */
static size_t value_at(const struct redactor *redactor, const char *text, size_t end)
{
	if (redactor == NULL || end < REDACT_VALUE_MIN)
		return 0;
	for (const struct value *v = redactor->heads[head_of(text)]; v != NULL; v = v->next) {
		size_t n = v->size < end ? v->size : end;

		if (memcmp(v->text, text, n) == 0)
			return n;
	}
	return 0;
}

/* Length at the beginning of text of the rest of a value whose beginning was cut off. */
static size_t rest_at(const struct redactor *redactor, const char *text, size_t size)
{
	size_t longest = 0;

	for (size_t i = 0; redactor != NULL && size >= REDACT_VALUE_MIN && i < HEADS; i++) {
		for (const struct value *v = redactor->heads[i]; v != NULL; v = v->next) {
			const char *p = v->text + 1, *end = v->text + v->size;

			while ((p = memmem(p, (size_t)(end - p), text, REDACT_VALUE_MIN)) != NULL) {
				size_t n = (size_t)(end - p);

				if (n <= size && n > longest && memcmp(p, text, n) == 0)
					longest = n;
				p++;
			}
		}
	}
	return longest;
}

/* A text being redacted into out. */
struct masking {
	struct buf out;
	size_t copied;		/* length of the text already in out */
};

static void redact_hide(struct masking *m, const char *text, size_t from, size_t to)
{
	/* adjacent ones become one */
	if (from > m->copied || m->copied == 0) {
		buf_add(&m->out, text + m->copied, from - m->copied);
		buf_adds(&m->out, SECRET_MARK);
	}
	m->copied = to;
}

char *redact_text(const struct redactor *redactor, const char *text, size_t length, size_t *size)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	struct secret_scan scan = { .text = text, .size = length };
	struct secret_match hit = { 0, 0 };	/* the next match, or none */
	struct masking m = { 0 };
	size_t end = cut_end(text, length), i = 0, n;

	if (length > strlen(ellipsis) && memcmp(text, ellipsis, strlen(ellipsis)) == 0)
		i = strlen(ellipsis);
	n = rest_at(redactor, text + i, end > i ? end - i : 0);
	if (n > 0) {
		redact_hide(&m, text, i, i + n);
		i += n;
	}
	while (i < length) {
		if (hit.to <= i && !secret_find(&scan, i, &hit))
			hit = (struct secret_match){ 0, 0 };
		n = i < end ? value_at(redactor, text + i, end - i) : 0;
		if (n == 0 && hit.to > i && hit.from <= i)
			n = hit.to - i;
		if (n > 0)
			redact_hide(&m, text, i, i + n);
		i += n > 0 ? n : 1;
	}
	if (m.copied == 0)
		return NULL;
	buf_add(&m.out, text + m.copied, length - m.copied);
	return buf_take(&m.out, size);
}

bool redact_string(const struct redactor *redactor, char **text)
{
	char *masked = *text != NULL ? redact_text(redactor, *text, strlen(*text), NULL) : NULL;

	if (masked == NULL)
		return false;
	free(*text);
	*text = masked;
	return true;
}

bool redact_hides(const char *name, const char *value)
{
	return redact_is_secret(name, strlen(name), value);
}
