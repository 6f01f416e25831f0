/* SPDX-License-Identifier: MIT */
/* The run machine, what slots add up to, and which run starts next. */
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

START_TEST(ends_are_ends_and_the_rest_can_be_cancelled)
{
	for (int state = 0; state < RUN_STATES; state++) {
		for (int event = 0; event < RUN_EVENTS; event++)
			if (run_state_is_end((enum run_state)state))
				ck_assert_ptr_null(run_step((enum run_state)state, (enum run_event)event));
		if (!run_state_is_end((enum run_state)state))
			ck_assert_ptr_nonnull(run_step((enum run_state)state, RUN_E_CANCEL));
	}
	ck_assert_int_eq(run_step(RUN_S_QUEUED, RUN_E_CANCEL)->next, RUN_S_CANCELLED);
	ck_assert_int_eq(run_step(RUN_S_RUNNING, RUN_E_CANCEL)->next, RUN_S_RUNNING);
	ck_assert_int_eq(run_step(RUN_S_HELD, RUN_E_CANCELLED)->next, RUN_S_CANCELLED);
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

int main(void)
{
	const TTest *const tests[] = { the_table_is_a_function, ends_are_ends_and_the_rest_can_be_cancelled, the_worst_slot_decides,
	    priority_then_age, one_run_at_a_time_in_a_workspace };

	return RUN_SUITE("run", tests);
}
