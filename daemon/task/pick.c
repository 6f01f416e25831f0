/* SPDX-License-Identifier: MIT */
#include "task/pick.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/memory.h"
#include "proto/scan.h"

#define LINE_KEPT ((size_t)64 * 1024)

struct pick {
	char **ids;		/* sorted and unique */
	size_t count;
	struct buf line;	/* a line without an end so far */
	bool cut;		/* ... and its excess was dropped */
	const char *picked;	/* one of ids */
};

/* Phrases printed by agents and their tools when they start a task. */
static const char *const phrases[] = { "updated issue:", "updated task:", "bd update", "tsq update" };

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct pick *pick_new(char *const *ids)
{
	struct pick *pick = xcalloc(1, sizeof(*pick));
	size_t kept = 0;

	pick->ids = strings_copy(ids);
	pick->count = strings_count(ids);
	if (pick->count > 0)
		qsort(pick->ids, pick->count, sizeof(char *), compare);
	for (size_t i = 0; i < pick->count; i++) {
		if (pick->ids[i][0] == '\0' || (kept > 0 && strcmp(pick->ids[kept - 1], pick->ids[i]) == 0))
			free(pick->ids[i]);
		else
			pick->ids[kept++] = pick->ids[i];
	}
	if (pick->ids != NULL)
		pick->ids[kept] = NULL;
	pick->count = kept;
	return pick;
}

void pick_free(struct pick *pick)
{
	if (pick == NULL)
		return;
	strings_free(pick->ids);
	buf_release(&pick->line);
	free(pick);
}

const char *pick_id(const struct pick *pick)
{
	return pick->picked;
}

/* ---- an id in a text ---- */

static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_';
}

static bool joins(unsigned char c)
{
	return c == '-' || c == '.';
}

/* x-7 must not be followed by a letter, nor by a dot or dash and a letter: x-7.1 is another id,
 * "x-7." is not. */
static bool ends_at(const char *text, size_t size, size_t at)
{
	while (at < size && joins((unsigned char)text[at]))
		at++;
	return at == size || !is_word((unsigned char)text[at]);
}

static bool begins_at(const char *text, size_t at)
{
	while (at > 0 && joins((unsigned char)text[at - 1]))
		at--;
	return at == 0 || !is_word((unsigned char)text[at - 1]);
}

/* First of lo..hi whose byte at depth is not below c; the ids agree in all bytes before it. */
static size_t lower(const struct pick *p, size_t lo, size_t hi, size_t depth, unsigned c)
{
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;

		if ((unsigned char)p->ids[middle][depth] < c)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* The longest id at text[at]; NULL: none. */
static const char *id_at(const struct pick *p, const char *text, size_t size, size_t at)
{
	size_t lo = 0, hi = p->count, depth = 0;
	const char *found = NULL;

	while (lo < hi) {
		/* the shortest comes first */
		if (p->ids[lo][depth] == '\0' && depth > 0 && ends_at(text, size, at + depth))
			found = p->ids[lo];
		if (at + depth == size)
			break;
		hi = lower(p, lo, hi, depth, (unsigned)(unsigned char)text[at + depth] + 1);
		lo = lower(p, lo, hi, depth, (unsigned char)text[at + depth]);
		if (text[at + depth] == '\0')
			break;
		depth++;
	}
	return found;
}

/* ---- a text ---- */

/* The id after the first phrase that has one. */
static const char *explicit_id(const struct pick *p, const char *text, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		if (strchr("uUbBtT", text[at]) == NULL || text[at] == '\0' ||
		    (at > 0 && (is_word((unsigned char)text[at - 1]) || text[at - 1] == '-')))
			continue;
		for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
			size_t n = strlen(phrases[i]), behind;
			const char *id;

			if (size - at < n || strncasecmp(text + at, phrases[i], n) != 0)
				continue;
			behind = at + n;
			/* also skip quotes and their escapes */
			while (behind < size && text[behind] != '\0' && strchr(" \t\\\"'`", text[behind]) != NULL)
				behind++;
			id = behind > at + n ? id_at(p, text, size, behind) : NULL;
			if (id != NULL)
				return id;
		}
	}
	return NULL;
}

/* The id that a line names, over all ways to read it. */
struct named {
	const char *id;
	bool several;
};

static void collect(const struct pick *p, const char *text, size_t size, struct named *named)
{
	for (size_t at = 0; at < size; at++) {
		const char *id = begins_at(text, at) ? id_at(p, text, size, at) : NULL;

		if (id == NULL)
			continue;
		named->several |= named->id != NULL && named->id != id;
		named->id = id;
		at += strlen(id) - 1;
	}
}

/* Search all strings of a document, except member names. Not deeper than scan_json() allows. */
static const char *look_into(const struct pick *p, const json_t *value, struct named *named)
{
	const char *name, *id = NULL;
	json_t *member;
	size_t i;

	if (json_is_string(value)) {
		collect(p, json_string_value(value), json_string_length(value), named);
		return explicit_id(p, json_string_value(value), json_string_length(value));
	}
	json_object_foreach((json_t *)value, name, member)
		if (id == NULL)
			id = look_into(p, member, named);
	json_array_foreach(value, i, member)
		if (id == NULL)
			id = look_into(p, member, named);
	return id;
}

static const char *look_as_json(const struct pick *p, const char *line, size_t size, struct named *named)
{
	size_t at = 0;
	json_t *document;
	const char *id;

	while (at < size && (line[at] == ' ' || line[at] == '\t'))
		at++;
	if (at == size || (line[at] != '{' && line[at] != '[') || scan_json(line + at, size - at) != SCAN_OK)
		return NULL;
	document = json_loadb(line + at, size - at, 0, NULL);
	id = document != NULL ? look_into(p, document, named) : NULL;
	json_decref(document);
	return id;
}

/* A whole line, or its beginning. */
static const char *pick_look(const struct pick *p, const char *line, size_t size, bool cut)
{
	struct named named = { 0 };
	const char *id = explicit_id(p, line, size);

	if (id == NULL)
		id = look_as_json(p, line, size, &named);
	if (id != NULL || cut)
		return id;	/* the missing part may name others */
	collect(p, line, size, &named);
	return named.several ? NULL : named.id;
}

static void end_line(struct pick *pick, const char *data, size_t size)
{
	size_t room = LINE_KEPT - pick->line.size;

	if (pick->line.size == 0 && size <= LINE_KEPT) {
		pick->picked = pick_look(pick, data, size, false);
		return;
	}
	buf_add(&pick->line, data, size < room ? size : room);
	pick->picked = pick_look(pick, pick->line.data, pick->line.size, pick->cut || size > room);
	buf_release(&pick->line);
	pick->cut = false;
}

bool pick_feed(struct pick *pick, const char *data, size_t size)
{
	while (pick->picked == NULL && size > 0) {
		const char *end = memchr(data, '\n', size);
		size_t length = end != NULL ? (size_t)(end - data) : size, room = LINE_KEPT - pick->line.size;

		if (end != NULL) {
			end_line(pick, data, length);
			length++;
		} else {
			buf_add(&pick->line, data, length < room ? length : room);
			pick->cut |= length > room;
		}
		data += length;
		size -= length;
	}
	return pick->picked != NULL;
}

bool pick_end(struct pick *pick)
{
	if (pick->picked == NULL && pick->line.size > 0)
		end_line(pick, "", 0);
	return pick->picked != NULL;
}
