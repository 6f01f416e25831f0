/* SPDX-License-Identifier: MIT */
/* Which of its three results kept an attempt from being a success. */
#include "core.h"
#include "core/fault.h"
#include "proto/memory.h"

static const struct {
	enum process_result process;
	int64_t exit_code;
	enum provider_result provider;
	enum task_result outcome;
	enum end_kind end;
	enum fault wanted;
} table[] = {
	{ PROCESS_EXITED, 0, PROVIDER_OK, TASK_R_DONE, END_NONE, FAULT_NONE },
	{ PROCESS_EXITED, 0, PROVIDER_OK, TASK_R_STOP_MARKER, END_NONE, FAULT_NONE },
	/* a reviewer whose exit status is the verdict */
	{ PROCESS_EXITED, 1, PROVIDER_OK, TASK_R_DONE, END_NONE, FAULT_NONE },
	{ PROCESS_LINGERED, ROW_NONE, PROVIDER_OK, TASK_R_DONE, END_NONE, FAULT_NONE },
	{ PROCESS_EXITED, 3, PROVIDER_OK, TASK_R_FAILED, END_ERROR, FAULT_PROCESS },
	{ PROCESS_SIGNALLED, ROW_NONE, PROVIDER_OK, TASK_R_FAILED, END_ERROR, FAULT_PROCESS },
	{ PROCESS_TIMEOUT, ROW_NONE, PROVIDER_NONE, TASK_R_FAILED, END_ERROR, FAULT_PROCESS },
	{ PROCESS_IDLE, ROW_NONE, PROVIDER_OK, TASK_R_FAILED, END_ERROR, FAULT_PROCESS },
	{ PROCESS_IDLE, ROW_NONE, PROVIDER_UNKNOWN, TASK_R_FAILED, END_ERROR, FAULT_PROCESS },
	{ PROCESS_REFUSED, ROW_NONE, PROVIDER_LIMIT, TASK_R_FAILED, END_ERROR, FAULT_PROVIDER },
	{ PROCESS_LOST, ROW_NONE, PROVIDER_NONE, TASK_R_FAILED, END_ERROR, FAULT_PROCESS },
	{ PROCESS_LOST, ROW_NONE, PROVIDER_NONE, TASK_R_NONE, END_ERROR, FAULT_PROCESS },
	{ PROCESS_NOT_STARTED, ROW_NONE, PROVIDER_NONE, TASK_R_NONE, END_ERROR, FAULT_PROCESS },
	{ PROCESS_NOT_STARTED, ROW_NONE, PROVIDER_NONE, TASK_R_FAILED, END_NOT_STARTED, FAULT_PROCESS },
	{ PROCESS_NOT_STARTED, ROW_NONE, PROVIDER_NONE, TASK_R_FAILED, END_LIMIT, FAULT_NONE },
	/* what it said before does not matter where it was ended by decision */
	{ PROCESS_CANCELLED, ROW_NONE, PROVIDER_THROTTLED, TASK_R_FAILED, END_ERROR, FAULT_PROCESS },
	{ PROCESS_EXITED, 1, PROVIDER_AUTH, TASK_R_FAILED, END_ERROR, FAULT_PROVIDER },
	{ PROCESS_EXITED, 0, PROVIDER_ERROR, TASK_R_FAILED, END_ERROR, FAULT_PROVIDER },
	{ PROCESS_IDLE, ROW_NONE, PROVIDER_THROTTLED, TASK_R_FAILED, END_ERROR, FAULT_PROVIDER },
	{ PROCESS_SIGNALLED, ROW_NONE, PROVIDER_LIMIT, TASK_R_FAILED, END_ERROR, FAULT_PROVIDER },
	/* exit 0, and the program says itself that it did not do it */
	{ PROCESS_EXITED, 0, PROVIDER_OK, TASK_R_FAILED, END_ERROR, FAULT_TASK },
	{ PROCESS_LINGERED, ROW_NONE, PROVIDER_OK, TASK_R_FAILED, END_ERROR, FAULT_TASK },
	{ PROCESS_EXITED, 0, PROVIDER_OK, TASK_R_DENIED, END_ERROR, FAULT_TASK },
	{ PROCESS_EXITED, 0, PROVIDER_OK, TASK_R_NO_CHANGE, END_ERROR, FAULT_TASK },
	/* a reviewer that was refused something and judged all the same; an empty change that
	 * a review looks at */
	{ PROCESS_EXITED, 0, PROVIDER_OK, TASK_R_DENIED, END_NONE, FAULT_NONE },
	{ PROCESS_EXITED, 0, PROVIDER_OK, TASK_R_NO_CHANGE, END_NONE, FAULT_NONE },
	{ PROCESS_NONE, ROW_NONE, PROVIDER_NONE, TASK_R_NONE, END_NONE, FAULT_NONE },
};

static struct attempt_row *make(size_t i)
{
	struct attempt_row *a = row_new(ROW_ATTEMPT);

	a->process = (int)table[i].process;
	a->exit_code = table[i].exit_code;
	a->provider = (int)table[i].provider;
	a->outcome = (int)table[i].outcome;
	a->end_kind = (int)table[i].end;
	a->ended_at = 1;
	return a;
}

START_TEST(one_of_three)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct attempt_row *a = make(i);

		ck_assert_msg(attempt_fault(a) == table[i].wanted, "row %zu: %s", i,
		    state_name(&fault_names, (int)attempt_fault(a)));
		row_free(ROW_ATTEMPT, a);
	}
}
END_TEST

START_TEST(nothing_is_known_before_the_end)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct attempt_row *a = make(i);

		a->ended_at = ROW_NONE;
		ck_assert_int_eq(attempt_fault(a), FAULT_NONE);
		row_free(ROW_ATTEMPT, a);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { one_of_three, nothing_is_known_before_the_end };

	return RUN_SUITE("fault", tests);
}
