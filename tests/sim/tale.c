/* SPDX-License-Identifier: MIT */
#include "tale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "continued.h"
#include "core/dismissal.h"
#include "core/quorum.h"
#include "core/profile.h"
#include "core/slot.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "task/task_op.h"

static int check_number(const struct plan *plan, const char *command)
{
	for (int i = 0; plan->checks != NULL && plan->checks[i] != NULL; i++)
		if (strcmp(plan->checks[i], command) == 0)
			return i + 1;
	return 0;
}

static struct ref_attempt describe(const struct world *w, const struct attempt_row *row, const struct plan *plan)
{
	const struct fate *f = world_fate(w, row->id);
	struct ref_attempt a = {
		.id = row->id,
		.role = state_name(&role_names, row->role),
		.round = (int)row->round,
		.ended = row->state == ATTEMPT_S_EXITED || row->state == ATTEMPT_S_LOST,
		.lost = row->state == ATTEMPT_S_LOST,
	};

	a.check = row->role == ROLE_CHECK ? check_number(plan, row->agent) : 0;
	a.forgone = a.ended && row->process == PROCESS_NOT_STARTED && row->end_kind == END_LIMIT;
	if (f == NULL || a.forgone)
		return a;
	a.astray = a.lost && !f->over && world_is_placed(plan, row);
	a.out_of_time = f->result == FATE_TIMEOUT && row->end_kind == END_LIMIT;
	a.failed = f->result != FATE_OK;
	a.not_started = f->result == FATE_NOT_STARTED;
	/* of a list of machines another one is tried, or the same one later */
	if (a.not_started && f->unreached) {
		a.not_started = false;
		a.unserved = 'h';
		return a;
	}
	a.unserved = role_is_command((enum role)row->role) && f->result != FATE_HOST ? 0 : service_says(f);
	a.anew = row->resumes != ROW_NONE &&
	    (f->result == FATE_ERROR || f->result == FATE_EXIT || f->result == FATE_SIGNAL);
	a.changed = row->role == ROLE_REVIEW && !f->changes_tree;
	a.cut = row->left_out != NULL;
	a.denied = f->denied;
	a.stop = f->stop;
	a.says_no_change = f->says_no_change && row->role == ROLE_IMPLEMENT;
	a.told = f->told;
	a.answer = f->answer == FATE_ANSWER_NEW ? (int)row->id : -f->answer;
	a.asks = f->asks && f->answer != FATE_ANSWER_NONE;
	a.disputes = row->role == ROLE_FIX && f->disputes && f->answer != FATE_ANSWER_NONE;
	a.verdict = "pfmu"[f->verdict];
	a.same = f->same;
	a.fresh = f->fresh;
	a.suggestion = f->suggestion && plan->profile->carrier == CARRIER_COMMENTS;
	return a;
}

/* Which findings of a review users dismissed before its verdict, and which after it. */
static void tell_dismissed(struct ref_attempt *a, const struct run_rows *rows, const struct slot_row *slot,
    const struct attempt_row *row)
{
	struct dismissals d = dismissals_read(rows->run.dismissed);
	int64_t own = INT64_MAX, next = INT64_MAX;
	char fresh[40];

	/* the verdict, and the next one on the task */
	for (size_t i = rows->nreviews; i > 0; i--) {
		const struct review_row *review = rows->reviews[i - 1];

		if (review->attempt == row->id)
			own = review->number;
		else if (own == INT64_MAX && review->attempt != ROW_NONE &&
		    strcmp(review->task_id, slot->task != NULL ? slot->task : "run") == 0)
			next = review->number;
	}
	snprintf(fresh, sizeof(fresh), "new x%lldx", (long long)row->id);
	for (size_t i = 0; i < d.count; i++) {
		bool earlier = d.list[i].run != rows->run.id || d.list[i].review < own,
		    later = !earlier && d.list[i].review < next;

		if (strcmp(d.list[i].task, slot->task != NULL ? slot->task : "run") != 0)
			continue;
		if (strcmp(d.list[i].text, "the same again") == 0) {
			a->same_dismissed |= earlier;
			a->gone += later && a->same;
		} else if (strncmp(d.list[i].text, fresh, strlen(fresh)) == 0) {
			a->fresh_gone += later;
			a->gone += later;
		}
	}
	dismissals_release(&d);
}

/* "t12" */
static int64_t content(const char *tree)
{
	return tree != NULL ? strtoll(tree + 1, NULL, 10) : 0;
}

static bool is_silent(const char *message)
{
	return message == NULL || message[strspn(message, " \t\r\n")] == '\0';
}

static bool is_answer(const char *message)
{
	return message != NULL && strcmp(message, WORLD_ANSWER) == 0;
}

/* The baseline need not run what a slot has run on the same tree meanwhile: work that changed
 * nothing. */
static bool is_of_other_slot(const struct tale *t, const struct run_rows *rows, const struct evidence_row *e)
{
	const struct attempt_row *a = t->slot.baseline && e->kind == EVIDENCE_CHECK && e->attempt != ROW_NONE ?
	    run_rows_attempt(rows, e->attempt) : NULL;

	return a != NULL && a->slot != t->row->slot;
}

static void gather(struct tale *t, const struct world *w, const struct run_rows *rows, const struct plan *plan)
{
	struct world_answer answers[ANSWERS_MAX];

	for (size_t i = 0; i < rows->nattempts && t->slot.count < REF_MAX * 2; i++)
		if (rows->attempts[i]->iteration == t->row->iteration && rows->attempts[i]->slot == t->row->slot &&
		    rows->attempts[i]->reviewer == NULL) {
			t->attempts[t->slot.count] = describe(w, rows->attempts[i], plan);
			if (rows->attempts[i]->role == ROLE_REVIEW)
				tell_dismissed(&t->attempts[t->slot.count], rows, t->row, rows->attempts[i]);
			t->slot.count++;
		}
	for (size_t i = 0; i < rows->nholds && t->slot.nholds < REF_MAX; i++)
		if (rows->holds[i]->iteration == t->row->iteration && rows->holds[i]->slot == t->row->slot)
			t->holds[t->slot.nholds++] = (struct ref_hold){ state_name(&hold_kind_names,
			    rows->holds[i]->kind), state_name(&hold_state_names, rows->holds[i]->state),
			    is_silent(rows->holds[i]->message), is_answer(rows->holds[i]->message) };
	t->slot.nanswers = world_answers(w, rows->run.id, t->row->iteration, t->row->slot, answers, ANSWERS_MAX - 1);
	for (int i = 0; i < t->slot.nanswers; i++)
		t->answers[i] = (struct ref_answer){ answers[i].what, answers[i].value };
	for (size_t i = 0; i < rows->nevidence && t->slot.nreused < REF_MAX; i++) {
		const struct evidence_row *e = rows->evidence[i];
		/* its agent may have picked the task since */
		bool no_task = t->row->task == NULL || plan->assign == ASSIGN_AGENT;
		bool ours = t->slot.baseline || (no_task && strcmp(e->task_id, "run") == 0) ||
		    (t->row->task != NULL && strcmp(e->task_id, t->row->task) == 0);

		if (is_of_other_slot(t, rows, e) || (ours && e->from_attempt != ROW_NONE))
			t->reused[t->slot.nreused++] =
			    (struct ref_reused){ content(e->tree), check_number(plan, e->subject),
			    e->result == EVIDENCE_GREEN, e->result == EVIDENCE_RED };
	}
	t->slot.reused = t->reused;
	t->slot.attempts = t->attempts;
	t->slot.answers = t->answers;
	t->slot.holds = t->holds;
}

static const struct slot_row *voter_row(const struct run_rows *rows, const struct slot_row *slot, const char *reviewer)
{
	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->iteration == slot->iteration && rows->slots[i]->voter_of == slot->slot &&
		    strcmp(rows->slots[i]->reviewer, reviewer) == 0)
			return rows->slots[i];
	return NULL;
}

/* What happened in the voters of its panel. */
static void gather_voters(struct tale *t, const struct world *w, const struct run_rows *rows, const struct plan *plan)
{
	struct world_answer answers[ANSWERS_MAX];

	if (!plan_has_panel(plan))
		return;
	t->slot.quorum = (int)panel_quorum(plan->quorum, plan->nreviewers);
	for (size_t n = 0; n < plan->nreviewers; n++) {
		const struct slot_row *row = voter_row(rows, t->row, plan->reviewers[n].name);
		const char *killed = row != NULL && row->stage == SLOT_S_FAILED && row->end_kind == END_GIT ?
		    world_killed(w, row) : NULL;
		struct ref_voter *voter = &t->slot.voters[t->slot.nvoters++];

		voter->attempts = t->voter_attempts[n];
		voter->answers = t->voter_answers[n];
		for (size_t i = 0; i < rows->nattempts && voter->count < REF_MAX; i++)
			if (rows->attempts[i]->iteration == t->row->iteration &&
			    rows->attempts[i]->slot == t->row->slot &&
			    text_equal(rows->attempts[i]->reviewer, plan->reviewers[n].name))
				t->voter_attempts[n][voter->count++] = describe(w, rows->attempts[i], plan);
		if (row == NULL)
			continue;
		voter->nanswers = world_answers(w, rows->run.id, row->iteration, row->slot, answers, ANSWERS_MAX - 1);
		for (int i = 0; i < voter->nanswers; i++)
			t->voter_answers[n][i] = (struct ref_answer){ answers[i].what, answers[i].value };
		voter->killed = killed != NULL && strcmp(killed, "verify") != 0;
		if (killed != NULL && !voter->killed)
			t->voter_answers[n][voter->nanswers++].what = 'f';
	}
}

/* Three processes were killed, and no answer came. */
static void hear_of_deaths(struct tale *t, const struct world *w)
{
	const char *killed = world_killed(w, t->row);
	bool verify = killed != NULL && strcmp(killed, "verify") == 0;

	if (t->row->stage != SLOT_S_FAILED ||
	    (t->row->end_kind != END_GIT && t->row->end_kind != END_SOURCE) || killed == NULL ||
	    strcmp(t->end.state, "implemented") == 0 || (t->end.waits == 0 && !verify))
		return;
	/* an answer has said that it failed */
	if (t->end.kind != NULL && strcmp(t->end.kind, state_name(&end_kind_names, t->row->end_kind)) == 0)
		return;
	t->answers[t->slot.nanswers++].what = verify ? 'f' : 'F';
	reference_slot(&t->slot, &t->end);
}

/* What slot 0 begins with: the answer of the last of those whose work it reviews. */
static void begin_review(struct ref_slot *slot, const struct world *w, const struct run_rows *rows,
    const struct tale *tales)
{
	const struct slot_row *last = NULL;

	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->slot != 0 && strcmp(tales[i].end.state, "implemented") == 0)
			last = rows->slots[i];
	for (size_t i = 0; last != NULL && i < rows->nattempts; i++) {
		struct ref_attempt a = describe(w, rows->attempts[i], world_plan(w, rows->run.id));

		if (rows->attempts[i]->id != last->answer)
			continue;
		slot->answer = a.answer;
		/* it may have done something in spite of that, which somebody has undone since */
		slot->denied = a.denied && rows->attempts[i]->outcome == TASK_R_DENIED;
	}
}

/* What checks the base of the run has failed. */
static bool base_unsaid(const struct run_rows *rows, const struct plan *plan, const struct plan *run)
{
	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->slot == SLOT_BASELINE && rows->slots[i]->stage == SLOT_S_FAILED)
			return plan == run;
	return false;
}

void tale_tell(struct tale *t, const struct world *w, const struct run_rows *rows,
    const struct slot_row *row, const struct tale *tales)
{
	static const char policies[BAD_ENDS] = {
		[BAD_END_FAIL] = 'f', [BAD_END_HOLD] = 'h', [BAD_END_ACCEPT] = 'a', [BAD_END_KNOWN_ISSUES] = 'k',
		[BAD_END_ASK] = '?',
	};
	const struct plan *run = world_plan(w, rows->run.id),
	    *plan = world_task_plan(w, rows->run.id, row->slot == 0 ? NULL : row->task);
	const struct source *source = &sources[source_find(rows->run.source)];

	*t = (struct tale){ .row = row };
	t->slot = (struct ref_slot){
		.profile = plan->profile->name,
		.review = plan->review,
		.has_git = rows->run.has_git == 1,
		.whole_run = plan->scope == SCOPE_RUN,
		.one_fixer_each = plan->fixer == FIXER_PER_FINDING,
		.checkout = plan->workspace == REVIEW_IN_ROOM,
		.measure_first = plan_checks_room(plan) && rows->run.has_git == 1,
		.worktree = plan->isolation == ISOLATION_WORKTREE,
		.merge = plan->integrate == INTEGRATE_MERGE,
		.judges_merges = plan_judges_merges(plan),
		.review_merged = plan->review_merged == REVIEW_MERGED_ALWAYS,
		.train = plan_judges_merges(plan) && plan->review_merged != REVIEW_MERGED_ALWAYS && plan == run &&
		    plan->checks_mode == CHECKS_ALL && plan_checks_room(plan) && rows->run.has_git == 1,
		.suspected = row->merge == MERGE_SUSPECTED,
		.commit = "nag"[plan->commit],
		.claims = row->slot != SLOT_BASELINE && run->assign == ASSIGN_DAEMON &&
		    strcmp(rows->run.source, "beads") == 0,
		.markers = source->markers,
		.has_task = row->task != NULL,
		.reviewer = row->slot == 0,
		.baseline = row->slot == SLOT_BASELINE,
		.base_first = plan->check_on_base == CHECK_ON_BASE_REQUIRE && row->base != BASE_UNKNOWN,
		.base_unsaid = base_unsaid(rows, plan, run),
		.base_later = plan->check_on_base == CHECK_ON_BASE_WARN,
		.only_new = plan->checks_mode == CHECKS_NEW_FAILURES,
		.setups = (int)strings_count(plan->setup),
		.prepares = plan_prepares(plan),
		.checks = (int)strings_count(plan->checks),
		.max_fixes = (int)plan->max_fixes,
		.stall_limit = (int)plan->stall_limit,
		.any_round = plan->any_round,
		.retries = (int)plan->retries,
		.on_lost = row->slot == SLOT_BASELINE ? 'r' : "hrf"[plan->on_lost],
		.questions = plan->on_question == ON_QUESTION_HOLD,
		.on_cut = plan->on_cut == ON_CUT_HOLD,
		.protects = strings_count(plan->protect) > 0 && rows->run.has_git == 1,
		.on_no_change = "rfp"[plan->on_no_change],
		.on_malformed = policies[plan->on_malformed],
		.malformed_again = policies[plan->malformed_again],
		.on_reviewer_error = policies[plan->on_reviewer_error],
		.on_exhausted = policies[plan->on_exhausted],
		.review_file = plan->review_file,
		.run_base = content(rows->run.base_tree),
		.base = content(row->base_tree != NULL ? row->base_tree : rows->run.base_tree),
	};
	continued_tell(w, rows, row, &t->slot);
	gather(t, w, rows, plan);
	gather_voters(t, w, rows, plan);
	if (row->slot == 0)
		begin_review(&t->slot, w, rows, tales);
	for (size_t i = 0; row->slot == 0 && plan->profile->carrier == CARRIER_FILE && i < rows->nslots; i++)
		t->slot.partial |= rows->slots[i]->slot != 0 && rows->slots[i]->task != NULL &&
		    strcmp(tales[i].end.state, "failed") == 0;
	reference_slot(&t->slot, &t->end);
	hear_of_deaths(t, w);
}
