/* SPDX-License-Identifier: MIT */
/* Why something waits, ended or was not reviewed, for programs: the kinds that accompany the
 * sentences "reason" and "cause". Daemon and client decide by these, never by words of a
 * sentence. */
#ifndef PROTO_KINDS_H
#define PROTO_KINDS_H

#include "proto/state_names.h"

/* Number of the slot that checks the base of a run: it is no place of an iteration, and has no task
 * and no permit. */
#define SLOT_BASELINE 65535

/* Why a run, slot or task waits: the kind of its reason. The first two are external faults that
 * delay it until they pass. */
enum wait_kind {
	WAIT_NOTHING,
	WAIT_HOST,		/* a fault of the host, see record/host_fault.h */
	WAIT_SOURCE,		/* the program of the task source fails temporarily */
	WAIT_PERMIT,		/* all slots of the daemon are in use */
	WAIT_SLOTS,		/* all slots of its run are in use */
	WAIT_WORKSPACE,		/* another run uses its workspace */
	WAIT_AFTER,		/* the run named by --after has not ended */
	WAIT_GROUP,		/* all slots of its group are in use */
	WAIT_GROUP_PAUSED,
	WAIT_ACCOUNT,		/* its account is exhausted */
	WAIT_RETRY,		/* its service failed, and is retried later */
	WAIT_BUDGET,		/* the rest of a budget is reserved for running attempts */
	WAIT_LAUNCHER,		/* all slots of its launcher are in use */
	WAIT_SPACE,		/* less free disk space than limits.disk_floor */
	WAIT_PICK,		/* the agents of earlier slots have not picked a task */
	WAIT_PAUSED,		/* paused by a user */
	WAIT_DRAINING,		/* the daemon starts nothing more */
	WAIT_PREPARING,		/* the first iteration is being prepared */
	WAIT_PAUSE,		/* between two iterations: run.pause_ms */
	WAIT_LOADING,		/* its task source is being asked */
	WAIT_DECISION,		/* it is held, and needs a decision */
	WAIT_CANCELLING,	/* cancelled; what is running is being ended */
	WAIT_TASK,		/* of a task: a dependency has not passed */
	WAIT_LIMIT,		/* of a task: its held run has used its iterations */
	/* the next four are no waits, but reasons of a slot at its end */
	WAIT_NOT_REVIEWED,
	WAIT_RELEASED,		/* its task was given back after a stop marker */
	WAIT_TAKEN,		/* another run or program has its task */
	WAIT_UNASSIGNED,	/* the run ended before it started */
	WAIT_OTHER,		/* written by an earlier version */
	WAITS
};
/* Why a run, slot, task or attempt ended, or a slot is held: the kind of its cause. */
enum end_kind {
	END_NONE,
	END_WAIVED,		/* accepted by a policy without a passing verdict */
	END_APPROVED,		/* accepted by a human */
	END_KNOWN_ISSUES,	/* accepted by a policy, with findings left open */
	END_REJECTED,		/* by a human */
	END_EXHAUSTED,		/* the review found issues up to the last round */
	END_STALLED,		/* the fix attempts changed nothing */
	END_CHECK,		/* a check failed up to the last round */
	END_SETUP,		/* a set-up command failed */
	END_BASE,		/* a check fails on the base */
	END_VIOLATION,		/* the reviewer broke its contract */
	END_CONFLICT,		/* with the work of another task */
	END_COMMIT_REFUSED,		/* a hook of the repository rejected the commit */
	END_REVIEWER_CHANGED,	/* the reviewing program is not that of the submit */
	END_PROTECTED,			/* passed, but the work touches a protected path */
	END_CUT,			/* passed, but the prompt left out a part of the diff */
	END_QUESTION,		/* its agent asks a human something */
	END_REF_MOVED,		/* a ref is no longer as rld set it */
	/* implemented, but its run failed before the review of the whole run */
	END_NOT_REVIEWED,
	END_LIMIT,		/* a budget or the iterations are used up */
	END_LOST,		/* its process is gone, and its exit status is unknown */
	END_HOST,		/* its output was lost to a fault of the host */
	END_TIMEOUT,		/* a time limit ended its process */
	END_NOT_STARTED,	/* its process could not be started */
	END_DENIED,		/* permissions were denied, and nothing was changed */
	END_NO_CHANGE,		/* nothing was changed, and run.on_no_change is "fail" */
	END_GIT,		/* a git operation failed */
	END_SOURCE,		/* the task source failed, or does not offer the task */
	END_ERROR,		/* its process failed, or another error */
	END_CANCELLED,
	END_AFTER,		/* the run named by --after failed or was cancelled */
	END_RETRIED,		/* another run retries it */
	END_PARTIAL,		/* passed, but another task failed, and all are committed or none */
	END_DIFFERS,		/* a retry: the directory is not what the run before has left */
	END_STOP_MARKER,	/* an agent gave one */
	END_NOT_PICKED,		/* no agent picked a task */
	END_TASKS_LEFT,		/* passed; its other tasks are not in this run */
	END_TAKEN,		/* a task: another run or user works on it */
	END_DONE,		/* a task: it passed in another run */
	END_DEPENDENCY,		/* a task: a dependency did not pass */
	END_NOT_BEGUN,		/* a task: the run ended first */
	ENDS
};

/* Why a result was not reviewed. */
enum skip_kind {
	SKIP_NOTHING,		/* it is reviewed */
	SKIP_OFF,		/* no review was requested */
	SKIP_PROMPT,		/* reviewer_prompt is "none" */
	SKIP_FLAG,		/* --skip-review */
	SKIP_BY_TASK,		/* of a run: each of its tasks decides */
	SKIP_NO_CHANGE,		/* nothing was changed, and run.on_no_change is "pass" */
	SKIP_FAILED,		/* the implementer failed */
	SKIP_STOP_MARKER,	/* the agent gave one */
	SKIP_NOT_PICKED,	/* the agent picked no task */
	SKIP_OTHER,		/* written by an earlier version */
	SKIPS
};

extern const struct state_names wait_kind_names, end_kind_names, skip_kind_names;

#endif
