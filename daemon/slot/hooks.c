/* SPDX-License-Identifier: MIT */
/* Hooks: commands of the administrator, started for a hold, a pass or an end. Each has its row
 * before it is started, so it runs at least once; its outcome changes nothing. */
#include "slot/hooks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"
#include "job/kept_environment.h"
#include "job/run_overview.h"
#include "job/run_result.h"
#include "job/variables.h"
#include "model/model.h"
#include "model/ports.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proc/launch.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/shim_job.h"
#include "txn/txn.h"

#define HOOK_WALL_MS (5 * 60 * 1000)
#define HOOK_GRACE_MS 5000
#define HOOK_OUTPUT (64 * 1024)
#define HOST_WAIT_MS 10000

static char *make_command(char *const *command)
{
	json_t *words = json_array();
	char *text;

	for (size_t i = 0; command[i] != NULL; i++)
		json_array_append_new(words, json_string(command[i]));
	text = json_dumps(words, JSON_COMPACT);
	json_decref(words);
	return text;
}

/* Takes ownership of row. */
static struct hook *hook_new(struct engine *engine, const struct hook_row *row)
{
	struct hook *hook = xcalloc(1, sizeof(*hook));

	hook->row = row;
	LIST_INSERT_HEAD(&engine->hooks, hook, entry);
	return hook;
}

void hook_free(struct hook *hook)
{
	row_free(ROW_HOOK, hook->row);
	free(hook);
}

void hook_load(struct engine *engine, const struct hook_row *row)
{
	hook_new(engine, row);
}

/* A new try: new id, new directory. */
static void set_identity(struct engine *engine, struct hook_row *row)
{
	char uuid[37];

	engine->ports.uuid(engine->ports.clock_ctx, uuid);
	row->id = ++engine->last_attempt;
	text_set(&row->uuid, uuid);
	text_set(&row->boot_id, engine->ports.boot_id(engine->ports.clock_ctx));
	row->state = ATTEMPT_S_STARTING;
	row->started_at = engine_now(engine);
}

static bool is_wanted(char *const *command)
{
	return command != NULL && command[0] != NULL;
}

/* Add a hook row to the transaction, if the command is not empty. */
static void add(struct txn *txn, struct run *run, char *const *command, const struct hook_report *report)
{
	struct hook_row *row;

	if (!is_wanted(command))
		return;
	row = row_new(ROW_HOOK);
	row->run = run->rows->run.id;
	row->name = xstrdup(report->name);
	row->command = make_command(command);
	row->environment = variables_of_hook(report);
	set_identity(run->engine, row);
	txn_effect_hook(txn, row->id);
	txn_edit_hook(txn, hook_new(run->engine, row)->row);
}

void hook_add_hold(struct txn *txn, struct run *run, const struct hold_row *hold)
{
	const struct hook_report report = {
		.name = "on_hold",
		.run = &run->rows->run,
		.hold = hold->id,
		.kind = state_name(&hold_kind_names, hold->kind),
		.task = hold->task,
		.reason = hold->reason,
	};

	add(txn, run, run->plan.on_hold, &report);
}

static const char *base_of(const struct run_row *run)
{
	return run->base_commit != NULL ? run->base_commit : run->base_tree;
}

/* The overview counts all rows of the run: only for hooks that are started. */
static void add_pass(struct txn *txn, const struct slot *slot)
{
	const struct task_row *task = slot_task(slot);
	const struct run_rows *rows = slot->run->rows;
	const struct slot_row *row = slot->row;
	/* what is merged lasts, and the branch of its task does not */
	const char *branch = slot_is_merged(slot) ? rows->run.result_branch : row->branch;
	struct run_overview overview = overview_of(rows);
	const struct hook_report report = {
		.name = "on_pass",
		.run = &rows->run,
		.hold = ROW_NONE,
		.task = task->id,
		.title = task->title,
		.cause = task_cause(task),
		.ref = task->locked_ref,
		.branch = row->commit_id != NULL ? branch : NULL,
		.commit = row->commit_id,
		.base = row->base_commit != NULL ? row->base_commit : base_of(&rows->run),
		.verdict = run_result_decision(rows, task->id),
		.cost = run_result_cost(rows, task->id),
		.overview = &overview,
	};

	add(txn, slot->run, slot->run->plan.on_pass, &report);
	overview_release(&overview);
}

static void add_end(struct txn *txn, struct run *run)
{
	const struct run_row *row = &run->rows->run;
	const struct run_result result = run_result_of(run->rows);
	struct run_overview overview = overview_of(run->rows);
	const struct hook_report report = {
		.name = "on_end",
		.run = row,
		.hold = ROW_NONE,
		.cause = run_cause(row),
		.ref = row->result_ref,
		.branch = result.branch,
		.commit = result.commit,
		.base = base_of(row),
		.verdict = run_result_decision(run->rows, NULL),
		.cost = overview.cost,
		.overview = &overview,
	};

	add(txn, run, run->plan.on_end, &report);
	overview_release(&overview);
}

void hook_add_pass(struct txn *txn, const struct slot *slot)
{
	if (is_wanted(slot->run->plan.on_pass))
		add_pass(txn, slot);
}

void hook_add_end(struct txn *txn, struct run *run)
{
	if (is_wanted(run->plan.on_end))
		add_end(txn, run);
}

void hook_add_wait(struct txn *txn, struct run *run, const char *task, const char *kind, const char *reason)
{
	const struct hook_report report = {
		.name = "on_hold",
		.run = &run->rows->run,
		.hold = ROW_NONE,
		.kind = kind,
		.task = task,
		.reason = reason,
	};

	add(txn, run, run->plan.on_hold, &report);
}

struct hook *hook_find(struct engine *engine, int64_t id)
{
	struct hook *hook;

	LIST_FOREACH(hook, &engine->hooks, entry)
		if (hook->row->id == id)
			return hook;
	return NULL;
}

bool hook_is_marked(const struct engine *engine, const char *uuid)
{
	const struct hook *hook;

	LIST_FOREACH(hook, &engine->hooks, entry)
		if (text_equal(hook->row->uuid, uuid))
			return true;
	return false;
}

static char **words_of(const char *json)
{
	json_t *array = json_loads(json, 0, NULL), *word;
	char **words = NULL;
	size_t i;

	json_array_foreach(array, i, word)
		strings_append(&words, json_string_value(word));
	json_decref(array);
	return words;
}

static char **environment_of(const struct engine *engine, const struct hook_row *row)
{
	char *error = NULL, **env = environment_load(NULL, NULL, NULL, &error);
	json_t *object = json_loads(row->environment, 0, NULL), *value;
	const char *name;

	json_object_foreach(object, name, value)
		environment_set(&env, name, json_string_value(value));
	/* not stored in the row, because the socket may differ when the hook is run again */
	variables_of_hook_start(&env, row->uuid, engine->socket);
	json_decref(object);
	free(error);
	return env;
}

void hook_start(struct engine *engine, int64_t id)
{
	struct hook *hook = hook_find(engine, id);
	struct launch *launch;

	if (hook == NULL || hook->begun)
		return;
	launch = xcalloc(1, sizeof(*launch));
	launch->id = id;
	launch->envp = environment_of(engine, hook->row);
	launch->job = (struct shim_job){
		.argv = words_of(hook->row->command),
		.cwd = xstrdup("/"),
		.uuid = xstrdup(hook->row->uuid),
		.wall_ms = HOOK_WALL_MS,
		.grace_ms = HOOK_GRACE_MS,
		.output_bytes = HOOK_OUTPUT,
		.durable = true,
	};
	hook->begun = true;
	engine->ports.start(engine->ports.proc_ctx, launch);
}

void hook_renumber(struct engine *engine, struct hook *hook)
{
	struct txn *txn = txn_new(engine);

	txn_drop(txn, ROW_HOOK, hook->row);
	set_identity(engine, txn_edit_hook(txn, hook->row));
	txn_effect_hook(txn, hook->row->id);
	hook->begun = false;
	txn_commit(txn);
}

/* Only the log reports it: no row of its run tells how the hook ended. */
static void log_failure(const struct hook_row *row)
{
	char *how;

	if (row->cause == NULL && row->signal == ROW_NONE && row->exit_code == 0)
		return;
	how = row->cause != NULL ? xstrdup(row->cause) : row->signal != ROW_NONE ?
	    xasprintf("signal %lld", (long long)row->signal) :
	    xasprintf("exit status %lld", (long long)row->exit_code);
	log_about(LOG_LEVEL_WARN, row->run, 0, "hook %s of run %lld failed: %s; its output is in attempts/%lld",
	    row->name, (long long)row->run, how, (long long)row->id);
	free(how);
}

/* The hook has ended; takes ownership. */
static void finish(struct txn *txn, struct hook *hook)
{
	txn_edit_hook(txn, hook->row)->ended_at = txn_now(txn);
	txn_commit(txn);
	log_failure(hook->row);
	LIST_REMOVE(hook, entry);
	hook_free(hook);
}

/* Run the hook again, under another id: it never started, or it is unknown whether it has done its
 * work. */
static void again(struct engine *engine, struct hook *hook)
{
	struct hook_row *row = row_copy(ROW_HOOK, hook->row);
	struct txn *txn = txn_new(engine);
	struct hook_row *lost = txn_edit_hook(txn, hook->row);

	lost->state = ATTEMPT_S_LOST;
	lost->ended_at = engine_now(engine);
	set_identity(engine, row);
	txn_edit_hook(txn, hook_new(engine, row)->row);
	txn_effect_hook(txn, row->id);
	txn_commit(txn);
	LIST_REMOVE(hook, entry);
	hook_free(hook);
}

/* wake->slot is the unique id of the hook. */
static void again_cb(void *arg, const struct wake *wake)
{
	struct engine *engine = arg;
	struct hook *hook = hook_find(engine, wake->slot);

	if (!engine->stopped && hook != NULL)
		again(engine, hook);
}

/* A host fault prevented its start. */
static void wait_for_host(struct engine *engine, const struct hook *hook, const char *error)
{
	int64_t at = engine_now(engine) + HOST_WAIT_MS;

	log_about(LOG_LEVEL_WARN, hook->row->run, 0, "hook %s of run %lld: %s; retrying", hook->row->name,
	    (long long)hook->row->run, error);
	engine_wake(engine, (struct wake){ .at = at, .until = at, .run = hook->row->run,
	    .slot = hook->row->id }, again_cb);
}

void hook_ended(struct engine *engine, struct hook *hook, const struct exit_record *record,
    int status, const char *error)
{
	struct hook_row *row;
	struct txn *txn;
	bool unstarted = record != NULL && record->how == EXIT_NOT_STARTED;

	if (engine->stopped)
		return;
	if (host_fault(unstarted ? record->status : record == NULL ? status : 0)) {
		wait_for_host(engine, hook, unstarted ? record->error : error);
		return;
	}
	txn = txn_new(engine);
	row = txn_edit_hook(txn, hook->row);
	row->state = record != NULL || error == NULL ? ATTEMPT_S_EXITED : ATTEMPT_S_LOST;
	if (record == NULL) {
		row->cause = xstrdup(error);
	} else if (record->how == EXIT_NOT_STARTED) {
		row->cause = xstrdup(record->error);
	} else {
		row->exit_code = record->how == EXIT_BY_CODE ? record->status : ROW_NONE;
		row->signal = record->how == EXIT_BY_SIGNAL ? record->status : ROW_NONE;
		if (record->by == EXIT_WALL)
			row->cause = xstrdup("timed out");
	}
	finish(txn, hook);
}

void hook_adopt_all(struct engine *engine)
{
	struct hook *hook;

	LIST_FOREACH(hook, &engine->hooks, entry) {
		struct adopt a = { .id = hook->row->id, .uuid = hook->row->uuid, .boot_id = hook->row->boot_id };

		hook->begun = true;
		engine->adopting++;
		engine->ports.adopt(engine->ports.proc_ctx, &a);
	}
}

void hook_found(struct hook *hook, enum proc_found found, const struct exit_record *record)
{
	hook->looked = true;
	hook->found = found;
	if (record != NULL)
		hook->record = *record;
}

static void resume(struct engine *engine, struct hook *hook)
{
	switch (hook->found) {
	case FOUND_RUNNING:
		break;
	case FOUND_ENDED:
		hook_ended(engine, hook, &hook->record, 0, NULL);
		break;
	case FOUND_NEVER_STARTED:
		hook->begun = false;
		hook_start(engine, hook->row->id);
		break;
	case FOUND_LOST:
	case FOUND_UNREADABLE:
		again(engine, hook);
		break;
	}
}

void hook_resume_all(struct engine *engine)
{
	struct hook *hook = LIST_FIRST(&engine->hooks), *next;

	for (; hook != NULL; hook = next) {
		next = LIST_NEXT(hook, entry);
		if (hook->looked) {
			hook->looked = false;
			resume(engine, hook);
		}
	}
}
