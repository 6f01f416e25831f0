/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"
#include "proto/escape.h"
#include "record/layout.h"

#define GIT_TRIES 3
#define GIT_WALL_MS (30 * 60 * 1000)
#define GIT_GRACE_MS 5000

static void next(struct lane *lane, int64_t step, bool ok);

static char *passed_ref(const struct lane *lane)
{
	return xasprintf("refs/rl/passed/%lld/%s", (long long)lane->row->run, lane->row->task);
}

/* path, as seen from the workdir, relative to the workspace; NULL: it is outside. */
static char *in_workspace(const struct run_row *run, const char *path)
{
	size_t n = strlen(run->workspace);

	if (path[0] != '/')
		return run->subdir != NULL && run->subdir[0] != '\0' ? xasprintf("%s/%s", run->subdir, path) : xstrdup(path);
	return strncmp(path, run->workspace, n) == 0 && path[n] == '/' ? xstrdup(path + n + 1) : NULL;
}

char **run_artifacts(const struct run *run)
{
	const struct plan *plan = &run->plan;
	const char *const paths[] = { plan->review ? plan->review_file : NULL, plan->review ? plan->review_log : NULL };
	char **list = NULL;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char *path = paths[i] != NULL ? in_workspace(&run->rows->run, paths[i]) : NULL;

		if (path != NULL)
			strings_append(&list, path);
		free(path);
	}
	return list;
}

/* Its trailers tell a commit of ours from another's, should the operation begin again. */
static char *commit_message(const struct lane *lane)
{
	const struct task_row *task = lane_task(lane);

	return xasprintf("%s\n\nRld-Run: %lld\nRld-Task: %s\n", task->title != NULL ? task->title : task->id, (long long)lane->row->run, task->id);
}

static char *ref_of(const struct lane *lane, enum git_op_kind kind)
{
	if (kind == GIT_PIN)
		return passed_ref(lane);
	return kind == GIT_SNAPSHOT ? xasprintf("refs/rl/base/%lld", (long long)lane->run->rows->run.id) : NULL;
}

void git_begin(struct lane *lane, enum git_op_kind kind)
{
	struct run *run = lane->run;
	const struct run_row *row = &run->rows->run;
	const char *state_dir = run->engine->state_dir;
	char *dir = work_run_dir(state_dir, row->id), **artifacts = run_artifacts(run);
	char *attempt = lane->row != NULL && lane->row->attempt != ROW_NONE ? work_attempt_dir(state_dir, lane->row->attempt) : NULL;
	char *scratch = xasprintf("%s/scratch", dir), *aside = attempt != NULL ? xasprintf("%s/aside", attempt) : NULL;
	char *ref = ref_of(lane, kind), *message = kind == GIT_COMMIT ? commit_message(lane) : NULL;
	bool apart = kind == GIT_CHECKOUT || (kind == GIT_VERIFY && run->plan.workspace == PLACE_SNAPSHOT);
	char *checkout = apart ? work_checkout_dir(state_dir, row->id, lane->row->slot) : NULL;
	struct git_op_spec spec = {
		.kind = kind,
		.workspace = row->workspace,
		.scratch = scratch,
		.tree = kind == GIT_MEASURE ? row->base_tree : lane->row != NULL ? lane->row->tree : NULL,
		.base = row->base_tree,
		.ref = ref,
		.aside = aside,
		.dir = checkout,
		.message = message,
		.artifacts = artifacts,
	};

	git_op_free(lane->op);
	lane->op = git_op_new(&spec);
	lane->op_kind = kind;
	free(checkout);
	free(message);
	free(ref);
	free(aside);
	free(scratch);
	free(attempt);
	strings_free(artifacts);
	free(dir);
	next(lane, ROW_NONE, true);
}

/* Ends the turn: what the whole operation came to. */
static void fail(struct turn *turn, struct lane *lane, const char *why)
{
	char *safe = text_escape(why, strlen(why), false);
	char *cause = xasprintf("git %s failed: %s", git_op_names[lane->op_kind], safe);

	if (lane->row != NULL)
		lane_event(turn, lane, SLOT_E_FAILED, cause);
	else
		run_event(turn, lane->run, RUN_E_FAILED, cause);
	free(cause);
	free(safe);
}

static bool same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* The tree tells what the attempt really did: nothing after a refused permission is a failure, nothing at all is told. */
static enum slot_event weigh(struct turn *turn, struct lane *lane, const char *tree)
{
	const struct slot_row *row = lane->row;
	struct attempt_row *a = run_attempt(lane->run, row->answer);
	bool unchanged = same(tree, row->tree != NULL ? row->tree : lane->run->rows->run.base_tree);
	bool denied = a->outcome == TASK_R_DENIED;

	if (denied && unchanged) {
		free(a->cause);
		a->cause = xasprintf("%s process was denied permissions and changed nothing", a->role == ROLE_FIX ? "fixer" : "implementer");
	} else {
		a->outcome = unchanged ? TASK_R_NO_CHANGE : TASK_R_DONE;
	}
	turn_put(turn, ROW_ATTEMPT, a);
	if (denied && unchanged)
		return SLOT_E_FAILED;
	return measured_event(&lane->run->plan, false, false);
}

static void measured(struct turn *turn, struct lane *lane, int64_t last_step)
{
	struct slot_row *row = lane->row;
	bool accepted = row->cause != NULL;
	const char *tree = git_op_tree(lane->op);
	enum slot_event event = accepted ? measured_event(&lane->run->plan, true, false) : weigh(turn, lane, tree);

	if (event != SLOT_E_FAILED) {
		free(row->previous_tree);
		row->previous_tree = row->tree;
		row->tree = xstrdup(tree);
		row->diff = last_step;
	}
	if (event == SLOT_E_MEASURED_UNREVIEWED || (event == SLOT_E_MEASURED_COMMIT && !accepted))
		review_skip(turn, lane, lane->run->plan.skip_reason);
	lane_event(turn, lane, event, event == SLOT_E_FAILED ? run_attempt(lane->run, row->answer)->cause : NULL);
}

/* A verdict passed it: from now on the artifact is locked. */
static void pinned(struct turn *turn, struct lane *lane)
{
	struct run_row *run = &lane->run->rows->run;
	struct task_row *task = lane_task(lane);

	free(run->result_ref);
	run->result_ref = passed_ref(lane);
	free(run->result_tree);
	run->result_tree = xstrdup(lane->row->tree);
	turn_put(turn, ROW_RUN, run);
	free(task->locked_ref);
	task->locked_ref = passed_ref(lane);
	free(task->locked_tree);
	task->locked_tree = xstrdup(lane->row->tree);
	turn_put(turn, ROW_TASK, task);
	lane_event(turn, lane, SLOT_E_PINNED, NULL);
}

static void committed(struct turn *turn, struct lane *lane)
{
	struct run_row *run = &lane->run->rows->run;

	free(run->result_commit);
	run->result_commit = xstrdup(git_op_commit(lane->op));
	turn_put(turn, ROW_RUN, run);
	if (run->result_commit == NULL)
		run_warn(turn, lane->run, "nothing was committed: the tree is as it was before");
	lane_event(turn, lane, committed_event(&lane->run->plan, lane->row->cause == NULL && lane->run->plan.review, lane->row->slot == 0), NULL);
}

static void done(struct turn *turn, struct lane *lane, int64_t last_step)
{
	struct run_row *run = &lane->run->rows->run;

	switch (lane->op_kind) {
	case GIT_SNAPSHOT:
		free(run->base_tree);
		run->base_tree = xstrdup(git_op_tree(lane->op));
		run_event(turn, lane->run, RUN_E_PREPARED, NULL);
		break;
	case GIT_MEASURE:
		measured(turn, lane, last_step);
		break;
	case GIT_VERIFY:
		review_judge(lane, git_op_changed(lane->op), git_op_moved(lane->op));
		break;
	case GIT_PIN:
		pinned(turn, lane);
		break;
	case GIT_CHECKOUT:
		lane_event(turn, lane, SLOT_E_CHECKED_OUT, NULL);
		break;
	case GIT_COMMIT:
		committed(turn, lane);
		break;
	case GIT_BASE:
	case GIT_WORKTREE:
	case GIT_COMMITTED:
	case GIT_MERGE:
	case GIT_CLEAR:
	case GIT_OPS:
		break;
	}
}

static void begin_step(struct turn *turn, struct lane *lane, struct git_work *w)
{
	struct run *run = lane->run;
	struct engine *engine = run->engine;
	struct step_row *step = row_new(ROW_STEP);
	char uuid[37];

	engine->ports.uuid(engine->ports.clock_ctx, uuid);
	step->id = ++engine->last_attempt;
	step->run = run->rows->run.id;
	step->slot = lane->row != NULL ? lane->row->slot : ROW_NONE;
	step->name = xasprintf("%s: %s", git_op_names[lane->op_kind], w->out.name);
	step->uuid = xstrdup(uuid);
	step->boot_id = xstrdup(engine->ports.boot_id(engine->ports.clock_ctx));
	step->state = ATTEMPT_S_STARTING;
	step->started_at = engine_now(engine);
	turn_put(turn, ROW_STEP, step);
	lane->step = step;
	lane->next_step = w->out;
	strings_free(lane->next_env);
	lane->next_env = w->env;
	w->env = NULL;
	environment_set(&lane->next_env, "RL_ATTEMPT_UUID", uuid);
	turn_act(turn, ACT_STEP, run, lane, step->id);
}

/* Record the end of the lane's step, if it has one that ran. */
static void end_step(struct turn *turn, struct lane *lane)
{
	if (lane->step == NULL)
		return;
	lane->step->ended_at = engine_now(lane->run->engine);
	turn_put(turn, ROW_STEP, lane->step);
	row_free(ROW_STEP, lane->step);
	lane->step = NULL;
}

static void next_cb(void *arg, struct work *work)
{
	struct lane *lane = arg;
	struct engine *engine = lane->run->engine;
	struct git_work *w = (struct git_work *)work;
	struct turn *turn;

	if (engine->stopped) {
		work_free(work);
		return;
	}
	turn = turn_new(engine);
	end_step(turn, lane);
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane)) {
		lane_ended(turn, lane);
	} else {
		switch (w->next) {
		case STEP_NEXT_RUN:
			begin_step(turn, lane, w);
			break;
		case STEP_NEXT_DONE:
			lane->tries = 0;
			done(turn, lane, w->step);
			break;
		case STEP_NEXT_FAILED:
			fail(turn, lane, w->error != NULL ? w->error : git_op_error(lane->op));
			break;
		}
	}
	turn_commit(turn);
	work_free(work);
}

static void next(struct lane *lane, int64_t step, bool ok)
{
	struct run *run = lane->run;
	char *dir = work_run_dir(run->engine->state_dir, run->rows->run.id);
	struct git_work *w = xcalloc(1, sizeof(*w));

	lane->pending = PENDING_WORK;
	w->op = lane->op;
	w->environment = xstrdup(run->rows->run.environment);
	w->scratch = xasprintf("%s/scratch", dir);
	if (lane->op_kind == GIT_VERIFY) {
		free(dir);
		dir = work_attempt_dir(run->engine->state_dir, lane->row->attempt);
		w->aside = xasprintf("%s/aside", dir);
	}
	free(dir);
	w->step = step;
	w->ok = ok;
	engine_work(run->engine, &w->work, WORK_GIT, next_cb, lane);
}

/* The cancel came between the decision and the start. */
static void end_unstarted(struct lane *lane)
{
	struct turn *turn = turn_new(lane->run->engine);

	lane->step->state = ATTEMPT_S_EXITED;
	lane->step->cause = xstrdup("cancelled before it was started");
	end_step(turn, lane);
	lane_ended(turn, lane);
	turn_commit(turn);
}

void git_launch(struct lane *lane)
{
	struct engine *engine = lane->run->engine;
	struct launch *launch;
	char **argv = NULL;

	if (lane_ending(lane)) {
		end_unstarted(lane);
		return;
	}
	launch = xcalloc(1, sizeof(*launch));
	for (size_t i = 0; lane->next_step.argv[i] != NULL; i++)
		strings_append(&argv, lane->next_step.argv[i]);
	launch->id = lane->step->id;
	launch->envp = lane->next_env;
	lane->next_env = NULL;
	launch->job = (struct job){
		.argv = argv,
		.cwd = xstrdup(lane->run->rows->run.workspace),
		.input = lane->next_step.input != NULL ? xstrdup(RECORD_PROMPT) : NULL,
		.uuid = xstrdup(lane->step->uuid),
		.wall_ms = GIT_WALL_MS,
		.grace_ms = GIT_GRACE_MS,
		.output_bytes = lane->next_step.output_bytes,
		.durable = false,
	};
	if (lane->next_step.input != NULL)
		launch->files[launch->nfiles++] = (struct launch_file){
			.name = RECORD_PROMPT,
			.data = xmemdup0(lane->next_step.input, lane->next_step.input_size),
			.size = lane->next_step.input_size,
			.mode = 0600,
		};
	lane->pending = PENDING_PROC;
	lane->id = launch->id;
	engine->ports.start(engine->ports.proc_ctx, launch);
}

void git_refused(struct lane *lane, const char *error)
{
	struct turn *turn = turn_new(lane->run->engine);

	lane->step->state = ATTEMPT_S_EXITED;
	lane->step->cause = xstrdup(error);
	end_step(turn, lane);
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane))
		lane_ended(turn, lane);
	else
		fail(turn, lane, error);
	turn_commit(turn);
}

void git_lost(struct lane *lane)
{
	struct turn *turn = turn_new(lane->run->engine);

	if (lane->step != NULL) {
		lane->step->state = ATTEMPT_S_LOST;
		end_step(turn, lane);
	}
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane)) {
		lane_ended(turn, lane);
	} else if (++lane->tries >= GIT_TRIES) {
		fail(turn, lane, "its process was killed three times");
	} else if (lane->row == NULL) {
		turn_act(turn, ACT_PREPARE, lane->run, lane, ROW_NONE);
	} else {
		turn_act(turn, ACT_GIT, lane->run, lane, (int64_t)lane->op_kind);
	}
	turn_commit(turn);
}

void git_ended(struct lane *lane, const struct exit_record *record)
{
	if (record != NULL && record->by == EXIT_TERM && lane_ending(lane)) {
		git_refused(lane, "cancelled");
		return;
	}
	/* without an op it is a step of the daemon before this one: the operation begins again */
	if (record == NULL || record->by == EXIT_TERM || lane->op == NULL) {
		git_lost(lane);
		return;
	}
	if (record->how == EXIT_NOT_STARTED) {
		git_refused(lane, record->error);
		return;
	}
	lane->step->state = ATTEMPT_S_EXITED;
	lane->step->exit_code = record->how == EXIT_BY_CODE ? record->status : ROW_NONE;
	lane->step->signal = record->how == EXIT_BY_SIGNAL ? record->status : ROW_NONE;
	if (record->by == EXIT_WALL)
		lane->step->cause = xstrdup("timed out");
	next(lane, lane->step->id, record->how == EXIT_BY_CODE && record->status == 0);
}
