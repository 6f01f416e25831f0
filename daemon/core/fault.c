/* SPDX-License-Identifier: MIT */
#include "core/fault.h"

static const char *const names[] = { [FAULT_NONE] = "none", [FAULT_PROCESS] = "process",
    [FAULT_PROVIDER] = "provider", [FAULT_TASK] = "task" };

const struct state_names fault_names = { "fault", names, FAULTS, NULL };

/* The run's budget was used up. */
static bool is_forgone(const struct attempt_row *a)
{
	return a->process == PROCESS_NOT_STARTED && a->end_kind == END_LIMIT;
}

static enum fault of_failed(const struct attempt_row *a)
{
	if (a->process != PROCESS_LOST && a->process != PROCESS_NOT_STARTED && a->process != PROCESS_CANCELLED &&
	    a->provider != PROVIDER_NONE && a->provider != PROVIDER_OK && a->provider != PROVIDER_UNKNOWN)
		return FAULT_PROVIDER;
	/* The process exited normally or had given its result, so the result decides. */
	if (a->process == PROCESS_LINGERED || (a->process == PROCESS_EXITED && a->exit_code == 0))
		return FAULT_TASK;
	return FAULT_PROCESS;
}

enum fault attempt_fault(const struct attempt_row *a)
{
	if (a->ended_at == ROW_NONE || a->process == PROCESS_NONE)
		return FAULT_NONE;
	switch ((enum task_result)a->outcome) {
	case TASK_R_FAILED:
		return is_forgone(a) ? FAULT_NONE : of_failed(a);
	case TASK_R_NONE:
		return a->process == PROCESS_EXITED || a->process == PROCESS_LINGERED ? FAULT_NONE : FAULT_PROCESS;
	case TASK_R_DENIED:
	case TASK_R_NO_CHANGE:
		/* only an end that counts as a failure has a kind */
		return a->end_kind != END_NONE ? FAULT_TASK : FAULT_NONE;
	case TASK_R_DONE:
	case TASK_R_STOP_MARKER:
	case TASK_RESULTS:
		break;
	}
	return FAULT_NONE;
}
