/* SPDX-License-Identifier: MIT */
/* The services behind the agents: what they refuse, who has to wait for it, and for how long. */
#include "agent/notice.h"
#include "core/slot.h"
#include "job/build.h"
#include "job/collect.h"
#include "job/operation_step.h"
#include "job/read_notice.h"
#include "model/job.h"
#include "world_int.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)

/* What is waited for at most because of a hiccup, and at least: 5 s, a quarter less. */
#define HICCUP_MAX (10 * MINUTE)
#define HICCUP_MIN (5 * SECOND - 5 * SECOND / 4)

static const int64_t resets[] = { ROW_NONE, -5 * SECOND, 3 * SECOND, 5 * MINUTE, 20 * MINUTE,
    5 * 60 * MINUTE, 50 * 60 * MINUTE };

void service_draw(struct world *w, struct fate *f)
{
	f->reset_in = resets[below(w, sizeof(resets) / sizeof(resets[0]))];
	f->silent = below(w, 6) == 0;
	f->reports = below(w, 2) == 0 && (f->result == FATE_AUTH ||
	    (f->result == FATE_LIMIT && (f->reset_in == ROW_NONE || f->reset_in > HICCUP_MAX)));
	f->silent &= !f->reports && f->result != FATE_AUTH;
}

static bool is_service(const struct fate *f)
{
	return f->result == FATE_LIMIT || f->result == FATE_THROTTLED || f->result == FATE_HICCUP;
}

char service_says(const struct fate *f)
{
	bool far = f->reset_in != ROW_NONE && f->reset_in > HICCUP_MAX;

	if (f->result == FATE_HOST)
		return 'h';
	if (!is_service(f))
		return 0;
	if (f->result == FATE_LIMIT ? f->reset_in == ROW_NONE || f->reset_in > 0 : f->result == FATE_THROTTLED && far)
		return 'c';
	return f->silent ? 0 : 't';
}

static const enum provider_result providers[FATE_RESULTS] = {
	[FATE_LIMIT] = PROVIDER_LIMIT, [FATE_THROTTLED] = PROVIDER_THROTTLED,
	[FATE_HICCUP] = PROVIDER_ERROR, [FATE_AUTH] = PROVIDER_AUTH,
};

void service_collect(struct world *w, const struct fate *f, struct collect_job *job)
{
	struct agent_result *r = &job->result;

	if (job->refused != PROVIDER_NONE && (!f->reports || job->refused != providers[f->result]))
		world_fail(w, "attempt %lld is read as one that %s has ended",
		    (long long)job->attempt, state_name(&provider_result_names, (int)job->refused));
	r->reset_at = ROW_NONE;
	r->provider = PROVIDER_OK;
	if (!is_service(f) && f->result != FATE_AUTH)
		return;
	r->provider = providers[f->result];
	r->transient = f->result == FATE_HICCUP;
	r->is_error = true;
	r->error = xstrdup("not now");
	if (f->reset_in != ROW_NONE && (f->result == FATE_LIMIT || f->result == FATE_THROTTLED))
		r->reset_at = w->now + f->reset_in;
}

bool service_refuses(struct world *w, int64_t attempt)
{
	const struct attempt_row *row = disk_attempt(w, attempt);
	const struct plan *plan;

	if (row == NULL || role_is_command((enum role)row->role) || !fate_of(w, attempt)->reports)
		return false;
	plan = world_task_plan(w, row->run, row->slot == 0 ? NULL : row->task);
	return notice_can_tell(world_agent(plan, row)->reader);
}

void job_notice(struct world *w, struct notice_job *job)
{
	const struct fate *f = fate_of(w, job->attempt);

	if (f->started > 0 && service_refuses(w, job->attempt) && below(w, 2) == 0)
		job->decided = providers[f->result];
}

/* It is on disk that it is to be ended before it is. */
void law_refused(struct world *w, const struct attempt_row *before, const struct attempt_row *row)
{
	const struct fate *f = fate_of(w, row->id);
	bool over = row->state == ATTEMPT_S_EXITED || row->state == ATTEMPT_S_LOST;
	int known = before != NULL ? before->provider : PROVIDER_NONE;

	/* a reboot may have taken it away since its end was decided */
	if (!over && row->provider != known &&
	    (!f->reports || f->started == 0 || row->provider != (int)providers[f->result]))
		world_fail(w, "attempt %lld is to be ended for what its service did not say", (long long)row->id);
	if (row->process == PROCESS_REFUSED && (before == NULL || before->provider == PROVIDER_NONE))
		world_fail(w, "attempt %lld was ended for its service before that was on disk", (long long)row->id);
	if (over && row->process == PROCESS_REFUSED && row->provider != before->provider)
		world_fail(w, "attempt %lld was ended for one word of its service, and has another",
		    (long long)row->id);
}

/* A refusal that ended an attempt for a while moves no counter of its slot. */
void law_uses_nothing(struct world *w, const struct decision *d, const struct slot_row *before,
    const struct slot_row *row)
{
	const struct attempt_row *a = NULL;

	for (size_t i = 0; i < d->count; i++)
		if (d->changes[i].kind == ROW_ATTEMPT &&
		    ((const struct attempt_row *)d->changes[i].row)->id == before->attempt)
			a = d->changes[i].row;
	if (a == NULL || a->process != PROCESS_REFUSED || a->provider != PROVIDER_LIMIT)
		return;
	if (row->retries != before->retries || row->interrupted != before->interrupted ||
	    row->fix != before->fix || row->round != before->round || row->stalled != before->stalled)
		world_fail(w, "attempt %lld was refused by its service, and a counter of its slot has moved",
		    (long long)a->id);
}

/* Of the disk, or what is on its way there. NULL: there never was one. */
static const struct cooldown_row *newest(const struct world *w, const char *account)
{
	const struct cooldown_row *row = NULL;

	for (size_t i = 0; i < w->ncooldowns; i++)
		if (strcmp(w->cooldowns[i]->account, account) == 0)
			row = w->cooldowns[i];
	for (size_t i = 0; i < w->ncommits; i++)
		for (size_t c = 0; c < w->commits[i].d->count; c++) {
			const struct change *change = &w->commits[i].d->changes[c];

			if (change->kind == ROW_COOLDOWN &&
			    strcmp(((const struct cooldown_row *)change->row)->account, account) == 0)
				row = change->row;
		}
	return row;
}

static const struct slot_row *slot_in(const struct decision *d, const struct attempt_row *a)
{
	const struct slot_row *row = NULL;

	for (size_t i = 0; i < d->count; i++) {
		const struct slot_row *slot = d->changes[i].row;

		if (d->changes[i].kind == ROW_SLOT && slot->run == a->run &&
		    slot->iteration == a->iteration && slot_row_work(slot) == a->slot &&
		    text_equal(slot->reviewer, a->reviewer))
			row = slot;
	}
	return row;
}

/* The attempt that was not served, whose end is in this decision. NULL: the attempt a begins
 * for another reason. */
static const struct attempt_row *refused_in(struct world *w, const struct decision *d, const struct attempt_row *a)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct attempt_row *other = d->changes[i].row;

		if (d->changes[i].kind == ROW_ATTEMPT && other->id < a->id && other->run == a->run &&
		    other->slot == a->slot && other->iteration == a->iteration &&
		    text_equal(other->reviewer, a->reviewer) &&
		    other->state == ATTEMPT_S_EXITED && service_says(fate_of(w, other->id)) != 0)
			return other;
	}
	return NULL;
}

/* The reviewer gets a new room first, and perhaps waits before its set-up. */
static void law_again_later(struct world *w, const struct attempt_row *a)
{
	const struct run_rows *rows = view_run(w->disk, a->run);
	const struct attempt_row *before = NULL;

	for (size_t i = 0; i < rows->nattempts; i++)
		if (rows->attempts[i]->id < a->id && rows->attempts[i]->slot == a->slot &&
		    text_equal(rows->attempts[i]->reviewer, a->reviewer) &&
		    rows->attempts[i]->iteration == a->iteration && rows->attempts[i]->role != ROLE_SETUP)
			before = rows->attempts[i];
	if (before != NULL && before->role == ROLE_REVIEW && before->round == a->round && before->account != NULL &&
	    service_says(fate_of(w, before->id)) == 't' && w->now < before->ended_at + HICCUP_MIN)
		fate_of(w, a->id)->not_before = before->ended_at + HICCUP_MIN;
}

/* Who was not served begins again when the service may serve, and not before. */
void law_again(struct world *w, const struct decision *d, const struct attempt_row *a)
{
	const struct attempt_row *refused = a->state == ATTEMPT_S_STARTING ? refused_in(w, d, a) : NULL;
	const struct slot_row *slot = refused != NULL ? slot_in(d, a) : NULL;
	char says = refused != NULL ? service_says(fate_of(w, refused->id)) : 0;

	if (refused == NULL && a->state == ATTEMPT_S_STARTING && a->role == ROLE_REVIEW)
		law_again_later(w, a);
	/* what else it may be is in the story of its slot */
	if (refused == NULL || slot == NULL || a->role != refused->role ||
	    a->round != refused->round || refused->account == NULL)
		return;
	if (says == 't' && (slot->retry_at == ROW_NONE || slot->retry_at < refused->ended_at +
	    HICCUP_MIN || slot->retry_at > w->now + HICCUP_MAX * 5 / 4))
		world_fail(w, "attempt %lld follows %lld at a wrong time", (long long)a->id, (long long)refused->id);
	if (says == 'c' && (slot->cooling == NULL || newest(w, slot->cooling) == NULL))
		world_fail(w, "attempt %lld was told that %s is exhausted, and nobody else knows",
		    (long long)refused->id, refused->account);
	fate_of(w, a->id)->not_before = says == 't' ? slot->retry_at : ROW_NONE;
}

/* An account that has served somebody serves everybody. before: as it was on disk. */
void law_served(struct world *w, const struct attempt_row *before, const struct attempt_row *row)
{
	const struct cooldown_row *cooldown = row->account != NULL ? newest(w, row->account) : NULL;
	bool over = row->state == ATTEMPT_S_EXITED && before != NULL && before->state != ATTEMPT_S_EXITED;

	if (over && row->outcome != TASK_R_FAILED && cooldown != NULL && cooldown->kind == COOLDOWN_LIMIT &&
	    cooldown->until > w->now && cooldown->created_at < row->ended_at)
		world_fail(w, "attempt %lld was served, and account %s still cools", (long long)row->id, row->account);
}

/* A conversation is gone on with by its own program, and not again by the one after
 * him who could not. */
void law_resumes(struct world *w, const struct attempt_row *row)
{
	const struct attempt_row *from = row->resumes != ROW_NONE ? disk_attempt(w, row->resumes) : NULL;
	const struct fate *f = from != NULL ? fate_of(w, from->id) : NULL;

	if (from == NULL || row->state != ATTEMPT_S_STARTING)
		return;
	if (from->session == NULL || strcmp(from->agent, row->agent) != 0 || from->run != row->run)
		world_fail(w, "attempt %lld goes on with the conversation of %lld, which has none for it",
		    (long long)row->id, (long long)from->id);
	if (row->role == from->role && row->round == from->round && from->resumes != ROW_NONE &&
	    from->state == ATTEMPT_S_EXITED && service_says(f) == 0 &&
	    (f->result == FATE_ERROR || f->result == FATE_EXIT || f->result == FATE_SIGNAL))
		world_fail(w, "attempt %lld goes on with the conversation of %lld, which could not",
		    (long long)row->id, (long long)from->id);
}

/* What waits before it starts is no other stage's, and lets go of an account that
 * has been set free. */
void law_cooling(struct world *w, const struct slot_row *row)
{
	bool room = row->stage == SLOT_S_CHECKOUT || row->stage == SLOT_S_PREPARING;

	if (!slot_cools(row) && !room && (row->cooling != NULL || row->retry_at != ROW_NONE))
		world_fail(w, "run %lld slot %lld is %s, and cools", (long long)row->run,
		    (long long)row->slot, state_name(&slot_stage_names, row->stage));
}

static bool is_set_free(const struct world *w, const char *account)
{
	const struct cooldown_row *row = newest(w, account);

	return row != NULL && row->until <= row->created_at;
}

/* How many slots of the daemon a run may have at most: none for those that cool. */
static int64_t permits_of(const struct world *w, const struct run_rows *rows)
{
	int64_t working = 0, cooling = 0, own = 0;

	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];
		bool over = slot_stage_is_end((enum slot_stage)slot->stage) &&
		    (slot->leaving == LEAVING_NOTHING || slot->leaving == LEAVING_DELETE);

		cooling += slot_cools(slot);
		working += !over && !slot_cools(slot);
	}
	for (size_t i = 0; i < rows->nsteps; i++)
		own |= rows->steps[i]->slot == ROW_NONE &&
		    (rows->steps[i]->state == ATTEMPT_S_STARTING || rows->steps[i]->state == ATTEMPT_S_RUNNING);
	for (size_t i = 0; i < w->njobs; i++)
		own |= w->jobs[i].job != NULL &&
		    (w->jobs[i].job->type == &operation_step_type || w->jobs[i].job->type == &build_type ||
		    w->jobs[i].job->type == &collect_type);
	return cooling > 0 || working > 0 ? working + own : 1;
}

static bool has_step(const struct world *w, const struct slot_row *slot)
{
	const struct run_rows *rows = view_run(w->disk, slot->run);

	for (size_t i = 0; i < rows->nsteps; i++)
		if (rows->steps[i]->iteration == slot->iteration && rows->steps[i]->slot == slot->slot)
			return true;
	return false;
}

/* It was cancelled before it started, and waits as if it had not been. */
static bool is_left_waiting(const struct world *w, const struct slot_row *slot)
{
	const struct attempt_row *a = slot->stage == SLOT_S_ENDING && slot->attempt != ROW_NONE ?
	    disk_attempt(w, slot->attempt) : NULL;

	if (a == NULL || a->state != ATTEMPT_S_STARTING || w->procs[a->id] != NULL || w->nreads > 0)
		return false;
	/* git looks at the work tree for it */
	if (has_step(w, slot))
		return false;
	for (size_t i = 0; i < w->njobs; i++) {
		const struct job *job = w->jobs[i].job;

		if (job == NULL)
			continue;
		if (job->type == &operation_step_type ||
		    (job->type == &build_type && ((const struct build_job *)job)->attempt.id == a->id) ||
		    (job->type == &collect_type && ((const struct collect_job *)job)->attempt == a->id) ||
		    (job->type == &read_pick_type && ((const struct pick_job *)job)->attempt == a->id))
			return false;
	}
	return true;
}

/* Between two decisions: who cools has no slot of the daemon, and says for what he waits. */
void services_check(struct world *w)
{
	const struct run_rows *rows = NULL;
	int64_t most = 0;

	if (w->ncommits > 0 || w->nquestions > 0)
		return;
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		most += permits_of(w, rows);
		for (size_t i = 0; i < rows->nslots && !run_state_is_end((enum run_state)rows->run.state); i++) {
			const struct slot_row *slot = rows->slots[i];

			if (is_left_waiting(w, slot))
				world_fail(w, "run %lld: slot %lld is cancelled, and still cools",
				    (long long)rows->run.id, (long long)slot->slot);
			if (slot_cools(slot) && slot->reason == NULL && rows->run.state == RUN_S_RUNNING)
				world_fail(w, "run %lld: slot %lld cools, and nobody says why",
				    (long long)rows->run.id, (long long)slot->slot);
			if (slot_cools(slot) && slot->cooling != NULL && is_set_free(w, slot->cooling))
				world_fail(w, "run %lld: slot %lld waits for %s, which is free",
				    (long long)rows->run.id, (long long)slot->slot, slot->cooling);
		}
	}
	if (w->used != INT64_MAX && w->used > most)
		world_fail(w, "%lld slots of the daemon are in use, and %lld could be",
		    (long long)w->used, (long long)most);
}

/* Whom it costs money, when it starts. */
void law_warm(struct world *w, const struct attempt_row *row, const struct slot_row *slot)
{
	const struct cooldown_row *cooldown = row->account != NULL ? newest(w, row->account) : NULL;

	if (cooldown != NULL && cooldown->until > w->now)
		world_fail(w, "attempt %lld is started, and account %s is exhausted", (long long)row->id, row->account);
	if (fate_of(w, row->id)->not_before > w->now)
		world_fail(w, "attempt %lld is started before its time", (long long)row->id);
	if (slot_cools(slot))
		world_fail(w, "attempt %lld is started, and its slot cools", (long long)row->id);
	if ((row->account == NULL) != role_is_command((enum role)row->role))
		world_fail(w, "attempt %lld is paid by %s", (long long)row->id,
		    row->account != NULL ? row->account : "nobody");
}

/* Somebody says that one is exhausted, or that it is not. */
static void cooldown_cb(void *arg, const struct engine_reply *reply)
{
	(void)arg;
	(void)reply;
}

void client_cooldown(struct world *w)
{
	static const char *const accounts[] = { "fake", "critic", "spare" };
	const char *account = accounts[below(w, 3)];
	int64_t until = w->now + (below(w, 3) == 0 ? 20 * MINUTE : -SECOND);

	engine_cooldown_set(w->engine, account, until, "said so", "ann", below(w, 10) == 0, cooldown_cb, NULL);
}
