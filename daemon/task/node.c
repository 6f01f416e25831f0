/* SPDX-License-Identifier: MIT */
#include "task/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "proto/escape.h"
#include "proto/memory.h"

struct builder {
	yaml_parser_t parser;
	struct node *root;
	struct node *open[NODE_DEPTH_MAX];
	size_t depth;
	bool started;			/* a document has begun */
	char *error;
};

void node_free(struct node *node)
{
	if (node == NULL)
		return;
	/* at most NODE_DEPTH_MAX */
	for (size_t i = 0; i < node->count; i++)
		node_free(node->items[i]);
	free(node->items);
	free(node->text);
	free(node);
}

static bool node_fail(struct builder *b, yaml_mark_t at, const char *words)
{
	b->error = xasprintf("%zu:%zu: %s", at.line + 1, at.column + 1, words);
	return false;
}

static void add_item(struct node *to, struct node *item)
{
	size_t n = to->count;

	if ((n & (n - 1)) == 0)
		to->items = xreallocarray(to->items, n == 0 ? 1 : n * 2, sizeof(struct node *));
	to->items[to->count++] = item;
}

static bool expects_key(const struct builder *b)
{
	const struct node *in = b->depth > 0 ? b->open[b->depth - 1] : NULL;

	return in != NULL && in->kind == NODE_MAP && in->count % 2 == 0;
}

static struct node *add_node(struct builder *b, enum node_kind kind, yaml_mark_t at)
{
	struct node *node = xcalloc(1, sizeof(*node));

	node->kind = kind;
	node->line = at.line + 1;
	node->column = at.column + 1;
	if (b->depth > 0)
		add_item(b->open[b->depth - 1], node);
	else
		b->root = node;
	return node;
}

static bool begin(struct builder *b, const yaml_event_t *event, enum node_kind kind)
{
	if (expects_key(b))
		return node_fail(b, event->start_mark,
		    "a list or mapping is used as a key; keys are words");
	if (b->depth == NODE_DEPTH_MAX)
		return node_fail(b, event->start_mark,
		    "lists and mappings are nested more than 16 deep; simplify the file");
	b->open[b->depth] = add_node(b, kind, event->start_mark);
	b->depth++;
	return true;
}

static bool add_scalar(struct builder *b, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t size = event->data.scalar.length;
	struct node *node;

	if (memchr(text, '\0', size) != NULL)
		return node_fail(b, event->start_mark,
		    "the text contains a NUL character; remove it");
	node = add_node(b, NODE_TEXT, event->start_mark);
	node->text = xmemdup0(text, size);
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;
	int by_text = strcmp(x->text, y->text);

	if (by_text != 0)
		return by_text;
	return x->line != y->line ? (x->line > y->line) - (x->line < y->line) :
	    (x->column > y->column) - (x->column < y->column);
}

/* Check that the map that ends has no key twice. */
static bool end_map(struct builder *b, const struct node *map)
{
	size_t n = map->count / 2;
	struct node **keys = xcalloc(n + 1, sizeof(struct node *));
	const struct node *first = NULL, *again = NULL;
	char *shown;

	for (size_t i = 0; i < n; i++)
		keys[i] = map->items[2 * i];
	qsort(keys, n, sizeof(struct node *), compare_keys);
	for (size_t i = 1; again == NULL && i < n; i++) {
		if (strcmp(keys[i - 1]->text, keys[i]->text) == 0) {
			first = keys[i - 1];
			again = keys[i];
		}
	}
	free(keys);
	if (again == NULL)
		return true;
	shown = text_escape(again->text, strlen(again->text), false);
	b->error = xasprintf("%zu:%zu: the key \"%s\" is already in line %zu; remove one of them",
	    again->line, again->column, shown, first->line);
	free(shown);
	return false;
}

/* Anchors, aliases and tags. */
static bool is_plain_data(struct builder *b, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	}
	if (event->type == YAML_ALIAS_EVENT || anchor != NULL)
		return node_fail(b, event->start_mark,
		    "anchors (&) and aliases (*) are not supported; write the value out, or quote "
		    "the text");
	if (tag != NULL)
		return node_fail(b, event->start_mark,
		    "tags (!) are not supported; write only the value, or quote the text");
	return true;
}

static bool take_event(struct builder *b, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->started)
			return node_fail(b, event->start_mark,
			    "a second document begins; write each to a separate file");
		b->started = true;
		return true;
	case YAML_SEQUENCE_START_EVENT:
		return begin(b, event, NODE_LIST);
	case YAML_MAPPING_START_EVENT:
		return begin(b, event, NODE_MAP);
	case YAML_SEQUENCE_END_EVENT:
		b->depth--;
		return true;
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return end_map(b, b->open[b->depth]);
	case YAML_SCALAR_EVENT:
		return add_scalar(b, event);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
	case YAML_ALIAS_EVENT:
		return true;
	}
	return true;
}

/* Length of the line break at text, as defined by YAML 1.1, because the parser counts lines that
 * way; 0: none. */
static size_t break_size(const char *text, size_t size)
{
	static const char *const breaks[] = { "\r\n", "\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };

	for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++)
		if (size >= strlen(breaks[i]) && memcmp(text, breaks[i], strlen(breaks[i])) == 0)
			return strlen(breaks[i]);
	return 0;
}

static yaml_mark_t mark_at(const char *text, size_t offset)
{
	yaml_mark_t mark = { 0 };

	for (size_t i = 0; i < offset; i++) {
		size_t n = break_size(text + i, offset - i);

		if (n > 0) {
			mark.line++;
			mark.column = 0;
			i += n - 1;
		} else if ((text[i] & 0xc0) != 0x80) {
			mark.column++;
		}
	}
	return mark;
}

static bool parser_failed(struct builder *b, const char *text, size_t size)
{
	const yaml_parser_t *p = &b->parser;
	const char *problem = p->problem != NULL ? p->problem : "it cannot be read";
	yaml_mark_t at = p->problem_mark, end;
	char *words;

	/* invalid bytes are reported before there is a mark */
	if (p->error == YAML_READER_ERROR)
		return node_fail(b, mark_at(text, p->problem_offset < size ? p->problem_offset : size),
		    "a character that YAML does not allow; remove it");
	/* the parser counts a line after the last one */
	end = mark_at(text, size);
	if (at.line > end.line)
		at = end;
	words = xasprintf("%s%s%s; check the indentation and the quotes there",
	    p->context != NULL ? p->context : "", p->context != NULL ? ": " : "", problem);
	node_fail(b, at, words);
	free(words);
	return false;
}

static bool build(struct builder *b, const char *text, size_t size)
{
	yaml_event_t event;
	bool ok = true, over = false;

	while (ok && !over) {
		if (yaml_parser_parse(&b->parser, &event) == 0)
			return parser_failed(b, text, size);
		over = event.type == YAML_STREAM_END_EVENT;
		ok = is_plain_data(b, &event) && take_event(b, &event);
		yaml_event_delete(&event);
	}
	return ok;
}

struct node *node_read(const char *text, size_t size, char **error)
{
	struct builder b = { .depth = 0 };
	size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	bool ok;

	text += mark;
	size -= mark;
	if (size > NODE_SIZE_MAX)
		ok = node_fail(&b, (yaml_mark_t){ 0 }, "the file is longer than 1 MiB; split it");
	else if (memchr(text, '\0', size) != NULL)
		ok = node_fail(&b, mark_at(text, (size_t)((const char *)memchr(text, '\0', size) - text)),
		    "a NUL byte; write the file as UTF-8");
	else if (yaml_parser_initialize(&b.parser) == 0)
		abort();
	else {
		yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
		yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, size);
		ok = build(&b, text, size);
		yaml_parser_delete(&b.parser);
		if (ok && b.root == NULL)
			ok = node_fail(&b, (yaml_mark_t){ 0 }, "it is empty");
	}
	if (ok)
		return b.root;
	node_free(b.root);
	*error = b.error;
	return NULL;
}

const struct node *node_get(const struct node *map, const char *name)
{
	for (size_t i = 0; i + 1 < map->count; i += 2)
		if (strcmp(map->items[i]->text, name) == 0)
			return map->items[i + 1];
	return NULL;
}

/* ---- the core schema ---- */

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcmp(text, *words) == 0)
			return true;
	return false;
}

static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
static const char *const yes[] = { "true", "True", "TRUE", NULL };
static const char *const no[] = { "false", "False", "FALSE", NULL };
static const char *const no_numbers[] = { ".nan", ".NaN", ".NAN", NULL };
static const char *const endless[] = { ".inf", ".Inf", ".INF", NULL };

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

static bool is_int(const char *text)
{
	const char *unsign = text + (*text == '-' || *text == '+');

	if (strncmp(text, "0o", 2) == 0)
		return text[2] != '\0' && text[2 + strspn(text + 2, "01234567")] == '\0';
	if (strncmp(text, "0x", 2) == 0)
		return text[2] != '\0' && text[2 + strspn(text + 2, "0123456789abcdefABCDEF")] == '\0';
	return digits(unsign) > 0 && unsign[digits(unsign)] == '\0';
}

static bool is_real(const char *text)
{
	const char *at = text + (*text == '-' || *text == '+');
	size_t whole, part = 0;

	if (is_one_of(at, endless) || is_one_of(text, no_numbers))
		return true;
	whole = digits(at);
	at += whole;
	if (*at == '.') {
		part = digits(at + 1);
		at += part + 1;
	}
	if (whole + part == 0)
		return false;
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '-' || *at == '+';
		if (digits(at) == 0)
			return false;
		at += digits(at);
	}
	return *at == '\0';
}

bool node_is_null(const struct node *node)
{
	return node->kind == NODE_TEXT && node->plain && is_one_of(node->text, nulls);
}

bool node_to_bool(const struct node *node, bool *out)
{
	if (node->kind != NODE_TEXT || !node->plain)
		return false;
	*out = is_one_of(node->text, yes);
	return *out || is_one_of(node->text, no);
}

bool node_to_int(const struct node *node, int64_t *out)
{
	const char *text = node->text;
	int base = 10;

	if (node->kind != NODE_TEXT || !node->plain || !is_int(text))
		return false;
	if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x')) {
		base = text[1] == 'o' ? 8 : 16;
		text += 2;
	}
	errno = 0;
	*out = strtoll(text, NULL, base);
	return errno == 0;
}

const char *node_describe(const struct node *node)
{
	bool value;

	if (node->kind != NODE_TEXT)
		return node->kind == NODE_LIST ? "a list" : "a mapping";
	if (!node->plain)
		return "text";
	if (node_is_null(node))
		return "empty";
	if (node_to_bool(node, &value))
		return value ? "true" : "false";
	return is_int(node->text) || is_real(node->text) ? "a number" : "text";
}

bool node_is_string(const struct node *node)
{
	return node->kind == NODE_TEXT && strcmp(node_describe(node), "text") == 0;
}
