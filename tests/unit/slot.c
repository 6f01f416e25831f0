/* SPDX-License-Identifier: MIT */
/* The slot machine: every pair of stages, and what holds for all of them. */
#include <string.h>

#include "core.h"
#include "core/slot.h"

#define ATTEMPT \
	(1u << SLOT_S_IMPLEMENTING | 1u << SLOT_S_CHECKING | 1u << SLOT_S_REVIEWING | 1u << \
	    SLOT_S_FIXING | 1u << SLOT_S_COMMIT_AGENT)
#define STEPS \
	(1u << SLOT_S_CLAIMING | 1u << SLOT_S_CREATING_WORKTREE | 1u << SLOT_S_MEASURING | 1u << \
	    SLOT_S_CHECKOUT | 1u << SLOT_S_VERIFYING | \
    1u << SLOT_S_PINNING | 1u << SLOT_S_COMMITTING | 1u << SLOT_S_MERGING)
#define BIT(stage) (1u << SLOT_S_##stage)
#define WORK (BIT(IMPLEMENTING) | BIT(FIXING))
#define REVIEWED (BIT(CHECKING) | BIT(REVIEWING) | BIT(VERIFYING))
#define BEGINNING (BIT(WAITING) | BIT(CREATING_WORKTREE))

/* What follows a stage, from the side of what may come. Everything that is not here is not
 * expected anywhere. */
static const struct {
	enum slot_stage to;
	unsigned from;
} ways[] = {
	{ SLOT_S_CLAIMING, BIT(WAITING) | BIT(CLAIMING) },
	{ SLOT_S_CREATING_WORKTREE, BIT(WAITING) | BIT(CLAIMING) },
	{ SLOT_S_IMPLEMENTING, BIT(WAITING) | BIT(CLAIMING) | BIT(CREATING_WORKTREE) | BIT(IMPLEMENTING) | BIT(HELD) },
	/* slot 0 begins with the checks */
	{ SLOT_S_CHECKING, BEGINNING | WORK | BIT(CHECKING) | BIT(HELD) },
	/* what a policy or a human accepts is measured before it is committed */
	{ SLOT_S_MEASURING, BEGINNING | WORK | REVIEWED | BIT(HELD) },
	{ SLOT_S_CHECKOUT, BIT(MEASURING) | BIT(REVIEWING) | BIT(HELD) },
	/* without git nothing is measured */
	{ SLOT_S_REVIEWING, BIT(WAITING) | WORK | BIT(CHECKING) | BIT(MEASURING) | BIT(CHECKOUT) |
	    BIT(REVIEWING) | BIT(HELD) },
	{ SLOT_S_VERIFYING, BIT(REVIEWING) },
	{ SLOT_S_FIXING, BIT(CHECKING) | BIT(MEASURING) | BIT(VERIFYING) | BIT(FIXING) |
	    BIT(COMMITTING) | BIT(MERGING) | BIT(HELD) },
	/* what is committed is accepted, or needs no review, or a verdict passed it */
	{ SLOT_S_COMMIT_AGENT, BIT(MEASURING) | BIT(VERIFYING) | BIT(COMMIT_AGENT) | BIT(HELD) },
	{ SLOT_S_COMMITTING, BIT(MEASURING) | BIT(VERIFYING) | BIT(COMMIT_AGENT) },
	{ SLOT_S_MERGING, BIT(COMMITTING) },
	/* a pin is the last thing, after what a verdict passed */
	{ SLOT_S_PINNING, BIT(VERIFYING) | BIT(COMMITTING) | BIT(MERGING) },
	{ SLOT_S_IMPLEMENTED, BIT(IMPLEMENTING) | BIT(MEASURING) | BIT(MERGING) },
	{ SLOT_S_ENDING, ATTEMPT | STEPS },
	{ SLOT_S_HELD, ATTEMPT | BIT(MEASURING) | BIT(VERIFYING) | BIT(COMMITTING) | BIT(MERGING) },
	/* with a verdict, accepted, unreviewed, with its run, or without a task */
	{ SLOT_S_PASSED, BIT(WAITING) | BIT(CLAIMING) | WORK | REVIEWED | BIT(MEASURING) |
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

/* An attempt that waits before it starts is told from one that runs; nobody else cools,
 * whatever its row has. */
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
	const TTest *const tests[] = { every_pair, every_stage_is_on_a_way, phases, cooling, measuring };

	return RUN_SUITE("slot", tests);
}
