/* SPDX-License-Identifier: MIT */
/* Processes of the simulated world: attempts, git steps and hooks. They outlive the daemon. */
#include <errno.h>
#include <stdio.h>

#include "core/launcher_host.h"
#include "core/slot.h"
#include "day.h"
#include "world_int.h"

static struct process *process_find(struct world *w, int64_t id)
{
	return id < w->ids_max ? w->procs[id] : NULL;
}

static void remove_live(struct world *w, const struct process *p)
{
	for (size_t i = 0; i < w->nlive; i++)
		if (w->live[i] == p) {
			REMOVE(live, i);
			return;
		}
}

/* It is as if it had never been. */
static void process_drop(struct world *w, struct process *p)
{
	remove_live(w, p);
	w->procs[p->id] = NULL;
	free(p);
}

static const struct plan *plan_of(const struct world *w, const struct attempt_row *row)
{
	return world_task_plan(w, row->run, row->slot == 0 ? NULL : row->task);
}

static bool is_placed(struct world *w, int64_t id)
{
	const struct attempt_row *row = disk_attempt(w, id);

	return row != NULL && world_is_placed(plan_of(w, row), row);
}

/* Slots of the node that the row names; 0: the launcher has no list, -1: it is none of the list. */
static int64_t slots_of_node(const struct agent_plan *agent, const char *node)
{
	struct launcher_host host;
	bool listed = false;

	for (char *const *word = agent->hosts; word != NULL && *word != NULL; word++) {
		listed = true;
		if (launcher_host_read(*word, &host) && text_equal(node, host.name))
			return host.slots;
	}
	return listed || node != NULL ? -1 : 0;
}

/* No more of them are behind a launcher, and on its node, than the run of the one that comes may
 * have there. */
static void check_launcher(struct world *w, const struct attempt_row *row)
{
	int64_t others = 0, beside = 0, limit, slots;

	if (!world_is_placed(plan_of(w, row), row))
		return;
	for (size_t i = 0; i < w->nlive; i++) {
		const struct process *p = w->live[i];

		if (p->kind != PROC_ATTEMPT || (p->state != PROC_STARTING && p->state != PROC_RUNNING) ||
		    !is_placed(w, p->id))
			continue;
		others++;
		beside += row->node != NULL && text_equal(disk_attempt(w, p->id)->node, row->node);
	}
	slots = slots_of_node(world_agent(plan_of(w, row), row), row->node);
	if (slots < 0 || (slots > 0 && beside >= slots))
		world_fail(w, "attempt %lld is started on %s, where %lld of %lld slots are in use",
		    (long long)row->id, row->node != NULL ? row->node : "no node", (long long)beside,
		    (long long)slots);
	limit = world_agent(plan_of(w, row), row)->launcher_slots;
	if (limit != 0 && others >= limit)
		world_fail(w, "attempt %lld is started, and %lld of %lld slots of its launcher are in use",
		    (long long)row->id, (long long)others, (long long)limit);
}

/* Nobody has seen the agent end where its launcher had placed it. */
static void is_unknown(struct world *w, int64_t id, struct exit_record *r)
{
	struct fate *f = fate_of(w, id);

	f->result = FATE_LOST;
	r->far = EXIT_FAR_UNKNOWN;
	r->cancelled = f->over ? EXIT_CANCEL_DONE : below(w, 2) == 0 ? EXIT_CANCEL_FAILED : EXIT_CANCEL_UNSEEN;
	r->tree_empty = f->over;
}

/* What is said of an attempt whose shim is gone; NULL: nothing. */
static const struct exit_record *lost_record(struct world *w, int64_t id, struct exit_record *r)
{
	struct fate *f = fate_of(w, id);

	f->result = FATE_LOST;
	if (!is_placed(w, id) || below(w, 4) == 0) {
		f->over = false;
		return NULL;
	}
	*r = (struct exit_record){ .how = EXIT_BY_CODE };
	is_unknown(w, id, r);
	return r;
}

static void check_start(struct world *w, struct process *p)
{
	const struct attempt_row *row = disk_attempt(w, p->id);
	const struct hook_told *told = disk_hook(w, p->id);

	p->run = row != NULL ? row->run : told != NULL ? told->row->run : disk_step(w, p->id);
	p->kind = row != NULL ? PROC_ATTEMPT : told != NULL ? PROC_HOOK : PROC_STEP;
	if (p->kind == PROC_STEP && p->run == ROW_NONE)
		world_fail(w, "%lld was started before its row was on disk", (long long)p->id);
	if (row != NULL) {
		law_start(w, row);
		check_launcher(w, row);
	}
	if (row != NULL && row->state != ATTEMPT_S_STARTING)
		world_fail(w, "attempt %lld was started in state %s", (long long)p->id,
		    state_name(&attempt_state_names, row->state));
	if (told != NULL && told->row->state != ATTEMPT_S_STARTING)
		world_fail(w, "hook %lld was started in state %s", (long long)p->id,
		    state_name(&attempt_state_names, told->row->state));
}

void port_start(void *ctx, struct launch *launch)
{
	struct world *w = ctx;
	struct process *p = xcalloc(1, sizeof(*p));

	disk_effect(w);
	p->id = launch->id;
	p->watched = true;
	if (p->id >= w->ids_max || w->procs[p->id] != NULL)
		world_fail(w, "%lld was started twice", (long long)p->id);
	check_start(w, p);
	launch_free(launch);
	if (world_error(w) != NULL) {
		free(p);
		return;
	}
	p->taken = rarely(w, 40);
	w->procs[p->id] = p;
	PUSH(live, p);
}

void port_end(void *ctx, int64_t id)
{
	struct process *p = process_find(ctx, id);

	disk_effect(ctx);
	if (p != NULL)
		p->ending = true;
}

/* Its program says when it is through, and has said so. */
static bool has_result(struct world *w, int64_t id)
{
	const struct attempt_row *row = disk_attempt(w, id);
	const struct fate *f = fate_of(w, id);
	const struct plan *plan;

	if (f->started == 0 || (f->result != FATE_OK && f->result != FATE_ERROR))
		return false;
	plan = world_task_plan(w, row->run, row->slot == 0 ? NULL : row->task);
	return !role_is_command((enum role)row->role) &&
	    reader_can_tell(world_agent(plan, row)->reader);
}

static bool lingers(struct world *w, const struct process *p)
{
	return p->kind == PROC_ATTEMPT && has_result(w, p->id) && fate_of(w, p->id)->lingers;
}

/* It does not end by itself. */
static bool stays(struct world *w, const struct process *p)
{
	return !p->ending && ((lingers(w, p) && !p->winding) || (p->kind == PROC_ATTEMPT && service_refuses(w, p->id)));
}

void port_wind_up(void *ctx, int64_t id)
{
	struct process *p = process_find(ctx, id);

	if (p == NULL)
		return;
	if (p->kind != PROC_ATTEMPT || !has_result(ctx, id))
		world_fail(ctx, "%lld was told that its result has been read", (long long)id);
	p->winding = true;
}

/* Its service does not serve it, and it waits until a clock ends it. */
static bool stands_still(struct world *w, int64_t id)
{
	const struct fate *f = fate_of(w, id);

	return f->started > 0 && f->silent && service_says(f) != 0;
}

void port_stalled(void *ctx, int64_t id)
{
	if (process_find(ctx, id) != NULL && !stands_still(ctx, id))
		world_fail(ctx, "%lld was told that it makes no progress", (long long)id);
}

void job_result(struct world *w, struct result_job *job)
{
	const struct process *p = process_find(w, job->attempt);

	/* of a day: not before it is through */
	job->over = (w->day == NULL || p == NULL || w->now >= p->due) && has_result(w, job->attempt) &&
	    below(w, 2) == 0;
	job->stalled = job->idle_ms > 0 && stands_still(w, job->attempt);
}

void port_adopt(void *ctx, const struct adopt *adopt)
{
	struct world *w = ctx;
	struct question q = { adopt->id, xstrdup(adopt->boot_id) };
	const struct attempt_row *row = disk_attempt(w, adopt->id);

	/* it has not been started, whoever was there before */
	if (row != NULL && row->state == ATTEMPT_S_STARTING &&
	    slot_cools(disk_slot_of(w, row)))
		world_fail(w, "attempt %lld cools, and is taken for one that may run", (long long)row->id);

	PUSH(questions, q);
}

const char *port_boot(void *ctx)
{
	static char text[32];
	struct world *w = ctx;

	snprintf(text, sizeof(text), "boot-%lld", (long long)w->boot);
	return text;
}

/* A reviewer in a room is given exactly the tree under review, which nobody has worked in, no check
 * either. */
static void use_checkout(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct plan *plan = world_task_plan(w, row->run, row->slot == 0 ? NULL : row->task);
	bool checks = row->role == ROLE_CHECK && plan_checks_room(plan);
	struct place *place;
	char *path;

	if ((row->role != ROLE_REVIEW && !checks) || plan->workspace != REVIEW_IN_ROOM || rows->run.has_git != 1)
		return;
	path = xasprintf("/state/runs/%lld/tree-%lld-%lld", (long long)row->run,
	    (long long)row->iteration, (long long)disk_slot_of(w, row)->slot);
	place = place_of(w, path);
	free(path);
	if (!place->fresh && !checks)
		world_fail(w, "attempt %lld reviews in a room that another has used", (long long)row->id);
	place->fresh = false;
}

/* No other process works on that task. */
static void check_only_one(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *mine = view_run(w->disk, row->run);

	for (size_t i = 0; i < w->nlive && row->task != NULL; i++) {
		const struct process *p = w->live[i];
		const struct attempt_row *other = p->kind == PROC_ATTEMPT &&
		    p->state == PROC_RUNNING && p->id != row->id ? disk_attempt(w, p->id) : NULL;
		const struct run_rows *rows = other != NULL && other->task != NULL &&
		    strcmp(other->task, row->task) == 0 ? view_run(w->disk, other->run) : NULL;
		bool shared = rows != NULL && strcmp(rows->run.source, "beads") == 0 &&
		    strcmp(mine->run.source, "beads") == 0 &&
		    strcmp(rows->run.source_path, mine->run.source_path) == 0;

		/* those of one panel judge it together */
		if (rows == mine && other->reviewer != NULL && row->reviewer != NULL &&
		    strcmp(other->reviewer, row->reviewer) != 0)
			continue;
		if (rows != NULL && (rows == mine || shared))
			world_fail(w, "attempts %lld and %lld work on task %s",
			    (long long)other->id, (long long)row->id, row->task);
	}
}

/* From now on it costs money, or tells somebody. */
static void process_run(struct world *w, struct process *p)
{
	p->state = PROC_RUNNING;
	if (p->kind == PROC_ATTEMPT) {
		use_checkout(w, disk_attempt(w, p->id));
		check_only_one(w, disk_attempt(w, p->id));
	}
	if (w->day != NULL)
		p->due = w->now + day_begins(w, p->kind == PROC_ATTEMPT ? disk_attempt(w, p->id) : NULL);
	if (p->kind == PROC_HOOK)
		disk_hook(w, p->id)->ran = true;
	if (p->kind == PROC_ATTEMPT && fate_of(w, p->id)->started++ > 0)
		world_fail(w, "attempt %lld was paid twice", (long long)p->id);
}

/* A launcher may be started and end before its agent is. */
static bool is_refused(struct world *w, const struct process *p)
{
	return p->kind == PROC_ATTEMPT && fate_of(w, p->id)->result == FATE_NOT_STARTED &&
	    !(is_placed(w, p->id) && fate_of(w, p->id)->over);
}

/* Report what the daemon does not know yet. */
static bool process_report(struct world *w, struct process *p)
{
	struct exit_record record = p->record;

	if (!p->watched)
		return false;
	if (p->taken) {
		int64_t id = p->id;

		process_drop(w, p);
		engine_proc_sink.taken(w->engine, id, id + 1);
		return true;
	}
	if (p->state == PROC_STARTING && is_refused(w, p) && !p->ending) {
		p->state = PROC_GONE;
		p->watched = false;
		remove_live(w, p);
		engine_proc_sink.refused(w->engine, p->id, ENOENT, "no such file");
		return true;
	}
	/* the host keeps it from being started: it may be, under its id */
	if (p->state == PROC_STARTING && rarely(w, 40)) {
		int64_t id = p->id;

		process_drop(w, p);
		engine_proc_sink.refused(w->engine, id, EMFILE, "too many open files");
		return true;
	}
	if (p->state == PROC_STARTING)
		process_run(w, p);
	if (!p->told_started) {
		p->told_started = true;
		engine_proc_sink.started(w->engine, p->id);
		return true;
	}
	if (p->state == PROC_ENDED || p->state == PROC_GONE) {
		const struct exit_record *known = p->state == PROC_ENDED ? &record :
		    p->kind == PROC_ATTEMPT ? lost_record(w, p->id, &record) : NULL;

		p->watched = false;
		remove_live(w, p);
		engine_proc_sink.ended(w->engine, p->id, known);
		return true;
	}
	return false;
}

/* A program that reviews says what it found by its exit status. */
static int review_status(struct world *w, const struct attempt_row *row, const struct fate *f)
{
	const struct plan *plan = world_task_plan(w, row->run, row->slot == 0 ? NULL : row->task);

	return row->role == ROLE_REVIEW && plan->profile->carrier == CARRIER_EXIT && f->verdict == FATE_FINDINGS;
}

static void work(struct world *w, struct place *place, bool goes_back)
{
	int64_t tree = goes_back && place->before != 0 ? place->before : ++w->trees;

	place->before = place->tree;
	place->tree = tree;
}

static void attempt_end(struct world *w, struct process *p)
{
	const struct attempt_row *row = disk_attempt(w, p->id);
	struct exit_record *r = &p->record;
	struct fate *f = fate_of(w, p->id);

	if (w->day != NULL && !f->lingers)
		day_ends(w, row);
	switch ((enum fate_result)f->result) {
	case FATE_OK:
		if ((row->role == ROLE_IMPLEMENT || row->role == ROLE_FIX) && f->changes_tree)
			work(w, place_of_slot(w, disk_slot(w,
			    (struct where){ row->run, row->iteration, row->slot })),
			    row->role == ROLE_FIX && f->goes_back);
		r->status = review_status(w, row, f);
		break;
	case FATE_ERROR:
		r->status = review_status(w, row, f);
		break;
	case FATE_EXIT:
		r->status = 3;
		break;
	case FATE_SIGNAL:
		r->how = EXIT_BY_SIGNAL;
		r->status = 11;
		break;
	case FATE_TIMEOUT:
		r->how = EXIT_BY_SIGNAL;
		r->status = 15;
		r->by = EXIT_WALL;
		break;
	case FATE_LIMIT:
	case FATE_THROTTLED:
	case FATE_HICCUP:
	case FATE_AUTH:
		r->status = 3;
		if (f->silent) {
			r->how = EXIT_BY_SIGNAL;
			r->status = 15;
			r->by = EXIT_IDLE;
		}
		break;
	case FATE_LOST:
		p->state = PROC_GONE;
		break;
	case FATE_HOST:
		r->how = EXIT_NOT_STARTED;
		r->status = ENOSPC;
		break;
	case FATE_NOT_STARTED:
	case FATE_RESULTS:
		r->how = EXIT_NOT_STARTED;
		r->status = ENOENT;
		if (is_placed(w, p->id)) {
			r->status = ECHILD;
			r->far = EXIT_FAR_NOT_STARTED;
			r->cancelled = EXIT_CANCEL_DONE;
			f->unreached = disk_attempt(w, p->id)->node != NULL;
		}
		break;
	}
}

static void process_end(struct world *w, struct process *p)
{
	struct exit_record *r = &p->record;

	r->tree_empty = true;
	r->ended_ms = ++w->now;
	p->state = PROC_ENDED;
	if (p->kind != PROC_ATTEMPT) {
		p->state = rarely(w, 12) ? PROC_GONE : PROC_ENDED;
		r->status = rarely(w, p->kind == PROC_STEP ? 60 : 4);
		r->by = p->ending ? EXIT_TERM : EXIT_OWN;
		if (!p->ending && rarely(w, 40)) {
			r->how = EXIT_NOT_STARTED;
			r->status = EIO;
		}
	} else if (p->ending) {
		r->by = EXIT_TERM;
		r->how = EXIT_BY_SIGNAL;
		r->status = 15;
	} else {
		attempt_end(w, p);
	}
	if (p->kind == PROC_ATTEMPT && !p->ending && lingers(w, p)) {
		r->by = EXIT_RESULT;
		r->how = EXIT_BY_SIGNAL;
		r->status = 15;
	}
	/* a limit, or who has ended it, was not heard where it runs */
	if (p->kind == PROC_ATTEMPT && is_placed(w, p->id) && (r->by == EXIT_WALL || r->by == EXIT_IDLE ||
	    r->by == EXIT_TERM) && !fate_of(w, p->id)->reports && below(w, 4) == 0) {
		fate_of(w, p->id)->over = false;
		is_unknown(w, p->id, r);
	}
	if (!p->watched)
		remove_live(w, p);
}

/* The check of a merge takes its time, so that others are to be merged meanwhile. */
static bool is_slow(struct world *w, const struct process *p)
{
	const struct attempt_row *row = w->merges && p->kind == PROC_ATTEMPT ?
	    disk_attempt(w, p->id) : NULL;
	const struct slot_row *slot = row != NULL && row->role == ROLE_CHECK ?
	    disk_slot(w, (struct where){ row->run, row->iteration, row->slot }) : NULL;

	return slot != NULL && slot->merge == MERGE_JUDGING && below(w, 40) != 0;
}

bool processes_move(struct world *w)
{
	size_t first = below(w, (unsigned)w->nlive);

	for (size_t i = 0; i < w->nlive; i++) {
		struct process *p = w->live[(first + i) % w->nlive];

		if (process_report(w, p))
			return true;
		if (p->state == PROC_RUNNING && (p->told_started || !p->watched) && !stays(w, p) &&
		    (p->ending || w->now >= p->due) && !is_slow(w, p)) {
			process_end(w, p);
			return true;
		}
	}
	return false;
}

int64_t processes_due(struct world *w)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < w->nlive; i++) {
		const struct process *p = w->live[i];
		bool tells = p->watched && (p->taken || p->state != PROC_RUNNING || !p->told_started);

		if (tells || (p->state == PROC_RUNNING && p->ending))
			return w->now;
		if (p->state == PROC_RUNNING && !stays(w, p) && p->due < due)
			due = p->due;
	}
	return due;
}

bool processes_wait(const struct world *w)
{
	for (size_t i = 0; i < w->nlive; i++)
		if (w->live[i]->watched || w->live[i]->state == PROC_RUNNING)
			return true;
	return false;
}

void processes_orphaned(struct world *w, bool reboot)
{
	for (size_t i = w->nlive; i > 0; i--) {
		struct process *p = w->live[i - 1];

		p->watched = p->told_started = false;
		/* it may have been spawned just before: then it runs and is paid for */
		if (p->taken || (p->state == PROC_STARTING && below(w, 2) == 0)) {
			process_drop(w, p);
			continue;
		}
		if (p->state == PROC_STARTING && is_refused(w, p))
			process_end(w, p);
		else if (p->state == PROC_STARTING)
			process_run(w, p);
		if (reboot && p->state == PROC_RUNNING)
			p->state = PROC_GONE;
		if (p->state == PROC_ENDED || p->state == PROC_GONE)
			remove_live(w, p);
	}
}

/* What a reboot or a dead shim took away is lost, whatever it would have come to. */
static void answer_lost(struct world *w, int64_t id, const struct process *p)
{
	const struct exit_record *known = NULL;
	struct exit_record record;

	if (p != NULL ? p->kind == PROC_ATTEMPT : disk_attempt(w, id) != NULL)
		known = lost_record(w, id, &record);
	engine_proc_sink.found(w->engine, id, known != NULL ? FOUND_ENDED : below(w, 4) == 0 ? FOUND_UNREADABLE :
	    FOUND_LOST, known, "its supervisor is gone");
}

void processes_answer(struct world *w)
{
	size_t at = below(w, (unsigned)w->nquestions);
	struct question q = w->questions[at];
	struct process *p = process_find(w, q.id);
	bool this_boot = strcmp(q.boot, port_boot(w)) == 0;
	struct exit_record record;

	REMOVE(questions, at);
	free(q.boot);
	if (p != NULL && p->state == PROC_ENDED) {
		record = p->record;
		engine_proc_sink.found(w->engine, q.id, FOUND_ENDED, &record, NULL);
	} else if (this_boot && p == NULL) {
		/* the old daemon died between its row and the spawn */
		engine_proc_sink.found(w->engine, q.id, FOUND_NEVER_STARTED, NULL, NULL);
	} else if (this_boot && p->state == PROC_RUNNING) {
		p->watched = true;
		p->told_started = true;
		engine_proc_sink.found(w->engine, q.id, FOUND_RUNNING, NULL, NULL);
	} else {
		answer_lost(w, q.id, p);
	}
}

/* Attempts run only for runs that are neither over nor wait for somebody; but the base may be
 * checked to the end beside a hold. */
void processes_check(struct world *w)
{
	for (size_t i = 0; i < w->nlive; i++) {
		const struct process *p = w->live[i];
		bool lives = p->state == PROC_RUNNING || (p->state == PROC_STARTING && p->watched);
		const struct run_rows *rows = p->kind == PROC_ATTEMPT && lives ? view_run(w->disk, p->run) : NULL;

		if (rows != NULL && (run_state_is_end((enum run_state)rows->run.state) ||
		    (rows->run.state == RUN_S_HELD && disk_attempt(w, p->id)->slot != SLOT_BASELINE)))
			world_fail(w, "attempt %lld runs, but its run %lld is %s", (long long)p->id,
			    (long long)rows->run.id, state_name(&run_state_names, rows->run.state));
	}
}

void processes_retire(struct world *w, int64_t *from)
{
	bool all = true;

	for (int64_t id = *from; id <= w->last_attempt && id < w->ids_max; id++) {
		struct process *p = w->procs[id];

		if (p != NULL && view_run(w->disk, p->run) == NULL) {
			remove_live(w, p);
			free(p);
			p = w->procs[id] = NULL;
		}
		all &= p == NULL;
		if (all)
			*from = id + 1;
	}
}

/* Somebody was told, though perhaps not at the first try. */
static bool was_told(const struct world *w, int64_t run, const char *name, const char *what)
{
	for (size_t i = 0; i < w->ntold; i++)
		if (w->told[i].row->run == run && strcmp(w->told[i].row->name, name) == 0 && w->told[i].ran &&
		    strstr(w->told[i].row->environment, what) != NULL)
			return true;
	return false;
}

/* Number of hooks of that name that were told so, apart from those that were lost and run again. */
static size_t times_told(const struct world *w, int64_t run, const char *name, const char *what)
{
	size_t count = 0;

	for (size_t i = 0; i < w->ntold; i++) {
		const struct hook_row *row = w->told[i].row;

		count += row->run == run && row->state != ATTEMPT_S_LOST && strcmp(row->name, name) == 0 &&
		    strstr(row->environment, what) != NULL;
	}
	return count;
}

void hooks_retire(struct world *w, const struct run_rows *rows)
{
	const struct plan *plan = world_plan(w, rows->run.id);
	char what[80];

	for (size_t i = 0; i < rows->nholds && strings_count(plan->on_hold) > 0; i++) {
		snprintf(what, sizeof(what), "\"RL_HOLD\":\"%lld\"", (long long)rows->holds[i]->id);
		if (!was_told(w, rows->run.id, "on_hold", what))
			world_fail(w, "no hook was told of hold %lld", (long long)rows->holds[i]->id);
	}
	for (size_t i = 0; i < rows->ntasks && strings_count(plan->on_pass) > 0; i++) {
		char *task = xasprintf("\"RL_TASK_ID\":\"%s\"", rows->tasks[i]->id);
		bool told = was_told(w, rows->run.id, "on_pass", task);

		if (told != (rows->tasks[i]->state == TASK_S_PASSED))
			world_fail(w, "run %lld task %s: %s", (long long)rows->run.id, rows->tasks[i]->id,
			    told ? "a hook was told of a pass that is none" : "no hook was told of its pass");
		if (times_told(w, rows->run.id, "on_pass", task) > 1)
			world_fail(w, "run %lld task %s: told of its pass more than once",
			    (long long)rows->run.id, rows->tasks[i]->id);
		free(task);
	}
	snprintf(what, sizeof(what), "\"RL_STATE\":\"%s\"", state_name(&run_state_names, rows->run.state));
	if (strings_count(plan->on_end) > 0 && run_state_is_end((enum run_state)rows->run.state) &&
	    !was_told(w, rows->run.id, "on_end", what))
		world_fail(w, "no hook was told that run %lld ended", (long long)rows->run.id);
}

void hooks_check_end(struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		hooks_retire(w, rows);
	for (size_t i = 0; i < w->ntold; i++) {
		const struct hook_row *row = w->told[i].row;
		const struct plan *plan = world_plan(w, row->run);

		if (row->state == ATTEMPT_S_STARTING || row->state == ATTEMPT_S_RUNNING)
			world_fail(w, "hook %lld is still %s, but nothing moves",
			    (long long)row->id, state_name(&attempt_state_names, row->state));
		if (strings_count(strcmp(row->name, "on_hold") == 0 ? plan->on_hold :
		    strcmp(row->name, "on_pass") == 0 ? plan->on_pass : plan->on_end) == 0)
			world_fail(w, "run %lld: nobody wanted to be told %s", (long long)row->run, row->name);
	}
}
