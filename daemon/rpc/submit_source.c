/* SPDX-License-Identifier: MIT */
#include "rpc/submit_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plan_json.h"
#include "core/row.h"
#include "job/host_refusal.h"
#include "job/secrets.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "record/host_fault.h"

/* different settings in one workflow: they are resolved on the loop */
#define KINDS_MAX 256

/* The parameters that name a source, and how its readers name its text. */
static const struct given {
	const char *param;
	enum source_kind kind;
	const char *path;	/* the parameter with the path of the file; NULL: none */
	const char *called;
} given[] = {
	{ "task", SOURCE_PROMPT, NULL, NULL },
	{ "task_blob", SOURCE_PROMPT, NULL, NULL },
	{ "beads", SOURCE_BEADS, NULL, NULL },
	{ "stories", SOURCE_STORIES, "stories_path", "the PRD" },
	{ "workflow", SOURCE_WORKFLOW, "workflow_path", "workflow" },
};

#define GIVEN (sizeof(given) / sizeof(given[0]))

static const char mend[] = "correct the file, and submit it again";

static bool submit_source_refuse(struct submit_source *source, const char *field, const char *hint,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static bool submit_source_refuse(struct submit_source *source, const char *field, const char *hint,
    const char *fmt, ...)
{
	va_list ap;

	snprintf(source->field, sizeof(source->field), "%s", field);
	source->code = RPC_INVALID_PARAMS;
	source->hint = hint;
	va_start(ap, fmt);
	source->error = xvasprintf(fmt, ap);
	va_end(ap);
	return false;
}

/* A path could not be used because of this errno: an error of the submit, or a temporary one of the
 * host. */
static void refuse_path(struct submit_source *source, const char *field, const char *hint, const char *path, int error)
{
	submit_source_refuse(source, field, host_refusal_hint(error, hint), "%s: %s", path, strerror(error));
	source->code = host_refusal_code(error, source->code);
}

/* NULL: missing, or not a text. */
static const char *text_of(const json_t *params, const char *name)
{
	return json_string_value(json_object_get(params, name));
}

static const struct given *given_of(const struct submit_source *source)
{
	const struct given *row = given;

	while (json_object_get(source->params, row->param) == NULL)
		row++;
	return row;
}

bool submit_source_take(struct submit_source *source, const json_t *params)
{
	const char *beads = text_of(params, "beads");
	size_t count = 0;

	*source = (struct submit_source){ .params = params };
	for (size_t i = 0; i < GIVEN; i++) {
		const char *path = given[i].path == NULL ? NULL : text_of(params, given[i].path);
		bool here = json_object_get(params, given[i].param) != NULL;

		count += here;
		if (here)
			source->kind = given[i].kind;
		if (path != NULL && !here)
			return submit_source_refuse(source, given[i].path, NULL,
			    "'%s' gives the origin of '%s': give both, or remove it",
			    given[i].path, given[i].param);
		if (path != NULL && path[0] != '/')
			return submit_source_refuse(source, given[i].path, NULL,
			    "'%s' must be an absolute path", given[i].path);
	}
	if (count != 1)
		return submit_source_refuse(source, "task", NULL,
		    "a run has one task source: give one of 'task', 'task_blob', 'beads', "
		    "'stories' and 'workflow'");
	if (beads != NULL && beads[0] != '/')
		return submit_source_refuse(source, "beads", NULL,
		    "'beads' must be the absolute path of the directory that contains .beads, or "
		    "true for the workdir");
	return true;
}

static bool read_beads(struct submit_source *source)
{
	const char *named = text_of(source->params, "beads"),
	    *dir = named != NULL ? named : text_of(source->params, "workdir");
	char *beads = xasprintf("%s/.beads", dir);
	struct stat st;
	int failure = stat(beads, &st) == -1 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;

	source->path = realpath(dir, NULL);
	if (source->path == NULL && host_fault(errno))
		failure = errno;
	/* a bad workdir is reported as such, later */
	if (failure != 0 && (source->path != NULL || named != NULL || host_fault(failure)))
		refuse_path(source, "beads",
		    "name the directory that contains .beads, or create it with 'bd init'", beads, failure);
	if (source->path == NULL)
		source->path = xstrdup(dir);
	free(beads);
	return source->error == NULL;
}

/* Reword the message of a reader, which knows no files: "workflow:12:5: ..." becomes
 * "/w/flow.yaml:12:5: ...". Takes ownership of words. */
static bool refuse_text(struct submit_source *source, const struct given *row, char *words)
{
	size_t n = strlen(row->called);

	if (source->path != NULL && strncmp(words, row->called, n) == 0)
		submit_source_refuse(source, row->param, mend, "%s%s", source->path, words + n);
	else
		submit_source_refuse(source, row->param, mend, "%s", words);
	free(words);
	return false;
}

/* Stories that pass are marked by replacing the file: check now that this is possible, not when the
 * work is done. */
static bool check_write_back(struct submit_source *source, const struct given *row)
{
	char *directory = xmemdup0(source->path, (size_t)(strrchr(source->path, '/') - source->path) + 1);
	struct stat st;
	int failure = stat(source->path, &st) == -1 ? errno : !S_ISREG(st.st_mode) ? EINVAL : 0;

	if (failure == EINVAL)
		submit_source_refuse(source, row->path, "name the PRD file itself",
		    "%s is not a regular file", source->path);
	else if (failure != 0 || access(source->path, W_OK) == -1 || access(directory, W_OK | X_OK) == -1)
		refuse_path(source, row->path,
		    "let the daemon's user write the file and its directory: stories that pass are "
		    "marked there",
		    source->path, failure != 0 ? failure : errno);
	free(directory);
	return source->error == NULL;
}

static bool read_text(struct submit_source *source, const struct given *row)
{
	const json_t *text = json_object_get(source->params, row->param);
	const char *path = text_of(source->params, row->path);
	int (*reader)(const char *, size_t, struct task_list *,
	    char **) = source->kind == SOURCE_STORIES ? stories_read : workflow_read;
	char *words;

	/* resolve links: what is meant is their target */
	source->path = path == NULL ? NULL : realpath(path, NULL);
	if (path != NULL && source->path == NULL && host_fault(errno)) {
		refuse_path(source, row->path, NULL, path, errno);
		return false;
	}
	if (source->path == NULL)
		source->path = xstrdup(path);
	if (reader(json_string_value(text), json_string_length(text), &source->tasks, &words) == -1)
		return refuse_text(source, row, words);
	return source->kind != SOURCE_STORIES || source->path == NULL || check_write_back(source, row);
}

bool submit_source_access(const struct submit_source *source, struct path_access *access)
{
	const char *path = text_of(source->params, "stories_path");
	char *beads, *folder;

	if (source->kind == SOURCE_STORIES && path != NULL) {
		folder = xmemdup0(path, (size_t)(strrchr(path, '/') - path) + 1);
		path_access_check(access, "stories_path", path, R_OK | W_OK);
		path_access_check(access, "stories_path", folder, W_OK | X_OK);
		free(folder);
	} else if (source->kind == SOURCE_BEADS) {
		path = text_of(source->params, "beads");
		beads = xasprintf("%s/.beads", path != NULL ? path : text_of(source->params, "workdir"));
		path_access_check(access, "beads", beads, R_OK | W_OK | X_OK);
		free(beads);
	}
	return access->text == NULL;
}

bool submit_source_read(struct submit_source *source)
{
	switch (source->kind) {
	case SOURCE_BEADS:
		return read_beads(source);
	case SOURCE_STORIES:
	case SOURCE_WORKFLOW:
		return read_text(source, given_of(source));
	case SOURCE_PROMPT:
	case SOURCES:
		break;
	}
	return true;
}

/* The settings of a submit, overlaid with those of a task. */
struct layer {
	struct config_override *list;
	size_t count;
	char **owned;		/* values and origins set here */
};

static const char *layer_keep(struct layer *layer, const char *text)
{
	strings_append(&layer->owned, text);
	return layer->owned[strings_count(layer->owned) - 1];
}

/* Ignore the submit's value of path. */
static void layer_drop(struct layer *layer, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < layer->count; i++) {
		if (strcmp(layer->list[i].path, path) != 0)
			layer->list[kept++] = layer->list[i];
	}
	layer->count = kept;
}

/* Takes ownership of value. place: its name in error messages. */
static void layer_set(struct layer *layer, const char *path, json_t *value, const char *place)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY);

	json_decref(value);
	layer_drop(layer, path);
	layer->list = xreallocarray(layer->list, layer->count + 1, sizeof(*layer->list));
	layer->list[layer->count++] = (struct config_override){ path, layer_keep(layer, text),
	    layer_keep(layer, place) };
	free(text);
}

static void layer_set_at(struct layer *layer, const struct submit_source *source, const char *path,
    json_t *value, size_t line, size_t column)
{
	char *place = xasprintf("%s:%zu:%zu",
	    source->path != NULL ? source->path : given_of(source)->called, line, column);

	layer_set(layer, path, value, place);
	free(place);
}

static void layer_release(struct layer *layer)
{
	free(layer->list);
	strings_free(layer->owned);
}

/* Overlay the task's settings on the submit's. agent: the run's. */
static void layer_task(struct layer *layer, const struct submit_source *source,
    const struct task_item *item, const char *agent)
{
	const char *coder = item->review && item->coder != NULL ? item->coder : item->agent;

	/* a model belongs to its agent */
	if (coder != NULL && strcmp(coder, agent) != 0)
		layer_drop(layer, "run.model");
	if (item->agent != NULL)
		layer_set_at(layer, source, "default_agent", json_string(item->agent), item->line, item->column);
	if (!item->review)
		return;
	layer_set(layer, "review.profile", json_string(sources[source->kind].profile), "workflow");
	layer_set(layer, "review.scope", json_string("task"), "workflow");
	if (item->coder != NULL) {
		layer_set_at(layer, source, "default_agent", json_string(item->coder),
		    item->coder_line, item->coder_column);
		layer_set_at(layer, source, "review.fixer_agent", json_string(item->coder),
		    item->coder_line, item->coder_column);
	}
	if (item->reviewer != NULL)
		layer_set_at(layer, source, "review.agent", json_string(item->reviewer),
		    item->reviewer_line, item->reviewer_column);
	if (item->max_reviews != ROW_NONE)
		layer_set_at(layer, source, "review.max_fixes", json_integer(item->max_reviews - 1),
		    item->line, item->column);
}

/* A workflow defines its reviews itself: the run's review settings apply to none of its tasks. item
 * NULL: the run itself. */
static int resolve_workflow(struct submit_source *source, const struct task_item *item,
    const char *agent, const struct config *config,
    const struct project *project, const struct config_override *overrides, size_t count,
    struct plan *plan, struct config_error *error)
{
	struct layer layer = { .list = xcalloc(count + 1, sizeof(*layer.list)), .count = count };
	int rv;

	for (size_t i = 0; i < count; i++)
		layer.list[i] = overrides[i];
	layer_drop(&layer, "review.reviewer");
	layer_set(&layer, "review.enabled", json_boolean(item != NULL && item->review), "workflow");
	if (item != NULL)
		layer_task(&layer, source, item, agent);
	rv = config_resolve(config, project, layer.list, layer.count, plan, error);
	layer_release(&layer);
	/* warnings are about the run, not each of its tasks */
	if (rv == 0 && item == NULL && plan->skip_kind == SKIP_OFF)
		plan_skip(plan, SKIP_BY_TASK);
	return rv;
}

/* The origin is not a parameter name. */
static bool refuse_settings(struct submit_source *source, const struct config_error *error)
{
	bool place = error->field[0] == '/' || strncmp(error->field, "workflow", strlen("workflow")) == 0;

	return submit_source_refuse(source, place ? "workflow" : error->field, place ? mend : NULL, "%s", error->text);
}

static bool same_settings(const struct task_item *a, const struct task_item *b)
{
	return text_equal(a->agent, b->agent) && a->review == b->review &&
	    (!a->review || (a->max_reviews == b->max_reviews &&
	    text_equal(a->coder, b->coder) && text_equal(a->reviewer, b->reviewer)));
}

static bool resolve_tasks(struct submit_source *source, const struct config *config,
    const struct project *project, const struct config_override *overrides,
    size_t count, const struct plan *run, char ***environment)
{
	const struct task_item *items = source->tasks.items, *kinds[KINDS_MAX];
	size_t nkinds = 0, k;
	struct config_error error;
	struct plan plan;
	char *json;

	source->plans = xcalloc(source->tasks.count + 1, sizeof(*source->plans));
	for (size_t i = 0; i < source->tasks.count; i++) {
		if (items[i].agent == NULL && !items[i].review)
			continue;	/* same as the run: no review */
		for (k = 0; k < nkinds && !same_settings(&items[i], kinds[k]); k++)
			;
		if (k == KINDS_MAX)
			return submit_source_refuse(source, "workflow", mend,
			    "%s:%zu:%zu: the tasks up to this one use %d different agents and "
			    "reviews, the maximum for a workflow; split it",
			    source->path != NULL ? source->path : "workflow", items[i].line,
			    items[i].column, KINDS_MAX);
		if (k == nkinds) {
			if (resolve_workflow(source, &items[i], run->agents[ROLE_IMPLEMENT].name,
			    config, project, overrides, count, &plan, &error) == -1)
				return refuse_settings(source, &error);
			plan.assign = ASSIGN_DAEMON;
			secrets_hide(&plan, environment);
			json = plan_to_json(&plan);
			strings_append(&source->kinds, json);
			free(json);
			plan_release(&plan);
			kinds[nkinds++] = &items[i];
		}
		source->plans[i] = source->kinds[k];
	}
	return true;
}

/* assign only makes sense with beads; refuse it otherwise. */
static bool check_assign(struct submit_source *source, const struct config_override *overrides,
    size_t count, struct plan *plan)
{
	for (size_t i = 0; i < count && plan->assign == ASSIGN_AGENT; i++) {
		if (strcmp(overrides[i].path, "run.assign") == 0)
			return submit_source_refuse(source, "assign",
			    "add --beads, or remove --assign",
			    "agents can pick only beads");
	}
	plan->assign = ASSIGN_DAEMON;
	return true;
}

bool submit_source_resolve(struct submit_source *source, const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count, struct plan *plan, char ***environment)
{
	bool workflow = source->kind == SOURCE_WORKFLOW, ok;
	struct config_error error;
	int rv = workflow ? resolve_workflow(source, NULL, NULL, config, project, overrides, count, plan, &error) :
	    config_resolve(config, project, overrides, count, plan, &error);

	if (rv == -1)
		return refuse_settings(source, &error);
	ok = source->kind == SOURCE_BEADS || check_assign(source, overrides, count, plan);
	ok = ok && (!workflow || resolve_tasks(source, config, project, overrides, count, plan, environment));
	if (ok)
		secrets_hide(plan, environment);
	else
		plan_release(plan);
	return ok;
}

void submit_source_read_as(struct submit_source *source, char *const *read_as)
{
	for (char **kind = source->kinds; read_as != NULL && kind != NULL && *kind != NULL; kind++) {
		char *was = *kind;
		struct plan plan = { 0 };

		if (plan_from_json(was, &plan) == -1)
			continue;
		strings_free(plan.read_as);
		plan.read_as = strings_copy(read_as);
		*kind = plan_to_json(&plan);
		for (size_t i = 0; i < source->tasks.count; i++)
			if (source->plans[i] == was)
				source->plans[i] = *kind;
		plan_release(&plan);
		free(was);
	}
}

void submit_source_release(struct submit_source *source)
{
	free(source->path);
	task_list_release(&source->tasks);
	free(source->plans);
	strings_free(source->kinds);
	free(source->error);
	*source = (struct submit_source){ 0 };
}
