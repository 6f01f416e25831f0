/* SPDX-License-Identifier: MIT */
/* The slot machine: every cell of stage and event, and what holds for the table as a whole. */
#include <string.h>

#include "core.h"
#include "core/slot.h"

#define ATTEMPT (1u << SLOT_S_IMPLEMENTING | 1u << SLOT_S_CHECKING | 1u << SLOT_S_REVIEWING | 1u << SLOT_S_FIXING | 1u << SLOT_S_COMMIT_AGENT)
#define STEPS (1u << SLOT_S_CLAIMING | 1u << SLOT_S_LAYING | 1u << SLOT_S_MEASURING | 1u << SLOT_S_CHECKOUT | 1u << SLOT_S_VERIFYING | \
    1u << SLOT_S_PINNING | 1u << SLOT_S_COMMITTING | 1u << SLOT_S_MERGING)
#define BIT(stage) (1u << SLOT_S_##stage)

/* The way of a task in words: from, event, what is done, to. Everything that is not here is not expected anywhere. */
static const struct cell {
	enum slot_stage from;
	enum slot_event event;
	enum slot_action action;
	enum slot_stage to;
} cells[] = {
	/* the source is told, then the work tree is made, where there is one; a task that somebody else has makes way for the next */
	{ SLOT_S_WAITING, SLOT_E_START_CLAIM, SLOT_A_CLAIM, SLOT_S_CLAIMING },
	{ SLOT_S_WAITING, SLOT_E_START_LAY, SLOT_A_LAY, SLOT_S_LAYING },
	{ SLOT_S_CLAIMING, SLOT_E_CLAIMED, SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ SLOT_S_CLAIMING, SLOT_E_CLAIMED_LAY, SLOT_A_LAY, SLOT_S_LAYING },
	{ SLOT_S_CLAIMING, SLOT_E_TAKEN_NEXT, SLOT_A_CLAIM, SLOT_S_CLAIMING },
	{ SLOT_S_CLAIMING, SLOT_E_TAKEN, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_LAYING, SLOT_E_LAID, SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	/* implement, and where the work goes */
	{ SLOT_S_WAITING, SLOT_E_START, SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ SLOT_S_IMPLEMENTING, SLOT_E_DONE, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_IMPLEMENTING, SLOT_E_DONE_CHECKS, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_IMPLEMENTING, SLOT_E_DONE_NO_TREE, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_IMPLEMENTING, SLOT_E_DONE_UNREVIEWED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_IMPLEMENTING, SLOT_E_DONE_LATER, SLOT_A_SETTLE, SLOT_S_IMPLEMENTED },
	/* nothing to do: the task, if there was one, is given back */
	{ SLOT_S_IMPLEMENTING, SLOT_E_RELEASED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_WAITING, SLOT_E_LET_GO, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_MEASURING, SLOT_E_MEASURED_LATER, SLOT_A_SETTLE, SLOT_S_IMPLEMENTED },
	{ SLOT_S_FIXING, SLOT_E_RELEASED, SLOT_A_SETTLE, SLOT_S_PASSED },
	/* slot 0 begins where an implementer ends, in a work tree or not */
	{ SLOT_S_LAYING, SLOT_E_LAID_REVIEW, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_LAYING, SLOT_E_DONE_CHECKS, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_WAITING, SLOT_E_START_REVIEW, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_WAITING, SLOT_E_DONE_CHECKS, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_WAITING, SLOT_E_DONE_NO_TREE, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_IMPLEMENTED, SLOT_E_RUN_PASSED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_IMPLEMENTED, SLOT_E_FAILED, SLOT_A_SETTLE, SLOT_S_FAILED },
	/* checks: one after the other; a failing one goes straight to a fixer */
	{ SLOT_S_CHECKING, SLOT_E_NEXT_CHECK, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_CHECKING, SLOT_E_DONE, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_CHECKING, SLOT_E_DONE_NO_TREE, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_CHECKING, SLOT_E_FINDINGS, SLOT_A_FIX, SLOT_S_FIXING },
	{ SLOT_S_MEASURING, SLOT_E_FINDINGS, SLOT_A_FIX, SLOT_S_FIXING },
	{ SLOT_S_MEASURING, SLOT_E_HOLD, SLOT_A_HOLD, SLOT_S_HELD },
	/* the tree, then the review, in a checkout of its own or not */
	{ SLOT_S_MEASURING, SLOT_E_MEASURED, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_MEASURING, SLOT_E_MEASURED_CHECKOUT, SLOT_A_CHECKOUT, SLOT_S_CHECKOUT },
	{ SLOT_S_CHECKOUT, SLOT_E_CHECKED_OUT, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_MEASURING, SLOT_E_MEASURED_UNREVIEWED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_MEASURING, SLOT_E_MEASURED_COMMIT, SLOT_A_COMMIT, SLOT_S_COMMITTING },
	{ SLOT_S_REVIEWING, SLOT_E_ANSWERED, SLOT_A_VERIFY, SLOT_S_VERIFYING },
	{ SLOT_S_REVIEWING, SLOT_E_ANSWERED_NO_TREE, SLOT_A_JUDGE, SLOT_S_VERIFYING },
	/* the verdict */
	{ SLOT_S_VERIFYING, SLOT_E_PASS, SLOT_A_PIN, SLOT_S_PINNING },
	{ SLOT_S_VERIFYING, SLOT_E_PASS_NO_TREE, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_VERIFYING, SLOT_E_FINDINGS, SLOT_A_FIX, SLOT_S_FIXING },
	{ SLOT_S_PINNING, SLOT_E_PINNED, SLOT_A_SETTLE, SLOT_S_PASSED },
	/* the commit, by git or by an agent; what a hook has against it goes to the fixer */
	{ SLOT_S_MEASURING, SLOT_E_MEASURED_ASK, SLOT_A_ASK, SLOT_S_COMMIT_AGENT },
	{ SLOT_S_VERIFYING, SLOT_E_PASS_COMMIT, SLOT_A_COMMIT, SLOT_S_COMMITTING },
	{ SLOT_S_VERIFYING, SLOT_E_PASS_ASK, SLOT_A_ASK, SLOT_S_COMMIT_AGENT },
	{ SLOT_S_COMMIT_AGENT, SLOT_E_DONE, SLOT_A_COMMIT, SLOT_S_COMMITTING },
	{ SLOT_S_COMMITTING, SLOT_E_COMMITTED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_COMMITTING, SLOT_E_COMMITTED_PIN, SLOT_A_PIN, SLOT_S_PINNING },
	{ SLOT_S_COMMITTING, SLOT_E_FINDINGS, SLOT_A_FIX, SLOT_S_FIXING },
	/* the merge; a conflict goes to the fixer */
	{ SLOT_S_COMMITTING, SLOT_E_COMMITTED_MERGE, SLOT_A_MERGE, SLOT_S_MERGING },
	{ SLOT_S_MERGING, SLOT_E_MERGED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_MERGING, SLOT_E_MERGED_PIN, SLOT_A_PIN, SLOT_S_PINNING },
	{ SLOT_S_MERGING, SLOT_E_MERGED_LATER, SLOT_A_SETTLE, SLOT_S_IMPLEMENTED },
	{ SLOT_S_MERGING, SLOT_E_FINDINGS, SLOT_A_FIX, SLOT_S_FIXING },
	/* the fix: the last step is always a review, with the checks before it */
	{ SLOT_S_FIXING, SLOT_E_NEXT_FINDING, SLOT_A_FIX, SLOT_S_FIXING },
	{ SLOT_S_FIXING, SLOT_E_DONE, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_FIXING, SLOT_E_DONE_CHECKS, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_FIXING, SLOT_E_DONE_NO_TREE, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	/* bad ends, as the policy says */
	{ SLOT_S_CHECKING, SLOT_E_HOLD, SLOT_A_HOLD, SLOT_S_HELD },
	{ SLOT_S_REVIEWING, SLOT_E_HOLD, SLOT_A_HOLD, SLOT_S_HELD },
	{ SLOT_S_VERIFYING, SLOT_E_HOLD, SLOT_A_HOLD, SLOT_S_HELD },
	{ SLOT_S_COMMITTING, SLOT_E_HOLD, SLOT_A_HOLD, SLOT_S_HELD },
	{ SLOT_S_MERGING, SLOT_E_HOLD, SLOT_A_HOLD, SLOT_S_HELD },
	{ SLOT_S_CHECKING, SLOT_E_ACCEPTED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_REVIEWING, SLOT_E_ACCEPTED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_VERIFYING, SLOT_E_ACCEPTED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_CHECKING, SLOT_E_ACCEPTED_COMMIT, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_REVIEWING, SLOT_E_ACCEPTED_COMMIT, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_VERIFYING, SLOT_E_ACCEPTED_COMMIT, SLOT_A_MEASURE, SLOT_S_MEASURING },
	/* a human decides: approve, reject, rework */
	{ SLOT_S_HELD, SLOT_E_ACCEPTED, SLOT_A_SETTLE, SLOT_S_PASSED },
	{ SLOT_S_HELD, SLOT_E_ACCEPTED_COMMIT, SLOT_A_MEASURE, SLOT_S_MEASURING },
	{ SLOT_S_HELD, SLOT_E_FAILED, SLOT_A_SETTLE, SLOT_S_FAILED },
	{ SLOT_S_HELD, SLOT_E_REWORK_IMPLEMENT, SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ SLOT_S_HELD, SLOT_E_REWORK_CHECK, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_HELD, SLOT_E_REWORK_REVIEW, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_HELD, SLOT_E_REWORK_FIX, SLOT_A_FIX, SLOT_S_FIXING },
	{ SLOT_S_HELD, SLOT_E_REWORK_CHECKOUT, SLOT_A_CHECKOUT, SLOT_S_CHECKOUT },
	{ SLOT_S_HELD, SLOT_E_REWORK_COMMIT, SLOT_A_ASK, SLOT_S_COMMIT_AGENT },
	/* the lost attempt again; a checkout in which the lost reviewer has worked is laid out anew */
	{ SLOT_S_REVIEWING, SLOT_E_LOST_CHECKOUT, SLOT_A_CHECKOUT, SLOT_S_CHECKOUT },
	{ SLOT_S_IMPLEMENTING, SLOT_E_LOST_RETRY, SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ SLOT_S_CHECKING, SLOT_E_LOST_RETRY, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_REVIEWING, SLOT_E_LOST_RETRY, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_FIXING, SLOT_E_LOST_RETRY, SLOT_A_FIX, SLOT_S_FIXING },
	{ SLOT_S_COMMIT_AGENT, SLOT_E_LOST_RETRY, SLOT_A_ASK, SLOT_S_COMMIT_AGENT },
	{ SLOT_S_REVIEWING, SLOT_E_AGAIN_CHECKOUT, SLOT_A_CHECKOUT, SLOT_S_CHECKOUT },
	{ SLOT_S_IMPLEMENTING, SLOT_E_AGAIN, SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ SLOT_S_CHECKING, SLOT_E_AGAIN, SLOT_A_CHECK, SLOT_S_CHECKING },
	{ SLOT_S_REVIEWING, SLOT_E_AGAIN, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ SLOT_S_FIXING, SLOT_E_AGAIN, SLOT_A_FIX, SLOT_S_FIXING },
	{ SLOT_S_COMMIT_AGENT, SLOT_E_AGAIN, SLOT_A_ASK, SLOT_S_COMMIT_AGENT },
	/* cancel: at once where nothing is under way */
	{ SLOT_S_WAITING, SLOT_E_CANCEL, SLOT_A_SETTLE, SLOT_S_CANCELLED },
	{ SLOT_S_HELD, SLOT_E_CANCEL, SLOT_A_SETTLE, SLOT_S_CANCELLED },
	{ SLOT_S_IMPLEMENTED, SLOT_E_CANCEL, SLOT_A_SETTLE, SLOT_S_CANCELLED },
	{ SLOT_S_ENDING, SLOT_E_ENDED, SLOT_A_SETTLE, SLOT_S_CANCELLED },
};

/* What is the same for every stage in which something is under way. */
static const struct cell *wanted(enum slot_stage stage, enum slot_event event)
{
	static struct cell all;

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		if (cells[i].from == stage && cells[i].event == event)
			return &cells[i];
	if (event == SLOT_E_FAILED && (1u << stage & (ATTEMPT | STEPS)) != 0)
		all = (struct cell){ stage, event, SLOT_A_SETTLE, SLOT_S_FAILED };
	else if (event == SLOT_E_CANCEL && (1u << stage & (ATTEMPT | STEPS)) != 0)
		all = (struct cell){ stage, event, SLOT_A_END, SLOT_S_ENDING };
	else if (event == SLOT_E_LOST_HOLD && (1u << stage & ATTEMPT) != 0)
		all = (struct cell){ stage, event, SLOT_A_HOLD, SLOT_S_HELD };
	else if (event == SLOT_E_LOST_FAIL && (1u << stage & ATTEMPT) != 0)
		all = (struct cell){ stage, event, SLOT_A_SETTLE, SLOT_S_FAILED };
	else
		return NULL;
	return &all;
}

START_TEST(every_cell)
{
	for (int stage = 0; stage < SLOT_STAGES; stage++)
		for (int event = 0; event < SLOT_EVENTS; event++) {
			const struct slot_edge *edge = slot_step((enum slot_stage)stage, (enum slot_event)event);
			const struct cell *want = wanted((enum slot_stage)stage, (enum slot_event)event);

			ck_assert_msg((edge == NULL) == (want == NULL), "%s in %s: %s", slot_event_name((enum slot_event)event),
			    state_name(&slot_stage_names, stage), edge == NULL ? "no edge" : "an edge");
			if (want == NULL)
				continue;
			ck_assert_msg(edge->action == want->action && edge->next == want->to, "%s in %s does %d and leads to %s",
			    slot_event_name((enum slot_event)event), state_name(&slot_stage_names, stage), (int)edge->action,
			    state_name(&slot_stage_names, (int)edge->next));
		}
}
END_TEST

/* Each pair of stage and event has one row at most, and every event has a name and a row. */
START_TEST(the_table_is_a_function)
{
	for (int event = 0; event < SLOT_EVENTS; event++) {
		unsigned seen = 0;

		ck_assert_ptr_nonnull(slot_event_name((enum slot_event)event));
		for (size_t i = 0; i < slot_edges_count; i++) {
			if ((int)slot_edges[i].event != event)
				continue;
			ck_assert_uint_eq(seen & slot_edges[i].when, 0);
			seen |= slot_edges[i].when;
		}
		ck_assert_uint_ne(seen, 0);
		ck_assert_uint_lt(seen, 1u << SLOT_STAGES);
	}
}
END_TEST

/* Stages that lead there over any number of edges. */
static unsigned reached_from(unsigned start)
{
	unsigned reached = start, before;

	do {
		before = reached;
		for (size_t i = 0; i < slot_edges_count; i++)
			if ((slot_edges[i].when & reached) != 0)
				reached |= 1u << slot_edges[i].next;
	} while (reached != before);
	return reached;
}

/* No stage is out of reach, and from each one every end is still open, but that what ends can only end. */
START_TEST(every_stage_is_on_a_way)
{
	static const unsigned ends = 1u << SLOT_S_PASSED | 1u << SLOT_S_FAILED | 1u << SLOT_S_CANCELLED;

	ck_assert_uint_eq(reached_from(1u << SLOT_S_WAITING), (1u << SLOT_STAGES) - 1);
	for (int stage = 0; stage < SLOT_STAGES; stage++) {
		unsigned reached = reached_from(1u << stage);

		if (slot_stage_is_end((enum slot_stage)stage))
			ck_assert_uint_eq(reached, 1u << stage);
		else if (stage == SLOT_S_ENDING)
			ck_assert_uint_eq(reached, 1u << SLOT_S_ENDING | 1u << SLOT_S_CANCELLED);
		else
			ck_assert_uint_eq(reached & ends, ends);
	}
}
END_TEST

static unsigned from(enum slot_event event)
{
	unsigned stages = 0;

	for (size_t i = 0; i < slot_edges_count; i++)
		if (slot_edges[i].event == event)
			stages |= slot_edges[i].when;
	return stages;
}

/* What leads to "passed", and to where a verdict is kept for good. */
static unsigned into(enum slot_stage stage, enum slot_event event)
{
	unsigned stages = 0;

	for (size_t i = 0; i < slot_edges_count; i++)
		if (slot_edges[i].next == stage && slot_edges[i].event == event)
			stages |= slot_edges[i].when;
	return stages;
}

/* Only a verdict that was read, an acceptance by leave that says so, work that nobody wanted reviewed, what slot 0 passed, or a slot
 * without a task ends as "passed". What is committed or merged was one of these before. */
START_TEST(passed_needs_evidence_or_leave)
{
	static const struct { enum slot_event event; unsigned from; } ways[] = {
		{ SLOT_E_PINNED, BIT(PINNING) },
		{ SLOT_E_PASS_NO_TREE, BIT(VERIFYING) },
		{ SLOT_E_COMMITTED, BIT(COMMITTING) },
		{ SLOT_E_MERGED, BIT(MERGING) },
		{ SLOT_E_ACCEPTED, BIT(CHECKING) | BIT(REVIEWING) | BIT(VERIFYING) | BIT(HELD) },
		{ SLOT_E_RUN_PASSED, BIT(IMPLEMENTED) },
		{ SLOT_E_DONE_UNREVIEWED, BIT(IMPLEMENTING) },
		{ SLOT_E_MEASURED_UNREVIEWED, BIT(MEASURING) },
		{ SLOT_E_RELEASED, BIT(IMPLEMENTING) | BIT(FIXING) },
		{ SLOT_E_TAKEN, BIT(CLAIMING) },
		{ SLOT_E_LET_GO, BIT(WAITING) },
	};

	for (int event = 0; event < SLOT_EVENTS; event++) {
		unsigned want = 0;

		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			if ((int)ways[i].event == event)
				want = ways[i].from;
		ck_assert_msg(into(SLOT_S_PASSED, (enum slot_event)event) == want, "%s", slot_event_name((enum slot_event)event));
	}
	/* a pin is the last thing, after what a verdict passed, and after nothing else */
	ck_assert_uint_eq(from(SLOT_E_PASS) | from(SLOT_E_PASS_COMMIT) | from(SLOT_E_PASS_ASK) | from(SLOT_E_PASS_NO_TREE), BIT(VERIFYING));
	ck_assert_uint_eq(into(SLOT_S_PINNING, SLOT_E_PASS), BIT(VERIFYING));
	ck_assert_uint_eq(into(SLOT_S_PINNING, SLOT_E_COMMITTED_PIN), BIT(COMMITTING));
	ck_assert_uint_eq(into(SLOT_S_PINNING, SLOT_E_MERGED_PIN), BIT(MERGING));
	for (size_t i = 0; i < slot_edges_count; i++) {
		const struct slot_edge *e = &slot_edges[i];

		ck_assert(e->next != SLOT_S_PINNING || e->event == SLOT_E_PASS || e->event == SLOT_E_COMMITTED_PIN || e->event == SLOT_E_MERGED_PIN);
		if ((e->when & BIT(PINNING)) != 0)
			ck_assert(e->event == SLOT_E_PINNED || e->event == SLOT_E_FAILED || e->event == SLOT_E_CANCEL);
	}
}
END_TEST

/* A held slot waits at no cost: what is begun there is begun by a human. */
START_TEST(held_is_left_by_humans_only)
{
	for (size_t i = 0; i < slot_edges_count; i++) {
		const struct slot_edge *e = &slot_edges[i];

		if ((e->when & 1u << SLOT_S_HELD) == 0)
			continue;
		ck_assert(e->event == SLOT_E_ACCEPTED || e->event == SLOT_E_ACCEPTED_COMMIT || e->event == SLOT_E_FAILED || e->event == SLOT_E_CANCEL ||
		    (e->event >= SLOT_E_REWORK_IMPLEMENT && e->event <= SLOT_E_REWORK_COMMIT));
	}
}
END_TEST

START_TEST(phases)
{
	static const enum slot_phase want[SLOT_STAGES] = {
		[SLOT_S_WAITING] = PHASE_WAITING,
		[SLOT_S_CLAIMING] = PHASE_WAITING,
		[SLOT_S_LAYING] = PHASE_WAITING,
		[SLOT_S_IMPLEMENTING] = PHASE_IMPLEMENTING,
		[SLOT_S_CHECKING] = PHASE_CHECKING,
		[SLOT_S_MEASURING] = PHASE_REVIEWING,
		[SLOT_S_CHECKOUT] = PHASE_REVIEWING,
		[SLOT_S_REVIEWING] = PHASE_REVIEWING,
		[SLOT_S_VERIFYING] = PHASE_REVIEWING,
		[SLOT_S_FIXING] = PHASE_FIXING,
		[SLOT_S_PINNING] = PHASE_COMMITTING,
		[SLOT_S_COMMIT_AGENT] = PHASE_COMMITTING,
		[SLOT_S_COMMITTING] = PHASE_COMMITTING,
		[SLOT_S_MERGING] = PHASE_COMMITTING,
		[SLOT_S_IMPLEMENTED] = PHASE_WAITING,
		[SLOT_S_ENDING] = PHASE_CANCELLED,
		[SLOT_S_HELD] = PHASE_HELD,
		[SLOT_S_PASSED] = PHASE_PASSED,
		[SLOT_S_FAILED] = PHASE_FAILED,
		[SLOT_S_CANCELLED] = PHASE_CANCELLED,
	};

	for (int stage = 0; stage < SLOT_STAGES; stage++) {
		ck_assert_int_eq(slot_phase((enum slot_stage)stage), want[stage]);
		ck_assert_int_eq(slot_stage_is_end((enum slot_stage)stage), stage >= SLOT_S_PASSED);
	}
}
END_TEST

/* An attempt that waits before it starts is told from one that runs; nobody else cools, whatever its row has. */
START_TEST(cooling)
{
	struct slot_row row;

	row_init(ROW_SLOT, &row);
	for (int stage = 0; stage < SLOT_STAGES; stage++) {
		bool attempt = (ATTEMPT & 1u << stage) != 0;
		enum slot_phase phase = slot_phase((enum slot_stage)stage);

		row.stage = stage;
		row.cooling = NULL;
		row.retry_at = ROW_NONE;
		ck_assert_int_eq(slot_row_phase(&row), phase);
		row.retry_at = 1;
		ck_assert_int_eq(slot_row_phase(&row), attempt ? PHASE_COOLING : phase);
		row.retry_at = ROW_NONE;
		row.cooling = (char *)"anthropic";
		ck_assert_int_eq(slot_row_phase(&row), attempt ? PHASE_COOLING : phase);
		ck_assert_int_eq(slot_cools(&row), attempt);
	}
}
END_TEST

START_TEST(measuring)
{
	struct slot_row row;

	row_init(ROW_SLOT, &row);
	row.stage = SLOT_S_MEASURING;
	row.round = 0;
	ck_assert_int_eq(slot_row_phase(&row), PHASE_IMPLEMENTING);
	row.round = 1;
	ck_assert_int_eq(slot_row_phase(&row), PHASE_REVIEWING);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { every_cell, the_table_is_a_function, every_stage_is_on_a_way, passed_needs_evidence_or_leave,
	    held_is_left_by_humans_only, phases, cooling, measuring };

	return RUN_SUITE("slot", tests);
}
