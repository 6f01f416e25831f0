/* SPDX-License-Identifier: MIT */
/* The slot machine: every pair of stages, and what holds for all of them. */
#include <string.h>

#include "core.h"
#include "core/slot.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ATTEMPT \
	(1u << SLOT_S_SETTING_UP | 1u << SLOT_S_IMPLEMENTING | 1u << SLOT_S_CHECKING | 1u << SLOT_S_REVIEWING | 1u << \
	    SLOT_S_FIXING | 1u << SLOT_S_COMMIT_AGENT)
#define STEPS \
	(1u << SLOT_S_CLAIMING | 1u << SLOT_S_CREATING_WORKTREE | 1u << SLOT_S_PREPARING | \
	    1u << SLOT_S_MEASURING | 1u << SLOT_S_CHECKOUT | 1u << SLOT_S_VERIFYING | \
	    1u << SLOT_S_PANEL | \
    1u << SLOT_S_PINNING | 1u << SLOT_S_COMMITTING | 1u << SLOT_S_MERGING)
#define BIT(stage) (1u << SLOT_S_##stage)
#define WORK (BIT(IMPLEMENTING) | BIT(FIXING))
#define REVIEWED (BIT(CHECKING) | BIT(REVIEWING) | BIT(VERIFYING))
#define BEGINNING (BIT(WAITING) | BIT(PREPARING) | BIT(CREATING_WORKTREE))

/* What follows a stage, from the side of what may come. Everything that is not here is not
 * expected anywhere. */
static const struct {
	enum slot_stage to;
	unsigned from;
} ways[] = {
	{ SLOT_S_CLAIMING, BIT(WAITING) | BIT(CLAIMING) },
	{ SLOT_S_CREATING_WORKTREE, BIT(WAITING) | BIT(CLAIMING) },
	/* before a set-up and after it */
	{ SLOT_S_PREPARING, BIT(CREATING_WORKTREE) | BIT(CHECKOUT) | BIT(SETTING_UP) | BIT(HELD) },
	{ SLOT_S_SETTING_UP, BIT(PREPARING) | BIT(SETTING_UP) | BIT(HELD) },
	/* after CHECKING: the base is green; after MEASURING: a question was answered in the
	 * run before */
	{ SLOT_S_IMPLEMENTING, BEGINNING | BIT(CLAIMING) | BIT(CHECKING) | BIT(MEASURING) |
	    BIT(IMPLEMENTING) | BIT(HELD) },
	/* slot 0 may begin with the checks; after COMMITTING: a hook changed the work */
	{ SLOT_S_CHECKING, BEGINNING | BIT(CLAIMING) | WORK | BIT(CHECKOUT) | BIT(CHECKING) |
	    BIT(COMMITTING) | BIT(MERGING) | BIT(HELD) },
	/* what a policy or a human accepts is measured before it is committed */
	{ SLOT_S_MEASURING, BEGINNING | BIT(CLAIMING) | WORK | REVIEWED | BIT(PANEL) | BIT(COMMITTING) | BIT(MERGING) |
	    BIT(HELD) },
	/* a check may have changed the room, and so may a reviewer that is tried again, or asked
	 * what he means; that of the work comes after that of the base */
	{ SLOT_S_CHECKOUT, BEGINNING | BIT(CLAIMING) | BIT(MEASURING) | BIT(SETTING_UP) |
	    BIT(CHECKING) | BIT(REVIEWING) | BIT(VERIFYING) | BIT(MERGING) | BIT(HELD) },
	/* without git nothing is measured */
	{ SLOT_S_REVIEWING, BIT(PREPARING) | BIT(WAITING) | WORK | BIT(CHECKING) | BIT(MEASURING) | BIT(CHECKOUT) |
	    BIT(REVIEWING) | BIT(VERIFYING) | BIT(HELD) },
	{ SLOT_S_VERIFYING, BIT(REVIEWING) },
	/* in its place, and in that of REVIEWING */
	{ SLOT_S_PANEL, BIT(CHECKING) | BIT(MEASURING) | BIT(CHECKOUT) | BIT(HELD) },
	{ SLOT_S_FIXING, BIT(CHECKING) | BIT(MEASURING) | BIT(VERIFYING) | BIT(PANEL) | BIT(FIXING) |
	    BIT(COMMITTING) | BIT(MERGING) | BIT(HELD) },
	/* what is committed is accepted, or needs no review (after its checks, if it has any), or a
	 * verdict passed it */
	{ SLOT_S_COMMIT_AGENT, BIT(MEASURING) | BIT(CHECKING) | BIT(VERIFYING) | BIT(PANEL) | BIT(COMMIT_AGENT) |
	    BIT(HELD) },
	{ SLOT_S_COMMITTING, BIT(MEASURING) | BIT(CHECKING) | BIT(VERIFYING) | BIT(PANEL) | BIT(COMMIT_AGENT) |
	    BIT(HELD) },
	/* an earlier run has committed it; a new tree is judged in between */
	{ SLOT_S_MERGING, BIT(COMMITTING) | BIT(MEASURING) | BIT(MERGING) | BIT(CHECKOUT) | BIT(CHECKING) |
	    BIT(VERIFYING) | BIT(PANEL) },
	/* a pin is the last thing, after what a verdict passed */
	{ SLOT_S_PINNING, BIT(MEASURING) | BIT(VERIFYING) | BIT(PANEL) | BIT(COMMITTING) | BIT(MERGING) | BIT(HELD) },
	{ SLOT_S_IMPLEMENTED, BIT(WAITING) | BIT(CLAIMING) | BIT(IMPLEMENTING) | BIT(MEASURING) | BIT(MERGING) },
	{ SLOT_S_ENDING, ATTEMPT | STEPS },
	{ SLOT_S_HELD, ATTEMPT | BIT(MEASURING) | BIT(VERIFYING) | BIT(PANEL) | BIT(COMMITTING) | BIT(MERGING) |
	    BIT(PINNING) },
	/* with a verdict, accepted, unreviewed, with its run, or without a task */
	{ SLOT_S_PASSED, BIT(WAITING) | BIT(CLAIMING) | WORK | REVIEWED | BIT(PANEL) | BIT(MEASURING) |
	    BIT(PINNING) | BIT(COMMITTING) | BIT(MERGING) | BIT(HELD) | BIT(IMPLEMENTED) },
	{ SLOT_S_FAILED, ATTEMPT | STEPS | BIT(HELD) | BIT(IMPLEMENTED) },
	{ SLOT_S_CANCELLED, BIT(WAITING) | BIT(HELD) | BIT(IMPLEMENTED) | BIT(ENDING) },
};

static bool moves(int stage, int from, int to)
{
	struct slot_row row;
	bool moved;

	row_init(ROW_SLOT, &row);
	row.stage = stage;
	moved = slot_row_move(&row, (enum slot_stage)from, (enum slot_stage)to);
	ck_assert_int_eq(row.stage, moved ? to : stage);
	return moved;
}

START_TEST(every_pair)
{
	for (int to = 0; to < SLOT_STAGES; to++) {
		unsigned want = 0;

		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			if ((int)ways[i].to == to)
				want = ways[i].from;
		for (int from = 0; from < SLOT_STAGES; from++)
			ck_assert_msg(moves(from, from, to) == ((want & 1u << from) != 0), "%s after %s",
			    state_name(&slot_stage_names, to), state_name(&slot_stage_names, from));
	}
	/* whoever moves a slot knows where it is */
	ck_assert(!moves(SLOT_S_REVIEWING, SLOT_S_MEASURING, SLOT_S_CHECKOUT));
}
END_TEST

/* Stages that a slot may come to from there. */
static unsigned reached_from(unsigned start)
{
	unsigned reached = start, before;

	do {
		before = reached;
		for (int stage = 0; stage < SLOT_STAGES; stage++)
			if ((reached & 1u << stage) != 0)
				reached |= slot_followers[stage];
	} while (reached != before);
	return reached;
}

/* No stage is out of reach, and from each one every end is still open, but that what
 * ends can only end. */
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

START_TEST(phases)
{
	static const enum slot_phase want[SLOT_STAGES] = {
		[SLOT_S_WAITING] = PHASE_WAITING,
		[SLOT_S_CLAIMING] = PHASE_WAITING,
		[SLOT_S_CREATING_WORKTREE] = PHASE_WAITING,
		[SLOT_S_PREPARING] = PHASE_SETTING_UP,
		[SLOT_S_SETTING_UP] = PHASE_SETTING_UP,
		[SLOT_S_IMPLEMENTING] = PHASE_IMPLEMENTING,
		[SLOT_S_CHECKING] = PHASE_CHECKING,
		[SLOT_S_MEASURING] = PHASE_REVIEWING,
		[SLOT_S_CHECKOUT] = PHASE_REVIEWING,
		[SLOT_S_REVIEWING] = PHASE_REVIEWING,
		[SLOT_S_VERIFYING] = PHASE_REVIEWING,
		[SLOT_S_PANEL] = PHASE_REVIEWING,
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

/* An attempt that waits before it starts is told from one that runs; nobody else cools,
 * whatever its row has. */
START_TEST(cooling)
{
	struct slot_row row;

	row_init(ROW_SLOT, &row);
	row.accepted = ACCEPTED_BY_HUMAN;
	row.check = 1;
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

/* The work is measured and laid out before anything is said about it; a room that is made again is
 * part of the review. */
START_TEST(preparing)
{
	static const struct { int64_t slot, fix; enum slot_phase want; } rows[] = {
		{ 1, 0, PHASE_IMPLEMENTING }, { 1, 2, PHASE_FIXING }, { 0, 0, PHASE_WAITING }, { 0, 1, PHASE_FIXING },
	};
	static const enum slot_stage stages[] = { SLOT_S_MEASURING, SLOT_S_CHECKOUT };
	struct slot_row row;

	row_init(ROW_SLOT, &row);
	row.check = row.interrupted = row.retries = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows) * 2; i++) {
		row.stage = (int)stages[i % 2];
		row.slot = rows[i / 2].slot;
		row.fix = rows[i / 2].fix;
		ck_assert_int_eq(slot_row_phase(&row), rows[i / 2].want);
	}
	row.retry_at = 1;
	ck_assert_int_eq(slot_row_phase(&row), PHASE_REVIEWING);
	row.retry_at = ROW_NONE;
	row.interrupted = 1;
	ck_assert_int_eq(slot_row_phase(&row), PHASE_REVIEWING);
	row.interrupted = 0;
	row.check = 1;
	ck_assert_int_eq(slot_row_phase(&row), PHASE_REVIEWING);
	row.stage = SLOT_S_MEASURING;
	row.accepted = ACCEPTED_BY_POLICY;
	ck_assert_int_eq(slot_row_phase(&row), PHASE_REVIEWING);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { every_pair, every_stage_is_on_a_way, phases, cooling, preparing };

	return RUN_SUITE("slot", tests);
}
