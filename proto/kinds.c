/* SPDX-License-Identifier: MIT */
#include "proto/kinds.h"

#include <assert.h>

/* Names of an enum with exactly count values. */
#define NAMES(id, title, total, ...)								\
	static const char *const id##_list[] = { __VA_ARGS__ };					\
	static_assert(sizeof(id##_list) / sizeof(id##_list[0]) == (total), \
	    title " has a value without a name"); \
	const struct state_names id##_names = { title, id##_list, (total) }

NAMES(wait_kind, "wait kind", WAITS,
    [WAIT_NOTHING] = NULL,
    [WAIT_HOST] = "host",
    [WAIT_SOURCE] = "source",
    [WAIT_PERMIT] = "permit",
    [WAIT_WORKSPACE] = "workspace",
    [WAIT_AFTER] = "after",
    [WAIT_GROUP] = "group",
    [WAIT_GROUP_PAUSED] = "group-paused",
    [WAIT_ACCOUNT] = "account",
    [WAIT_RETRY] = "retry",
    [WAIT_BUDGET] = "budget",
    [WAIT_SPACE] = "space",
    [WAIT_PICK] = "pick",
    [WAIT_PAUSED] = "paused",
    [WAIT_DRAINING] = "draining",
    [WAIT_PREPARING] = "preparing",
    [WAIT_PAUSE] = "pause",
    [WAIT_LOADING] = "loading",
    [WAIT_DECISION] = "decision",
    [WAIT_CANCELLING] = "cancelling",
    [WAIT_TASK] = "task",
    [WAIT_LIMIT] = "limit",
    [WAIT_NOT_REVIEWED] = "not-reviewed",
    [WAIT_RELEASED] = "released",
    [WAIT_TAKEN] = "taken",
    [WAIT_UNASSIGNED] = "unassigned",
    [WAIT_OTHER] = "other");

NAMES(end_kind, "end kind", ENDS,
    [END_NONE] = NULL,
    [END_WAIVED] = "waived",
    [END_APPROVED] = "approved",
    [END_KNOWN_ISSUES] = "known-issues",
    [END_REJECTED] = "rejected",
    [END_EXHAUSTED] = "exhausted",
    [END_STALLED] = "stalled",
    [END_CHECK] = "check",
    [END_VIOLATION] = "violation",
    [END_CONFLICT] = "conflict",
    [END_COMMIT_REFUSED] = "commit-refused",
    [END_NOT_REVIEWED] = "not-reviewed",
    [END_LIMIT] = "limit",
    [END_LOST] = "lost",
    [END_HOST] = "host",
    [END_TIMEOUT] = "timeout",
    [END_NOT_STARTED] = "not-started",
    [END_DENIED] = "denied",
    [END_NO_CHANGE] = "no-change",
    [END_GIT] = "git",
    [END_SOURCE] = "source",
    [END_ERROR] = "error",
    [END_CANCELLED] = "cancelled",
    [END_AFTER] = "after",
    [END_RETRIED] = "retried",
    [END_STOP_MARKER] = "stop-marker",
    [END_NOT_PICKED] = "not-picked",
    [END_TASKS_LEFT] = "tasks-left",
    [END_TAKEN] = "taken",
    [END_DONE] = "done",
    [END_DEPENDENCY] = "dependency",
    [END_NOT_BEGUN] = "not-begun");

NAMES(skip_kind, "skip kind", SKIPS,
    [SKIP_NOTHING] = NULL,
    [SKIP_OFF] = "off",
    [SKIP_PROMPT] = "prompt",
    [SKIP_FLAG] = "flag",
    [SKIP_BY_TASK] = "by-task",
    [SKIP_NO_CHANGE] = "no-change",
    [SKIP_FAILED] = "failed",
    [SKIP_STOP_MARKER] = "stop-marker",
    [SKIP_NOT_PICKED] = "not-picked",
    [SKIP_OTHER] = "other");
