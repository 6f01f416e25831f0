/* SPDX-License-Identifier: MIT */
#include "job/variables.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/profile.h"
#include "core/state.h"
#include "job/build.h"
#include "job/build_int.h"
#include "job/kept_environment.h"
#include "model/dirs.h"
#include "task/task_op.h"

#define TASK_VARIABLE_MAX (64 * 1024)

/* Receivers of a variable. */
enum {
	IMPLEMENT = 1 << ROLE_IMPLEMENT,
	CHECK = 1 << ROLE_CHECK,
	REVIEW = 1 << ROLE_REVIEW,
	FIX = 1 << ROLE_FIX,
	COMMIT = 1 << ROLE_COMMIT,
	SETUP = 1 << ROLE_SETUP,
	ATTEMPTS = IMPLEMENT | CHECK | REVIEW | FIX | COMMIT | SETUP,
	ON_HOLD = 1 << ROLES,
	ON_PASS = ON_HOLD << 1,
	ON_END = ON_PASS << 1,
	HOOKS = ON_HOLD | ON_PASS | ON_END,
	OPERATIONS = ON_END << 1,
	ALL = ATTEMPTS | HOOKS | OPERATIONS
};

/* The process that gets the variables. NULL: not a process of this kind. */
struct receiver {
	unsigned kind;			/* one of the above */
	const struct build_job *w;	/* attempts, with the next three */
	const struct agent_plan *agent;
	const struct sources *texts;
	const struct places *places;
	const struct hook_report *hook;
	const char *uuid, *socket;
};

static char *number(int64_t value)
{
	return xasprintf("%lld", (long long)value);
}

static char *text_or_empty(const char *text)
{
	return xstrdup(text != NULL ? text : "");
}

/* The text, cut where the kernel would refuse it. */
static char *cut(const char *text, size_t size)
{
	size_t end = TASK_VARIABLE_MAX;

	if (size <= TASK_VARIABLE_MAX)
		return xstrdup(text);
	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	return xmemdup0(text, end);
}

/* Reviewers and fixers of these runs must not see the task. */
static bool hides_task(const struct build_job *w)
{
	return w->plan->profile->no_task && w->plan->review;
}

/* What a check says of a tree is used for other tasks, too, unless it asks for its task. */
static bool is_of_any_task(const struct build_job *w)
{
	return w->attempt.role == ROLE_CHECK && !check_is_of_task(w->attempt.agent);
}

static bool sees_task(const struct build_job *w)
{
	if (is_of_any_task(w))
		return false;
	return !hides_task(w) || !(build_is_review(w) || w->attempt.role == ROLE_FIX);
}

static bool is_program(const struct build_job *w)
{
	return w->plan->profile->carrier == CARRIER_EXIT;
}

/* ---- values, malloc'd; NULL: unset ---- */

static char *run_id(const struct receiver *r)
{
	if (r->w != NULL)
		return number(r->w->run.id);
	return r->hook != NULL ? number(r->hook->run->id) : NULL;
}

static char *workdir(const struct receiver *r)
{
	if (r->w != NULL)
		return xstrdup(r->places->cwd);
	return r->hook != NULL ? text_or_empty(r->hook->run->workdir) : NULL;
}

static char *uuid(const struct receiver *r)
{
	return xstrdup(r->uuid);
}

/* rlctl in an agent connects to this daemon, not to another one that happens to answer. Unset where
 * it would show the task to reviewers and fixers. */
static char *socket_path(const struct receiver *r)
{
	return r->w == NULL || !hides_task(r->w) ? xstrdup(r->socket) : NULL;
}

static char *task_id(const struct receiver *r)
{
	if (r->w != NULL)
		return sees_task(r->w) ? xstrdup(r->w->task.id) : NULL;
	return r->hook != NULL ? text_or_empty(r->hook->task) : NULL;
}

static char *task_text(const struct receiver *r)
{
	return sees_task(r->w) ? cut(r->texts->task, r->texts->task_size) : NULL;
}

static char *task_file(const struct receiver *r)
{
	const struct places *p = r->places;

	return sees_task(r->w) ? xstrdup(p->copied_task != NULL ? p->copied_task : p->task_file) : NULL;
}

static char *attempt_id(const struct receiver *r)
{
	return number(r->w->attempt.id);
}

static char *role(const struct receiver *r)
{
	return xstrdup(state_name(&role_names, r->w->attempt.role));
}

static char *slot(const struct receiver *r)
{
	return number(r->w->attempt.slot);
}

static char *iteration(const struct receiver *r)
{
	return number(r->w->attempt.iteration);
}

static char *review_round(const struct receiver *r)
{
	return number(r->w->attempt.round);
}

static char *max_reviews(const struct receiver *r)
{
	return number(r->w->slot.fixes + 1);
}

static char *model(const struct receiver *r)
{
	return text_or_empty(r->agent->model);
}

static char *base_ref(const struct receiver *r)
{
	const struct build_job *w = r->w;

	if (w == NULL)
		return r->hook != NULL ? text_or_empty(r->hook->base) : NULL;
	if (is_of_any_task(w))
		return NULL;
	if (w->slot.base_commit != NULL)
		return xstrdup(w->slot.base_commit);
	return text_or_empty(w->run.base_commit != NULL ? w->run.base_commit : w->run.base_tree);
}

static char *verdict_file(const struct receiver *r)
{
	return xstrdup(r->places->verdict_file);
}

static char *diff_file(const struct receiver *r)
{
	return xstrdup(r->places->diff_file);
}

static char *findings_file(const struct receiver *r)
{
	return xstrdup(r->places->findings_file);
}

static char *scratch(const struct receiver *r)
{
	return xstrdup(r->places->scratch);
}

/* An agent uses bd as the run: it may claim again what the run has claimed, and the run can give
 * back what the agent picks. */
static char *actor(const struct receiver *r)
{
	const struct build_job *w = r->w;

	if (strcmp(w->run.source, sources[SOURCE_BEADS].name) != 0)
		return NULL;
	return run_actor(w->job.state_dir, &w->run);
}

/* The next three: variables that scripts written for requirement 003 read. */
static char *swival_task(const struct receiver *r)
{
	return is_program(r->w) ? cut(r->texts->task, r->texts->task_size) : NULL;
}

static char *swival_round(const struct receiver *r)
{
	return is_program(r->w) ? review_round(r) : NULL;
}

static char *swival_model(const struct receiver *r)
{
	return is_program(r->w) ? xstrdup(r->w->plan->agents[ROLE_IMPLEMENT].model) : NULL;
}

static char *hook_name(const struct receiver *r)
{
	return r->hook != NULL ? xstrdup(r->hook->name) : NULL;
}

static char *hold(const struct receiver *r)
{
	if (r->hook == NULL)
		return NULL;
	return r->hook->hold != ROW_NONE ? number(r->hook->hold) : xstrdup("");
}

static char *hold_kind(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->kind) : NULL;
}

static char *reason(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->reason) : NULL;
}

static char *state(const struct receiver *r)
{
	return r->hook != NULL ? xstrdup(state_name(&run_state_names, r->hook->run->state)) : NULL;
}

static char *title(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->title) : NULL;
}

static char *cause(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->cause.text) : NULL;
}

static char *end_kind(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(state_name(&end_kind_names, (int)r->hook->cause.kind)) : NULL;
}

static char *result_ref(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->ref) : NULL;
}

static char *result_branch(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->branch) : NULL;
}

static char *result_commit(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->commit) : NULL;
}

static char *verdict(const struct receiver *r)
{
	return r->hook != NULL ? text_or_empty(r->hook->verdict) : NULL;
}

static char *cost(const struct receiver *r)
{
	if (r->hook == NULL)
		return NULL;
	return isnan(r->hook->cost) ? xstrdup("") : xasprintf("%.4f", r->hook->cost);
}

static char *tasks(const struct receiver *r)
{
	return r->hook != NULL ? number((int64_t)r->hook->overview->tasks) : NULL;
}

static char *passed(const struct receiver *r)
{
	return r->hook != NULL ? number((int64_t)r->hook->overview->states[TASK_S_PASSED]) : NULL;
}

static char *failed(const struct receiver *r)
{
	return r->hook != NULL ? number((int64_t)r->hook->overview->states[TASK_S_FAILED]) : NULL;
}

/* ---- the table ---- */

static const struct variable {
	const char *name;
	unsigned receivers;
	char *(*value)(const struct receiver *r);
	bool yields;	/* to the variables that [agent.NAME] and --env set */
} variables[] = {
	{ "BEADS_ACTOR", ATTEMPTS, actor, true },
	{ "BD_ACTOR", ATTEMPTS, actor, true },
	{ "RL_HOOK", HOOKS, hook_name, false },
	{ "RL_RUN", ATTEMPTS | HOOKS, run_id, false },
	{ "RL_ATTEMPT", ATTEMPTS, attempt_id, false },
	{ "RL_ATTEMPT_UUID", ALL, uuid, false },
	{ "RL_ROLE", ATTEMPTS, role, false },
	{ "RL_ITERATION", ATTEMPTS, iteration, false },
	{ "RL_SLOT", ATTEMPTS, slot, false },
	{ "RL_TASK_ID", ATTEMPTS | ON_HOLD | ON_PASS, task_id, false },
	{ "RL_TASK", ATTEMPTS, task_text, false },
	{ "RL_TASK_FILE", ATTEMPTS, task_file, false },
	{ "RL_REVIEW_ROUND", ATTEMPTS, review_round, false },
	{ "RL_MAX_REVIEWS", ATTEMPTS, max_reviews, false },
	{ "RL_MODEL", ATTEMPTS, model, false },
	{ "RL_WORKDIR", ATTEMPTS | HOOKS, workdir, false },
	{ "RL_BASE_REF", ATTEMPTS | ON_PASS | ON_END, base_ref, false },
	{ "RL_VERDICT_FILE", REVIEW, verdict_file, false },
	{ "RL_DIFF_FILE", REVIEW, diff_file, false },
	{ "RL_FINDINGS_FILE", FIX, findings_file, false },
	{ "RL_HOLD", ON_HOLD, hold, false },
	{ "RL_HOLD_KIND", ON_HOLD, hold_kind, false },
	{ "RL_REASON", ON_HOLD, reason, false },
	{ "RL_STATE", ON_END, state, false },
	{ "RL_TASK_TITLE", ON_PASS, title, false },
	{ "RL_CAUSE", ON_PASS | ON_END, cause, false },
	{ "RL_END_KIND", ON_PASS | ON_END, end_kind, false },
	{ "RL_RESULT_REF", ON_PASS | ON_END, result_ref, false },
	{ "RL_RESULT_BRANCH", ON_PASS | ON_END, result_branch, false },
	{ "RL_RESULT_COMMIT", ON_PASS | ON_END, result_commit, false },
	{ "RL_VERDICT", ON_PASS | ON_END, verdict, false },
	{ "RL_COST_USD", ON_PASS | ON_END, cost, false },
	{ "RL_TASKS", ON_PASS | ON_END, tasks, false },
	{ "RL_TASKS_PASSED", ON_PASS | ON_END, passed, false },
	{ "RL_TASKS_FAILED", ON_PASS | ON_END, failed, false },
	{ "RLD_SOCKET", ATTEMPTS | HOOKS, socket_path, false },
	{ "SWIVAL_TASK", REVIEW, swival_task, false },
	{ "SWIVAL_REVIEW_ROUND", REVIEW, swival_round, false },
	{ "SWIVAL_MODEL", REVIEW, swival_model, false },
	{ "TMPDIR", REVIEW, scratch, false },
};

static void add(char ***env, const struct receiver *r, bool yields)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const struct variable *v = &variables[i];
		char *value = v->yields == yields && (v->receivers & r->kind) ? v->value(r) : NULL;

		if (value != NULL)
			environment_set(env, v->name, value);
		free(value);
	}
}

void variables_set(const struct build_job *w, const struct agent_plan *agent,
    const struct sources *s, const struct places *p, char ***env)
{
	const struct receiver r = {
		.kind = 1u << w->attempt.role,
		.w = w,
		.agent = agent,
		.texts = s,
		.places = p,
		.uuid = w->attempt.uuid,
		.socket = w->job.socket,
	};

	add(env, &r, true);
	environment_set_all(env, (const char *const *)agent->set);
	environment_set_all(env, (const char *const *)w->plan->env);
	add(env, &r, false);
}

static unsigned kind_of(const struct hook_report *report)
{
	if (strcmp(report->name, "on_hold") == 0)
		return ON_HOLD;
	return strcmp(report->name, "on_pass") == 0 ? ON_PASS : ON_END;
}

char *variables_of_hook(const struct hook_report *report)
{
	const struct receiver r = { .kind = kind_of(report), .hook = report };
	json_t *object = json_object();
	char **env = NULL, *text;

	add(&env, &r, false);
	for (size_t i = 0; env[i] != NULL; i++) {
		char *value = strchr(env[i], '=');

		*value++ = '\0';
		json_object_set_new(object, env[i], json_string(value));
	}
	text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	strings_free(env);
	return text;
}

void variables_of_hook_start(char ***env, const char *uuid, const char *socket)
{
	const struct receiver r = { .kind = ON_HOLD, .uuid = uuid, .socket = socket };

	add(env, &r, false);
}

void variables_of_operation(char ***env, const char *uuid)
{
	const struct receiver r = { .kind = OPERATIONS, .uuid = uuid };

	add(env, &r, false);
}
