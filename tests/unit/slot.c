/* SPDX-License-Identifier: MIT */
/* The slot machine: edges, and what holds for the table as a whole. */
#include <string.h>

#include "core.h"
#include "core/slot.h"

static void expect(enum slot_stage from, enum slot_event event, enum slot_action action, enum slot_stage to)
{
	const struct slot_edge *edge = slot_step(from, event);

	ck_assert_msg(edge != NULL, "no edge for %s in %s", slot_event_name(event), state_name(&slot_stage_names, (int)from));
	ck_assert_int_eq(edge->action, action);
	ck_assert_int_eq(edge->next, to);
}

START_TEST(the_straight_way)
{
	expect(SLOT_S_WAITING, SLOT_E_START, SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING);
	expect(SLOT_S_IMPLEMENTING, SLOT_E_DONE, SLOT_A_MEASURE, SLOT_S_MEASURING);
	expect(SLOT_S_MEASURING, SLOT_E_MEASURED, SLOT_A_REVIEW, SLOT_S_REVIEWING);
	expect(SLOT_S_REVIEWING, SLOT_E_ANSWERED, SLOT_A_VERIFY, SLOT_S_VERIFYING);
	expect(SLOT_S_VERIFYING, SLOT_E_FINDINGS, SLOT_A_FIX, SLOT_S_FIXING);
	expect(SLOT_S_FIXING, SLOT_E_DONE, SLOT_A_MEASURE, SLOT_S_MEASURING);
	expect(SLOT_S_VERIFYING, SLOT_E_PASS, SLOT_A_PIN, SLOT_S_PINNING);
	expect(SLOT_S_PINNING, SLOT_E_PINNED, SLOT_A_SETTLE, SLOT_S_PASSED);
}
END_TEST

/* Only a pass that was read and pinned, or an implementation that nobody wanted reviewed, leads to "passed". */
START_TEST(passed_needs_evidence)
{
	for (size_t i = 0; i < slot_edges_count; i++) {
		const struct slot_edge *e = &slot_edges[i];

		if (e->next != SLOT_S_PASSED)
			continue;
		ck_assert(e->event == SLOT_E_PINNED || e->event == SLOT_E_DONE_UNREVIEWED || e->event == SLOT_E_MEASURED_UNREVIEWED);
	}
	for (int stage = 0; stage < SLOT_STAGES; stage++)
		if (stage != SLOT_S_VERIFYING)
			ck_assert_ptr_null(slot_step((enum slot_stage)stage, SLOT_E_PASS));
}
END_TEST

START_TEST(every_stage_that_is_no_end_can_be_cancelled)
{
	for (int stage = 0; stage < SLOT_STAGES; stage++) {
		const struct slot_edge *e = slot_step((enum slot_stage)stage, SLOT_E_CANCEL);

		if (slot_stage_is_end((enum slot_stage)stage) || stage == SLOT_S_ENDING)
			ck_assert_ptr_null(e);
		else
			ck_assert_ptr_nonnull(e);
	}
	expect(SLOT_S_ENDING, SLOT_E_ENDED, SLOT_A_SETTLE, SLOT_S_CANCELLED);
}
END_TEST

START_TEST(ends_are_ends)
{
	for (int stage = 0; stage < SLOT_STAGES; stage++)
		for (int event = 0; event < SLOT_EVENTS; event++)
			if (slot_stage_is_end((enum slot_stage)stage))
				ck_assert_ptr_null(slot_step((enum slot_stage)stage, (enum slot_event)event));
}
END_TEST

START_TEST(lost_goes_where_the_policy_says)
{
	static const enum slot_stage attempts[] = { SLOT_S_IMPLEMENTING, SLOT_S_REVIEWING, SLOT_S_FIXING };

	for (size_t i = 0; i < 3; i++) {
		expect(attempts[i], SLOT_E_LOST_HOLD, SLOT_A_SETTLE, SLOT_S_HELD);
		expect(attempts[i], SLOT_E_LOST_FAIL, SLOT_A_SETTLE, SLOT_S_FAILED);
		ck_assert_int_eq(slot_step(attempts[i], SLOT_E_LOST_RETRY)->next, attempts[i]);
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
	}
}
END_TEST

START_TEST(phases)
{
	ck_assert_int_eq(slot_phase(SLOT_S_MEASURING), PHASE_REVIEWING);
	ck_assert_int_eq(slot_phase(SLOT_S_VERIFYING), PHASE_REVIEWING);
	ck_assert_int_eq(slot_phase(SLOT_S_PINNING), PHASE_COMMITTING);
	ck_assert_int_eq(slot_phase(SLOT_S_ENDING), PHASE_CANCELLED);
	ck_assert_int_eq(slot_phase(SLOT_S_HELD), PHASE_HELD);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { the_straight_way, passed_needs_evidence, every_stage_that_is_no_end_can_be_cancelled, ends_are_ends,
	    lost_goes_where_the_policy_says, the_table_is_a_function, phases };

	return RUN_SUITE("slot", tests);
}
