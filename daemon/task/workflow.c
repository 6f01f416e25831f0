/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "task/list.h"
#include "task/node.h"
#include "task/task.h"
#include "task/value.h"

#define TASKS_MAX 10000
#define REVIEWS_MAX 101		/* max_fixes = 100 */
#define EXIT_CONDITION "review.decision == GO"

/* A task being read: parts that are checked together at its end. */
struct draft {
	struct task_item *item;
	char *prompt;
	const struct node *agent, *coder, *reviewer;	/* nodes of these keys, NULL: missing */
	bool has_enabled;
};

struct reader {
	struct task_list *list;
	const struct node *tasks;
	struct draft draft;
	char *error;
};

typedef bool take_fn(struct reader *r, const struct node *value);

struct key {
	const char *name;
	take_fn *take;
};

static bool workflow_fail(struct reader *r, const struct node *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool workflow_fail(struct reader *r, const struct node *at, const char *fmt, ...)
{
	char *words;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	r->error = xasprintf("workflow:%zu:%zu: %s", at->line, at->column, words);
	free(words);
	return false;
}

/* ---- values ---- */

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

static bool take_string(struct reader *r, const struct node *value, const char *name, char **out)
{
	if (value->kind == NODE_TEXT && !node_is_string(value) && !node_is_null(value))
		return workflow_fail(r, value, "\"%s\" is %s; quote it to make it text",
		    name, node_describe(value));
	if (!node_is_string(value))
		return workflow_fail(r, value, "\"%s\" is %s; write text, or remove the key",
		    name, node_describe(value));
	if (is_blank(value->text))
		return workflow_fail(r, value, "\"%s\" is blank; write text, or remove the key", name);
	free(*out);
	*out = xstrdup(value->text);
	return true;
}

static bool take_map(struct reader *r, const struct node *map, const struct key *keys, const char *what)
{
	if (map->kind != NODE_MAP)
		return workflow_fail(r, map, "%s is %s; write a mapping", what, node_describe(map));
	for (size_t i = 0; i < map->count; i += 2) {
		const struct key *key = keys;

		while (key->name != NULL && strcmp(key->name, map->items[i]->text) != 0)
			key++;
		if (key->name == NULL) {
			char *shown = text_escape(map->items[i]->text, strlen(map->items[i]->text), false);
			struct buf known = { 0 };

			for (key = keys; key->name != NULL; key++)
				buf_addf(&known, "%s%s", known.size > 0 ? ", " : "", key->name);
			workflow_fail(r, map->items[i],
			    "unknown key \"%s\" in %s; the keys are: %s",
			    shown, what, known.data);
			buf_release(&known);
			free(shown);
			return false;
		}
		if (!key->take(r, map->items[i + 1]))
			return false;
	}
	return true;
}

/* ---- overlays.agentic_review ---- */

static bool take_enabled(struct reader *r, const struct node *value)
{
	r->draft.has_enabled = true;
	if (!node_to_bool(value, &r->draft.item->review))
		return workflow_fail(r, value,
		    "\"enabled\" is %s; write true or false, without quotes", node_describe(value));
	return true;
}

static bool take_coder(struct reader *r, const struct node *value)
{
	r->draft.coder = value;
	r->draft.item->coder_line = value->line;
	r->draft.item->coder_column = value->column;
	return take_string(r, value, "coder_agent", &r->draft.item->coder);
}

static bool take_reviewer(struct reader *r, const struct node *value)
{
	r->draft.reviewer = value;
	r->draft.item->reviewer_line = value->line;
	r->draft.item->reviewer_column = value->column;
	return take_string(r, value, "reviewer_agent", &r->draft.item->reviewer);
}

static bool take_max_iterations(struct reader *r, const struct node *value)
{
	int64_t number;

	if (!node_to_int(value, &number) || number < 1 || number > REVIEWS_MAX)
		return workflow_fail(r, value,
		    "\"max_iterations\" is the number of reviews; write an integer from 1 to %d", REVIEWS_MAX);
	r->draft.item->max_reviews = number;
	return true;
}

/* White space aside. */
static bool is_exit_condition(const char *text)
{
	const char *want = EXIT_CONDITION;

	for (;; text++, want++) {
		text += strspn(text, " \t\n");
		want += strspn(want, " ");
		if (*text != *want)
			return false;
		if (*text == '\0')
			return true;
	}
}

static bool take_exit_conditions(struct reader *r, const struct node *value)
{
	if (value->kind != NODE_LIST || value->count == 0)
		return workflow_fail(r, value, "\"exit_conditions\" is %s; write a list with \""
		    EXIT_CONDITION "\", or remove the key",
		    value->kind == NODE_LIST ? "an empty list" : node_describe(value));
	for (size_t i = 0; i < value->count; i++)
		if (value->items[i]->kind != NODE_TEXT || !is_exit_condition(value->items[i]->text))
			return workflow_fail(r, value->items[i],
			    "an unknown exit condition; the only one is \"" EXIT_CONDITION "\"");
	return true;
}

static const struct key review_keys[] = {
	{ "enabled", take_enabled },
	{ "coder_agent", take_coder },
	{ "reviewer_agent", take_reviewer },
	{ "max_iterations", take_max_iterations },
	{ "exit_conditions", take_exit_conditions },
	{ NULL, NULL },
};

static bool take_agentic_review(struct reader *r, const struct node *value)
{
	if (!take_map(r, value, review_keys, "agentic_review"))
		return false;
	return r->draft.has_enabled || workflow_fail(r, value, "agentic_review does not say "
	    "whether it is enabled; write \"enabled: true\" or \"enabled: false\"");
}

static const struct key overlay_keys[] = {
	{ "agentic_review", take_agentic_review },
	{ NULL, NULL },
};

/* ---- a task ---- */

static bool take_agent(struct reader *r, const struct node *value)
{
	r->draft.agent = value;
	return take_string(r, value, "agent", &r->draft.item->agent);
}

static bool take_title(struct reader *r, const struct node *value)
{
	return take_string(r, value, "title", &r->draft.item->title);
}

static bool take_task_description(struct reader *r, const struct node *value)
{
	return take_string(r, value, "description", &r->draft.item->description);
}

static bool take_prompt(struct reader *r, const struct node *value)
{
	return take_string(r, value, "prompt", &r->draft.prompt);
}

static bool take_depends_on(struct reader *r, const struct node *value)
{
	char **ids;

	if (value->kind != NODE_LIST)
		return workflow_fail(r, value,
		    "\"depends_on\" is %s; write a list of ids, as in [design, test]", node_describe(value));
	ids = xcalloc(value->count + 1, sizeof(char *));
	r->draft.item->depends_on = ids;
	for (size_t i = 0; i < value->count; i++) {
		/* an id such as 7 is a number only for YAML */
		if (value->items[i]->kind != NODE_TEXT || node_is_null(value->items[i]))
			return workflow_fail(r, value->items[i],
			    "\"depends_on\" contains %s; write the id of a task",
			    node_describe(value->items[i]));
		ids[i] = xstrdup(value->items[i]->text);
	}
	return true;
}

static bool take_acceptance_criteria(struct reader *r, const struct node *value)
{
	struct buf b = { 0 };

	if (value->kind != NODE_LIST)
		return take_string(r, value, "acceptance_criteria", &r->draft.item->acceptance);
	for (size_t i = 0; i < value->count; i++) {
		char *one = NULL;
		bool ok = take_string(r, value->items[i], "acceptance_criteria", &one);

		if (ok)
			criteria_add(&b, one);
		free(one);
		if (!ok) {
			buf_release(&b);
			return false;
		}
	}
	if (b.size > 0)
		r->draft.item->acceptance = buf_take(&b, NULL);
	return true;
}

static bool take_overlays(struct reader *r, const struct node *value)
{
	return take_map(r, value, overlay_keys, "overlays");
}

static const struct key task_keys[] = {
	{ "agent", take_agent },
	{ "title", take_title },
	{ "description", take_task_description },
	{ "prompt", take_prompt },
	{ "depends_on", take_depends_on },
	{ "acceptance_criteria", take_acceptance_criteria },
	{ "overlays", take_overlays },
	{ NULL, NULL },
};

/* Put the description before the prompt. */
static void join_text(struct draft *draft)
{
	struct task_item *item = draft->item;
	char *both;

	if (draft->prompt == NULL)
		return;
	if (item->description == NULL) {
		item->description = draft->prompt;
	} else {
		both = xasprintf("%s\n\n%s", item->description, draft->prompt);
		free(item->description);
		free(draft->prompt);
		item->description = both;
	}
	draft->prompt = NULL;
}

/* Ignore the content of a disabled overlay. */
static void drop_overlay(struct task_item *item)
{
	free(item->coder);
	free(item->reviewer);
	item->coder = item->reviewer = NULL;
	item->coder_line = item->coder_column = item->reviewer_line = item->reviewer_column = 0;
	item->max_reviews = ROW_NONE;
}

static bool take_task(struct reader *r, const struct node *key, const struct node *value)
{
	struct task_item *item = list_add(r->list);
	char *what, *shown = text_escape(key->text, strlen(key->text), false);
	bool ok;

	r->draft = (struct draft){ .item = item };
	item->id = xstrdup(key->text);
	what = xasprintf("task \"%s\"", shown);
	ok = take_map(r, value, task_keys, what);
	if (ok && item->review && item->agent != NULL && item->coder != NULL && strcmp(item->agent, item->coder) != 0)
		ok = workflow_fail(r, r->draft.coder,
		    "\"coder_agent\" differs from the task's \"agent\"; the coder is the task's "
		    "agent: write one of them, or the same value twice");
	join_text(&r->draft);
	if (!item->review)
		drop_overlay(item);
	item->line = r->draft.agent != NULL ? r->draft.agent->line : key->line;
	item->column = r->draft.agent != NULL ? r->draft.agent->column : key->column;
	free(what);
	free(shown);
	return ok;
}

/* ---- the document ---- */

static bool take_version(struct reader *r, const struct node *value)
{
	static const char *const known[] = { "1", "1.0", NULL };

	for (size_t i = 0; known[i] != NULL; i++)
		if (value->kind == NODE_TEXT && strcmp(value->text, known[i]) == 0)
			return true;
	return workflow_fail(r, value, "an unknown version; write \"1\", or remove the key");
}

static bool take_name(struct reader *r, const struct node *value)
{
	return take_string(r, value, "name", &r->list->project);
}

static bool take_description(struct reader *r, const struct node *value)
{
	return take_string(r, value, "description", &r->list->description);
}

static bool take_tasks(struct reader *r, const struct node *value)
{
	r->tasks = value;
	if (value->kind != NODE_MAP)
		return workflow_fail(r, value,
		    "\"tasks\" is %s; write a mapping from each task's id to its keys", node_describe(value));
	if (value->count == 0)
		return workflow_fail(r, value, "\"tasks\" is empty; write at least one task");
	if (value->count / 2 > TASKS_MAX)
		return workflow_fail(r, value, "it has more than %d tasks; split it", TASKS_MAX);
	for (size_t i = 0; i < value->count; i += 2)
		if (!take_task(r, value->items[i], value->items[i + 1]))
			return false;
	return true;
}

static const struct key document_keys[] = {
	{ "version", take_version },
	{ "name", take_name },
	{ "description", take_description },
	{ "tasks", take_tasks },
	{ NULL, NULL },
};

static bool check_list(struct reader *r)
{
	const struct node *at;
	struct list_fault fault;

	if (list_check(r->list, &fault))
		return true;
	at = r->tasks->items[2 * fault.item];
	if (fault.dependency != SIZE_MAX)
		at = node_get(r->tasks->items[2 * fault.item + 1], "depends_on")->items[fault.dependency];
	workflow_fail(r, at, "%s", fault.words);
	free(fault.words);
	return false;
}

static bool take_document(struct reader *r, const struct node *root)
{
	if (!take_map(r, root, document_keys, "the workflow"))
		return false;
	if (r->tasks == NULL)
		return workflow_fail(r, root,
		    "it has no \"tasks\"; write a mapping from each task's id to its keys there");
	return check_list(r);
}

int workflow_read(const char *text, size_t size, struct task_list *list, char **error)
{
	struct reader r = { .list = list };
	char *words;
	struct node *root;
	bool ok;

	*list = (struct task_list){ 0 };
	root = node_read(text, size, &words);
	if (root == NULL) {
		*error = xasprintf("workflow:%s", words);
		free(words);
		return -1;
	}
	ok = take_document(&r, root);
	node_free(root);
	if (ok)
		return 0;
	task_list_release(list);
	*error = r.error;
	return -1;
}
