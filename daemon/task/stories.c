/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/row.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "task/list.h"
#include "task/task.h"
#include "task/value.h"

#define SIZE_LIMIT ((size_t)16 * 1024 * 1024)
#define VALUES_MAX 1000000
#define STORIES_MAX 10000

/* Words used in place of a number. */
static const struct {
	const char *word;
	int64_t priority;
} priorities[] = {
	{ "critical", 0 }, { "high", 1 }, { "medium", 2 }, { "low", 3 },
};

struct reader {
	struct task_list *list;
	char *error;
};

static bool stories_fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool stories_fail(struct reader *r, const char *fmt, ...)
{
	char *words;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	r->error = xasprintf("the PRD: %s", words);
	free(words);
	return false;
}

static bool take_priority(const json_t *story, struct task_item *item)
{
	const char *word = json_string_value(json_object_get(story, "priority"));

	for (size_t i = 0; word != NULL && i < sizeof(priorities) / sizeof(priorities[0]); i++) {
		if (strcasecmp(word, priorities[i].word) == 0) {
			item->priority = priorities[i].priority;
			return true;
		}
	}
	return value_take_priority(story, "priority", &item->priority);
}

static bool take_passes(const json_t *story, struct task_item *item)
{
	const json_t *passes = json_object_get(story, "passes");

	item->done = json_is_true(passes);
	return passes == NULL || json_is_boolean(passes) || json_is_null(passes);
}

/* The ids of stories that must pass first. */
static bool take_depends_on(const json_t *story, struct task_item *item)
{
	const json_t *list = json_object_get(story, "dependsOn"), *one;
	size_t i;

	if (list == NULL || json_is_null(list))
		return true;
	if (!json_is_array(list))
		return false;
	json_array_foreach(list, i, one) {
		char *id = value_id(one);

		if (id == NULL)
			return false;
		strings_append(&item->depends_on, id);
		free(id);
	}
	return true;
}

static bool wrong_type(struct reader *r, size_t i, const json_t *story, const char *name, const char *remedy)
{
	return stories_fail(r, "userStories[%zu]: \"%s\" is %s; %s", i, name,
	    value_kind(json_object_get(story, name)), remedy);
}

static bool take_story(struct reader *r, size_t i, const json_t *story)
{
	struct task_item *item;

	if (!json_is_object(story))
		return stories_fail(r, "userStories[%zu] is %s; each story is an object with an \"id\"",
		    i, value_kind(story));
	item = list_add(r->list);
	item->id = value_id(json_object_get(story, "id"));
	if (item->id == NULL) {
		item->id = xstrdup("");
		return wrong_type(r, i, story, "id", "give the story an id such as \"US-001\"");
	}
	if (!value_take_text(story, "title", &item->title))
		return wrong_type(r, i, story, "title", "write a string");
	if (!value_take_text(story, "description", &item->description))
		return wrong_type(r, i, story, "description", "write a string");
	if (!value_take_criteria(story, "acceptanceCriteria", &item->acceptance))
		return wrong_type(r, i, story, "acceptanceCriteria",
		    "write a list of strings, or one string");
	if (!take_priority(story, item))
		return wrong_type(r, i, story, "priority", "write an integer; 1 comes before 2");
	if (!take_depends_on(story, item))
		return wrong_type(r, i, story, "dependsOn", "write a list of ids of other stories");
	if (!take_passes(story, item))
		return wrong_type(r, i, story, "passes", "write true or false, without quotes");
	return true;
}

static bool take_document(struct reader *r, const json_t *document)
{
	const json_t *stories = json_object_get(document, "userStories"), *story;
	struct list_fault fault;
	size_t i;

	if (!json_is_object(document))
		return stories_fail(r, "it is %s; a PRD is an object with a list \"userStories\"",
		    value_kind(document));
	if (!json_is_array(stories))
		return stories_fail(r, "\"userStories\" is %s; write a list of stories", value_kind(stories));
	if (json_array_size(stories) == 0)
		return stories_fail(r, "\"userStories\" is empty; write at least one story");
	if (json_array_size(stories) > STORIES_MAX)
		return stories_fail(r, "it has more than %d stories; split it", STORIES_MAX);
	if (!value_take_text(document, "project", &r->list->project))
		return stories_fail(r, "\"project\" is %s; write a string",
		    value_kind(json_object_get(document, "project")));
	if (!value_take_text(document, "description", &r->list->description))
		return stories_fail(r, "\"description\" is %s; write a string",
		    value_kind(json_object_get(document, "description")));
	json_array_foreach(stories, i, story)
		if (!take_story(r, i, story))
			return false;
	if (!list_check(r->list, &fault)) {
		stories_fail(r, "userStories[%zu]: %s", fault.item, fault.words);
		free(fault.words);
		return false;
	}
	return true;
}

/* NULL with r->error. */
static json_t *parse(struct reader *r, const char *text, size_t size)
{
	json_t *document;
	char *words;

	if (size > SIZE_LIMIT) {
		stories_fail(r, "it is longer than 16 MiB; split it");
		return NULL;
	}
	document = value_read(text, size, VALUES_MAX, &words);
	if (document == NULL) {
		stories_fail(r, "%s", words);
		free(words);
	}
	return document;
}

int stories_read(const char *text, size_t size, struct task_list *list, char **error)
{
	struct reader r = { .list = list };
	json_t *document;
	bool ok;

	*list = (struct task_list){ 0 };
	document = parse(&r, text, size);
	ok = document != NULL && take_document(&r, document);
	json_decref(document);
	if (!ok) {
		task_list_release(list);
		*error = r.error;
		return -1;
	}
	list_sort(list, false);
	return 0;
}

/* ---- passes: true, in the form the file has. What follows walks over a text that is known
 * to be JSON. ---- */

static size_t skip_space(const char *text, size_t at)
{
	return at + strspn(text + at, " \t\r\n");
}

static size_t skip_string(const char *text, size_t at)
{
	for (at++; text[at] != '"'; at++)
		at += text[at] == '\\';
	return at + 1;
}

static size_t skip_value(const char *text, size_t at)
{
	size_t open = 0;

	do {
		if (text[at] == '"') {
			at = skip_string(text, at);
		} else if (text[at] == '{' || text[at] == '[') {
			open++;
			at++;
		} else if (text[at] == '}' || text[at] == ']') {
			open--;
			at++;
		} else if (open > 0) {
			at++;
		} else {
			at += strcspn(text + at, " \t\r\n,]}");
		}
	} while (open > 0);
	return at;
}

/* A member of an object: offsets of its parts. */
struct member {
	size_t space;			/* white space after the preceding brace or comma */
	size_t key, key_end;
	size_t value, value_end;
};

static bool key_is(const char *text, const struct member *m, const char *name)
{
	json_t *key = json_loadb(text + m->key, m->key_end - m->key, JSON_DECODE_ANY, NULL);
	bool is = key != NULL && strcmp(json_string_value(key), name) == 0;

	json_decref(key);
	return is;
}

/* The member after at, a brace or comma. False: there is none, and m->space is where that shows. */
static bool next_member(const char *text, size_t at, struct member *m)
{
	*m = (struct member){ .space = at + 1 };
	m->key = skip_space(text, m->space);
	if (text[m->key] != '"')
		return false;
	m->key_end = skip_string(text, m->key);
	m->value = skip_space(text, skip_space(text, m->key_end) + 1);
	m->value_end = skip_value(text, m->value);
	return true;
}

/* The member name of the object at object; if missing, *m is the last member, and false is
 * returned. */
static bool find_member(const char *text, size_t object, const char *name, struct member *m)
{
	struct member next;
	size_t at = object;

	*m = (struct member){ 0 };
	while (next_member(text, at, &next)) {
		*m = next;
		if (key_is(text, m, name))
			return true;
		at = skip_space(text, m->value_end);
		if (text[at] != ',')
			break;
	}
	return false;
}

/* Offset of story `number` in the text's userStories. */
static size_t story_at(const char *text, size_t from, size_t number)
{
	struct member stories;
	size_t at;

	find_member(text, skip_space(text, from), "userStories", &stories);
	at = skip_space(text, stories.value + 1);
	while (number-- > 0)
		at = skip_space(text, skip_space(text, skip_value(text, at)) + 1);
	return at;
}

static char *with_passes(const char *text, size_t size, size_t story, size_t *out_size)
{
	struct member m;
	struct buf b = { 0 };

	if (find_member(text, story, "passes", &m)) {
		buf_add(&b, text, m.value);
		buf_adds(&b, "true");
		buf_add(&b, text + m.value_end, size - m.value_end);
	} else {
		/* after the last member, with its layout; there is at least one, the id */
		buf_add(&b, text, m.value_end);
		buf_adds(&b, ",");
		buf_add(&b, text + m.space, m.key - m.space);
		buf_adds(&b, "\"passes\"");
		buf_add(&b, text + m.key_end, m.value - m.key_end);
		buf_adds(&b, "true");
		buf_add(&b, text + m.value_end, size - m.value_end);
	}
	return buf_take(&b, out_size);
}

/* Its position in the file. Other mistakes in the file do not prevent marking. */
static bool find_story(struct reader *r, const json_t *document, const char *id, size_t *number)
{
	const json_t *stories = json_object_get(document, "userStories"), *story;
	char *shown = text_escape(id, strlen(id), false), *other;
	size_t i, found = 0;

	json_array_foreach(stories, i, story) {
		other = value_id(json_object_get(story, "id"));
		if (other != NULL && strcmp(other, id) == 0 && found++ == 0)
			*number = i;
		free(other);
	}
	if (found == 0)
		stories_fail(r,
		    "it no longer contains story \"%s\"; set its \"passes\" manually where it is "
		    "now", shown);
	else if (found > 1)
		stories_fail(r, "the id \"%s\" is used by two stories; rename one of them", shown);
	free(shown);
	return found == 1;
}

char *stories_pass(const char *text, size_t size, const char *id, size_t *out_size, char **error)
{
	struct reader r = { .error = NULL };
	json_t *document = parse(&r, text, size);
	size_t number = 0;
	char *copy, *out = NULL;

	if (document != NULL && find_story(&r, document, id, &number)) {
		copy = xmemdup0(text, size);
		out = with_passes(copy, size, story_at(copy, value_mark(copy, size), number), out_size);
		free(copy);
	}
	*error = r.error;
	json_decref(document);
	return out;
}
