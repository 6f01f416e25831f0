/* SPDX-License-Identifier: MIT */
#include "client/web/form.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

static int form_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);

	return at == NULL ? -1 : (int)(at - digits);
}

/* The next character, and how many it takes. Returns false if it is malformed. */
static bool form_character(const char *at, size_t size, char *c, size_t *length)
{
	int high = *at == '%' && size >= 3 ? form_digit(at[1]) : -1, low = high >= 0 ? form_digit(at[2]) : -1;

	*length = *at == '%' ? 3 : 1;
	*c = *at == '+' ? ' ' : *at == '%' ? (char)(high * 16 + low) : *at;
	return *c != '\0' && (*at != '%' || low >= 0);
}

/* A name or a value, which the caller frees; NULL: malformed. */
static char *form_decode(const char *at, size_t size)
{
	struct buf text = { 0 };
	size_t length;
	char c;

	for (size_t i = 0; i < size; i += length) {
		if (!form_character(at + i, size - i, &c, &length)) {
			buf_release(&text);
			return NULL;
		}
		/* browsers send CR LF */
		if (c != '\r')
			buf_add(&text, &c, 1);
	}
	return buf_take(&text, NULL);
}

/* Returns false if the field is malformed. */
static bool form_add(json_t *form, const char *field, size_t size)
{
	const char *equals = memchr(field, '=', size);
	size_t length = equals == NULL ? size : (size_t)(equals - field);
	char *name = form_decode(field, length),
	     *value = equals == NULL ? xstrdup("") : form_decode(equals + 1, size - length - 1);
	bool good = name != NULL && value != NULL && json_object_size(form) < FORM_FIELDS_MAX &&
	    json_object_get(form, name) == NULL && json_object_set_new(form, name, json_string(value)) == 0;

	free(name);
	free(value);
	return good;
}

json_t *form_read(const char *body, size_t size)
{
	json_t *form = json_object();
	size_t from = 0;

	while (from < size) {
		const char *and = memchr(body + from, '&', size - from);
		size_t length = and == NULL ? size - from : (size_t)(and - body) - from;

		if (!form_add(form, body + from, length)) {
			json_decref(form);
			return NULL;
		}
		from += length + 1;
	}
	return form;
}

char *form_encode(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	struct buf out = { 0 };

	for (; *text != '\0'; text++) {
		if (strchr(plain, *text) != NULL)
			buf_add(&out, text, 1);
		else
			buf_addf(&out, "%%%02X", (unsigned char)*text);
	}
	return buf_take(&out, NULL);
}
