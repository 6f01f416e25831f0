/* SPDX-License-Identifier: MIT */
#include "verdict/extract.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/strip.h"
#include "proto/memory.h"

/* A part of the text that was meant to be an object. */
struct slice {
	size_t start, size;
	bool broken;		/* known without parsing */
	/* part of an array, or of an object in prose: no verdict, but it may contradict one */
	bool inside;
};

struct scan {
	const char *text;
	size_t size;
	size_t window;		/* text before this offset is ignored */
	char *quoted;		/* the quoted key, owned */
	bool everywhere;	/* every { counts, not only at the beginning of a line */
	struct slice slices[EXTRACT_OBJECTS];	/* a ring: number n is at n % EXTRACT_OBJECTS */
	size_t count;		/* of all slices, including those dropped from the ring */
	size_t inside;		/* text before this offset is inside an array, or an
				 * object in prose */
	bool stale;		/* something that was ignored mentions the key */
};

/* The position of a { on its line. */
enum place {
	PLACE_FIRST,		/* at the beginning of a line or in a fence: a candidate */
	/* on the line where a candidate ended: also one, so that "{...} {...}" are two */
	PLACE_BEHIND,
	PLACE_INNER		/* in prose */
};

/* Offset after the bracket that closes the one at start, respecting strings and escapes; 0:
 * none. */
static size_t balance(const char *text, size_t size, size_t start, size_t *deepest)
{
	const char open = text[start], close = open == '{' ? '}' : ']';
	size_t same = 0, other = 0;
	bool string = false;

	*deepest = 0;
	for (size_t i = start; i < size; i++) {
		char c = text[i];

		if (string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				string = false;
			continue;
		}
		if (c == '"')
			string = true;
		else if (c == open)
			same++;
		else if (c == close)
			same--;
		else if (c == '{' || c == '[')
			other++;
		else if ((c == '}' || c == ']') && other > 0)
			other--;
		if (same == 0)
			return i + 1;
		if (same + other > *deepest)
			*deepest = same + other;
	}
	return 0;
}

static bool mentions(const struct scan *s, size_t start, size_t size)
{
	return memmem(s->text + start, size, s->quoted, strlen(s->quoted)) != NULL;
}

/* Objects beyond the limits are not parsed. One with the key in plain sight may contradict the
 * verdict. */
static void push(struct scan *s, size_t start, size_t end, bool broken)
{
	struct slice *place = &s->slices[s->count % EXTRACT_OBJECTS];

	if (end <= s->window) {
		s->stale |= mentions(s, start, end - start);
		return;
	}
	if (s->count >= EXTRACT_OBJECTS)
		s->stale |= mentions(s, place->start, place->size);
	*place = (struct slice){ start, end - start, broken || start < s->window, start < s->inside };
	s->count++;
}

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_white(const char *text, size_t size, size_t i)
{
	while (i < size && is_white(text[i]))
		i++;
	return i;
}

/* Length of a fence opening at i, including its info word; 0: none. */
static size_t fence_length(const char *text, size_t size, size_t i)
{
	size_t n = i;

	while (n < size && (text[n] == '`' || text[n] == '~') && text[n] == text[i])
		n++;
	if (n - i < 3)
		return 0;
	while (n < size && (isalnum((unsigned char)text[n]) || strchr("_+-.", text[n]) != NULL) && text[n] != '\0')
		n++;
	return n - i;
}

/* Whether a [ opens JSON rather than "[x] done". */
static bool opens_array(const char *text, size_t size, size_t i)
{
	i = skip_white(text, size, i + 1);
	return i < size && (isdigit((unsigned char)text[i]) || (text[i] != '\0' && strchr("{[\"-", text[i]) != NULL));
}

/* Whether an object with a member, or an array of such, begins in the middle of a line: {"name": or
 * [{"name": and the like. Other braces in code and prose need not be balanced, so they are not
 * JSON. */
static bool opens_member(const char *text, size_t size, size_t i)
{
	if (text[i] == '[')
		i = skip_white(text, size, i + 1);
	if (i >= size || text[i] != '{')
		return false;
	i = skip_white(text, size, i + 1);
	if (i >= size || text[i] != '"')
		return false;
	do
		i++;
	while (i < size && (isalnum((unsigned char)text[i]) || text[i] == '_' || text[i] == '-'));
	if (i >= size || text[i] != '"')
		return false;
	i = skip_white(text, size, i + 1);
	return i < size && text[i] == ':';
}

/* Something opens at i whose content must not be taken as a verdict. An array with the key is no
 * verdict either; an object in prose must be complete, or it is broken. */
static void enclose(struct scan *s, size_t i, bool array)
{
	size_t deepest, end = balance(s->text, s->size, i, &deepest);

	if (array)
		s->stale |= mentions(s, i, (end > 0 ? end : s->size) - i);
	else if (end == 0)
		push(s, i, s->size, true);
	s->inside = end > 0 ? end : s->size;
}

/* Collect the slices. One that is never balanced takes the rest of the text: nothing inside it is
 * examined. */
static void scan_run(struct scan *s)
{
	enum place place = PLACE_FIRST;
	size_t i = 0, end, deepest, fence;

	while (i < s->size) {
		char c = s->text[i];

		if (is_white(c)) {
			if (c == '\n' || c == '\r')
				place = PLACE_FIRST;
			i++;
		} else if (c == '{' && (s->everywhere || place != PLACE_INNER)) {
			end = balance(s->text, s->size, i, &deepest);
			push(s, i, end > 0 ? end : s->size, end == 0 || deepest > EXTRACT_DEPTH);
			i = end > 0 ? end : s->size;
			place = PLACE_BEHIND;
		} else if (place == PLACE_FIRST && (fence = fence_length(s->text, s->size, i)) > 0) {
			i += fence;
		} else {
			if (!s->everywhere && i >= s->inside) {
				if (place == PLACE_FIRST && c == '[' && opens_array(s->text, s->size, i))
					enclose(s, i, true);
				else if ((c == '{' || c == '[') && opens_member(s->text, s->size, i))
					enclose(s, i, false);
			}
			if (place == PLACE_FIRST)
				place = PLACE_INNER;
			i++;
		}
	}
}

static void scan_init(struct scan *s, const char *text, size_t size, const char *key, bool everywhere)
{
	*s = (struct scan){ .text = text, .size = size, .everywhere = everywhere };
	s->window = size > EXTRACT_WINDOW ? size - EXTRACT_WINDOW : 0;
	s->quoted = xasprintf("\"%s\"", key);
	scan_run(s);
}

static void scan_release(struct scan *s)
{
	free(s->quoted);
}

/* The object of a slice, NULL if it is broken. jansson takes a raw NUL after a number as the end of
 * the text. */
static json_t *slice_parse(const struct scan *s, const struct slice *slice)
{
	if (slice->broken || memchr(s->text + slice->start, '\0', slice->size) != NULL)
		return NULL;
	return json_loadb(s->text + slice->start, slice->size, JSON_REJECT_DUPLICATES, NULL);
}

/* What the slices say, in their order. */
struct reading {
	struct extract found;
	enum extract_origin origin;	/* of the object that was found */
	json_t *copies;			/* the values of the key in copies, owned */
	/* a part that is broken stands before the first whole object with the key, or after the
	 * last; one with the key stands inside something else */
	bool first, after, inside;
};

/* Takes the object. The last one counts, but not before one that is surely the reviewer's. */
static void take(struct reading *r, json_t *object, const char *key, enum extract_origin origin)
{
	struct extract *found = &r->found;

	if (found->object != NULL && !json_equal(json_object_get(found->object, key), json_object_get(object, key)))
		found->conflict = true;
	r->after = false;
	if (r->origin == EXTRACT_OWN && origin == EXTRACT_PLAIN) {
		json_decref(object);
		return;
	}
	json_decref(found->object);
	found->object = object;
	found->result = EXTRACT_FOUND;
	r->origin = origin;
}

/* Likewise, of a slice. */
static void read_slice(struct reading *r, const struct slice *slice, json_t *object, const char *key,
    const struct extract_judge *judge)
{
	json_t *value = json_object_get(object, key);
	enum extract_origin origin = value != NULL && judge != NULL ? judge->origin(judge->arg, object) :
	    EXTRACT_PLAIN;

	r->found.foreign |= origin == EXTRACT_FOREIGN;
	if (value == NULL || origin == EXTRACT_COPY) {
		if (r->found.object == NULL && r->found.result != EXTRACT_ECHO)
			r->found.result = value == NULL ? EXTRACT_KEYLESS : EXTRACT_ECHO;
		if (value != NULL)
			json_array_append(r->copies, value);
		json_decref(object);
	} else if (slice->inside) {
		r->inside = true;
		json_decref(object);
	} else {
		take(r, object, key, origin);
	}
}

/* A plain one may itself be a copy of what cannot be compared: it must agree with the copies. */
static bool contradicts_copies(const struct reading *r, const char *key)
{
	json_t *value;
	size_t i;

	if (r->found.object == NULL || r->origin == EXTRACT_OWN)
		return false;
	json_array_foreach(r->copies, i, value) {
		if (!json_equal(value, json_object_get(r->found.object, key)))
			return true;
	}
	return false;
}

/* Read the slices in order: the last object with the key counts. broken: it is invalid, or none was
 * complete where one was meant. */
static struct extract scan_read(const struct scan *s, const char *key, const struct extract_judge *judge, bool *broken)
{
	struct reading r = { .found = { .result = EXTRACT_NO_OBJECT, .conflict = s->stale }, .copies = json_array() };

	for (size_t n = s->count > EXTRACT_OBJECTS ? s->count - EXTRACT_OBJECTS : 0; n < s->count; n++) {
		const struct slice *slice = &s->slices[n % EXTRACT_OBJECTS];
		json_t *object = slice_parse(s, slice);

		if (object == NULL) {
			r.first |= r.found.object == NULL;
			r.after = true;
		} else {
			read_slice(&r, slice, object, key, judge);
		}
	}
	r.found.conflict |= r.inside || contradicts_copies(&r, key);
	*broken = r.first || r.after || (r.inside && r.found.object == NULL);
	json_decref(r.copies);
	return r.found;
}

/* No object begins a line: use the one that ends the text. Closing marks of code may follow it. A
 * broken brace in prose means nothing, but complete objects with the key must agree here, too. */
static struct extract read_end(const char *text, size_t size, const char *key, const struct extract_judge *judge,
    enum extract_result otherwise)
{
	struct extract found = { .result = otherwise };
	struct slice *last;
	struct scan s;
	json_t *object;
	bool ignored;

	scan_init(&s, text, size, key, true);
	while (size > 0 && (is_white(text[size - 1]) || text[size - 1] == '`' || text[size - 1] == '~'))
		size--;
	last = &s.slices[(s.count + EXTRACT_OBJECTS - 1) % EXTRACT_OBJECTS];
	if (s.count > 0 && last->start + last->size == size && text[size - 1] == '}') {
		object = slice_parse(&s, last);
		if (object == NULL)
			found.result = EXTRACT_BROKEN;
		else if (json_object_get(object, key) == NULL)
			found.result = EXTRACT_KEYLESS;
		else
			found = scan_read(&s, key, judge, &ignored);
		json_decref(object);
	}
	scan_release(&s);
	return found;
}

/* JSON, but not an object: an array, a string, a number. */
static bool is_other_json(const char *text, size_t size)
{
	json_t *value;

	if (size > EXTRACT_WINDOW || memchr(text, '\0', size) != NULL)
		return false;
	value = json_loadb(text, size, JSON_DECODE_ANY, NULL);
	json_decref(value);
	return value != NULL;
}

static struct extract extract_search(const char *text, size_t size, const char *key, const struct extract_judge *judge)
{
	struct extract found = { .result = EXTRACT_EMPTY };
	struct scan s;
	bool broken, foreign;

	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}
	while (size > 0 && is_white(text[size - 1]))
		size--;
	if (size == 0)
		return found;
	scan_init(&s, text, size, key, false);
	found = scan_read(&s, key, judge, &broken);
	foreign = found.foreign;
	scan_release(&s);
	if (broken) {
		json_decref(found.object);
		return (struct extract){ .result = EXTRACT_BROKEN, .foreign = foreign };
	}
	if (found.object == NULL)
		found = read_end(text, size, key, judge, found.result);
	found.foreign |= foreign;
	if (found.result == EXTRACT_NO_OBJECT && is_other_json(text, size))
		found.result = EXTRACT_BROKEN;
	return found;
}

struct extract extract_find(const char *text, size_t size, const char *key, const struct extract_judge *judge)
{
	size_t stripped_size;
	char *stripped = strip_escapes(text, size, &stripped_size);
	struct extract found;

	found = stripped != NULL ? extract_search(stripped, stripped_size, key, judge) :
	    extract_search(text, size, key, judge);
	free(stripped);
	return found;
}

char *extract_got(const json_t *value)
{
	enum { LONGEST = 80 };
	char *json, *shortened;
	size_t size;

	if (value == NULL)
		return xstrdup("nothing");
	json = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT);
	if (json == NULL)
		abort();
	size = strlen(json);
	if (size <= LONGEST)
		return json;
	shortened = xasprintf("%.*s...", LONGEST, json);
	free(json);
	return shortened;
}

char *extract_invalid(const char *key, const char *expected, const json_t *got)
{
	char *json = extract_got(got);
	char *reason = xasprintf("missing or invalid %s: expected %s, got %s", key, expected, json);

	free(json);
	return reason;
}
