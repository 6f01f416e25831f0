/* SPDX-License-Identifier: MIT */
/* The run machine, every cell of it; what slots add up to; which run starts next. */
#include <string.h>

#include "core.h"
#include "core/run.h"
#include "core/schedule.h"

START_TEST(the_table_is_a_function)
{
	for (int event = 0; event < RUN_EVENTS; event++) {
		unsigned seen = 0;

		ck_assert_ptr_nonnull(run_event_name((enum run_event)event));
		for (size_t i = 0; i < run_edges_count; i++) {
			if ((int)run_edges[i].event != event)
				continue;
			ck_assert_uint_eq(seen & run_edges[i].when, 0);
			seen |= run_edges[i].when;
		}
		ck_assert_uint_ne(seen, 0);
	}
}
END_TEST

/* From, event, what is done, to. Everything that is not here is not expected anywhere. */
static const struct cell {
	enum run_state from;
	enum run_event event;
	enum run_action action;
	enum run_state to;
} cells[] = {
	{ RUN_S_QUEUED, RUN_E_START, RUN_A_PREPARE, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_PREPARED, RUN_A_BEGIN, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_REVIEW, RUN_A_REVIEW, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ RUN_S_RUNNING, RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	{ RUN_S_RUNNING, RUN_E_HELD, RUN_A_HOLD, RUN_S_HELD },
	/* a human: approve, reject, rework; a reworked run waits in the queue for a slot */
	{ RUN_S_HELD, RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ RUN_S_HELD, RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	{ RUN_S_HELD, RUN_E_BACK, RUN_A_NONE, RUN_S_RUNNING },
	{ RUN_S_HELD, RUN_E_REWORK, RUN_A_REWORK, RUN_S_QUEUED },
	{ RUN_S_QUEUED, RUN_E_RESUME, RUN_A_RESUME, RUN_S_RUNNING },
	/* cancel works in every state that is not an end */
	{ RUN_S_QUEUED, RUN_E_CANCEL, RUN_A_FINISH, RUN_S_CANCELLED },
	{ RUN_S_QUEUED, RUN_E_CANCEL_BEGUN, RUN_A_END, RUN_S_QUEUED },
	{ RUN_S_RUNNING, RUN_E_CANCEL, RUN_A_END, RUN_S_RUNNING },
	{ RUN_S_HELD, RUN_E_CANCEL, RUN_A_END, RUN_S_HELD },
	{ RUN_S_QUEUED, RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
	{ RUN_S_RUNNING, RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
	{ RUN_S_HELD, RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
};

START_TEST(every_cell)
{
	for (int state = 0; state < RUN_STATES; state++)
		for (int event = 0; event < RUN_EVENTS; event++) {
			const struct run_edge *edge = run_step((enum run_state)state, (enum run_event)event);
			const struct cell *want = NULL;

			for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
				if ((int)cells[i].from == state && (int)cells[i].event == event)
					want = &cells[i];
			ck_assert_msg((edge == NULL) == (want == NULL), "%s in %s: %s", run_event_name((enum run_event)event),
			    state_name(&run_state_names, state), edge == NULL ? "no edge" : "an edge");
			if (want != NULL)
				ck_assert_msg(edge->action == want->action && edge->next == want->to, "%s in %s", run_event_name((enum run_event)event),
				    state_name(&run_state_names, state));
		}
}
END_TEST

/* What ends a run finishes it, and nothing else does. */
START_TEST(ends_are_finished)
{
	for (size_t i = 0; i < run_edges_count; i++)
		ck_assert_int_eq(run_edges[i].action == RUN_A_FINISH, run_state_is_end(run_edges[i].next));
}
END_TEST

static enum run_event settle(const enum slot_stage *stages, size_t count)
{
	struct slot_row rows[4], *slots[4];

	for (size_t i = 0; i < count; i++) {
		row_init(ROW_SLOT, &rows[i]);
		rows[i].stage = (int)stages[i];
		slots[i] = &rows[i];
	}
	return run_settle(slots, count);
}

START_TEST(the_worst_slot_decides)
{
	static const struct {
		enum slot_stage stages[3];
		enum run_event event;
	} cases[] = {
		{ { SLOT_S_PASSED, SLOT_S_PASSED, SLOT_S_PASSED }, RUN_E_PASSED },
		{ { SLOT_S_PASSED, SLOT_S_FAILED, SLOT_S_PASSED }, RUN_E_FAILED },
		{ { SLOT_S_PASSED, SLOT_S_HELD, SLOT_S_PASSED }, RUN_E_HELD },
		{ { SLOT_S_FAILED, SLOT_S_HELD, SLOT_S_PASSED }, RUN_E_FAILED },
		{ { SLOT_S_CANCELLED, SLOT_S_FAILED, SLOT_S_HELD }, RUN_E_CANCELLED },
		{ { SLOT_S_PASSED, SLOT_S_REVIEWING, SLOT_S_FAILED }, RUN_EVENTS },
		{ { SLOT_S_HELD, SLOT_S_ENDING, SLOT_S_PASSED }, RUN_EVENTS },
		{ { SLOT_S_WAITING, SLOT_S_PASSED, SLOT_S_PASSED }, RUN_EVENTS },
		/* the review of the whole run waits for all, and for what a human still has to say */
		{ { SLOT_S_IMPLEMENTED, SLOT_S_IMPLEMENTED, SLOT_S_IMPLEMENTED }, RUN_E_REVIEW },
		{ { SLOT_S_IMPLEMENTED, SLOT_S_PASSED, SLOT_S_IMPLEMENTED }, RUN_E_REVIEW },
		{ { SLOT_S_IMPLEMENTED, SLOT_S_FIXING, SLOT_S_IMPLEMENTED }, RUN_EVENTS },
		{ { SLOT_S_IMPLEMENTED, SLOT_S_HELD, SLOT_S_IMPLEMENTED }, RUN_E_HELD },
		{ { SLOT_S_IMPLEMENTED, SLOT_S_HELD, SLOT_S_FAILED }, RUN_E_FAILED },
		{ { SLOT_S_IMPLEMENTED, SLOT_S_CANCELLED, SLOT_S_FAILED }, RUN_E_CANCELLED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(settle(cases[i].stages, 3), cases[i].event);
}
END_TEST

static struct run_row rows[8], *list[8];
static size_t nrows;

static struct run_row *add(enum run_state state, int64_t priority, const char *workspace)
{
	struct run_row *row = &rows[nrows];

	row_init(ROW_RUN, row);
	row->id = (int64_t)nrows + 1;
	row->state = (int)state;
	row->priority = priority;
	row->workspace = strdup(workspace);
	list[nrows++] = row;
	return row;
}

static void release(void)
{
	for (size_t i = 0; i < nrows; i++)
		row_release(ROW_RUN, &rows[i]);
	nrows = 0;
}

/* Each stage alone, so that none is forgotten. */
START_TEST(one_slot)
{
	for (int stage = 0; stage < SLOT_STAGES; stage++) {
		enum slot_stage stages[] = { (enum slot_stage)stage };
		enum run_event want = RUN_EVENTS;

		if (stage == SLOT_S_PASSED)
			want = RUN_E_PASSED;
		else if (stage == SLOT_S_FAILED)
			want = RUN_E_FAILED;
		else if (stage == SLOT_S_CANCELLED)
			want = RUN_E_CANCELLED;
		else if (stage == SLOT_S_HELD)
			want = RUN_E_HELD;
		else if (stage == SLOT_S_IMPLEMENTED)
			want = RUN_E_REVIEW;
		ck_assert_int_eq(settle(stages, 1), want);
	}
}
END_TEST

START_TEST(priority_then_age)
{
	struct run_row *old, *urgent;

	old = add(RUN_S_QUEUED, 0, "/a");
	add(RUN_S_QUEUED, 0, "/b");
	urgent = add(RUN_S_QUEUED, 5, "/c");
	ck_assert_ptr_eq(schedule_next(list, nrows, 1), urgent);
	urgent->state = RUN_S_RUNNING;
	ck_assert_ptr_eq(schedule_next(list, nrows, 1), old);
	ck_assert_ptr_null(schedule_next(list, nrows, 0));
	ck_assert_int_eq(schedule_used(list, nrows), 1);
	release();
}
END_TEST

START_TEST(one_run_at_a_time_in_a_workspace)
{
	struct run_row *busy, *waits, *other;
	char *reason;

	busy = add(RUN_S_RUNNING, 0, "/a");
	waits = add(RUN_S_QUEUED, 9, "/a");
	other = add(RUN_S_QUEUED, 0, "/b");
	ck_assert_ptr_eq(schedule_next(list, nrows, 3), other);
	reason = schedule_reason(waits, list, nrows, 3);
	ck_assert_str_eq(reason, "workdir busy: run 1");
	free(reason);
	busy->state = RUN_S_HELD;
	ck_assert_ptr_eq(schedule_next(list, nrows, 3), other);
	ck_assert_int_eq(schedule_used(list, nrows), 0);
	busy->state = RUN_S_FAILED;
	ck_assert_ptr_eq(schedule_next(list, nrows, 3), waits);
	ck_assert_ptr_null(schedule_reason(waits, list, nrows, 3));
	reason = schedule_reason(waits, list, nrows, 0);
	ck_assert_ptr_nonnull(reason);
	free(reason);
	release();
}
END_TEST

/* A run that was sent back gave away its slot, not its workspace. */
START_TEST(a_reworked_run_keeps_its_workspace)
{
	struct run_row *back, *waits;
	char *reason;

	back = add(RUN_S_QUEUED, 0, "/a");
	back->started_at = 1000;
	waits = add(RUN_S_QUEUED, 9, "/a");
	ck_assert_int_eq(schedule_used(list, nrows), 0);
	ck_assert_ptr_eq(schedule_next(list, nrows, 1), back);
	ck_assert_ptr_null(schedule_next(list, nrows, 0));
	reason = schedule_reason(waits, list, nrows, 1);
	ck_assert_str_eq(reason, "workdir busy: run 1");
	free(reason);
	reason = schedule_reason(back, list, nrows, 0);
	ck_assert_str_eq(reason, "all slots of the daemon are in use");
	free(reason);
	ck_assert_ptr_null(schedule_reason(back, list, nrows, 1));
	release();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { the_table_is_a_function, every_cell, ends_are_finished, the_worst_slot_decides, one_slot, priority_then_age,
	    one_run_at_a_time_in_a_workspace, a_reworked_run_keeps_its_workspace };

	return RUN_SUITE("run", tests);
}
