/* SPDX-License-Identifier: MIT */
#include "rpc/event_types.h"

#include <stddef.h>

#include "core/budget.h"
#include "core/state.h"
#include "proto/kinds.h"

#define END { NULL, NULL, NULL }
#define WAITS \
	{ "reason", "string?", "why it waits" }, \
	{ "wait_kind", "WaitKind?", "kind of the reason, for programs" }
#define ENDS \
	{ "cause", "string?", "why it ended" }, \
	{ "end_kind", "EndKind?", "kind of the cause, for programs" }
#define SLOT { "slot", "integer", "number of the slot" }
#define TASK { "task", "string", "id of the task" }

static const struct result_field head_fields[] = {
	{ "seq", "integer", "number of the event, from 1, without a gap" },
	{ "time", "time", "of the decision" },
	{ "type", "string", "type of the event" },
	{ "run", "integer|null", "its run; null: of the daemon" },
	{ "subscription", "string?", "name of the subscription that it was sent for" },
	END
};

static const struct result_field run_state_fields[] = {
	{ "state", "RunState", "of the run" }, WAITS, ENDS, END
};
static const struct result_field iteration_started_fields[] = {
	{ "iteration", "integer", "its number" }, END
};
static const struct result_field iteration_ended_fields[] = {
	{ "iteration", "integer", "its number" },
	{ "state", "IterationState", "passed, failed or cancelled" },
	END
};
static const struct result_field slot_phase_fields[] = {
	SLOT,
	{ "phase", "Phase", "what it does" },
	{ "task", "string?", "id of its task" },
	{ "round", "integer", "reviews so far" },
	{ "fix", "integer", "fix rounds so far" },
	{ "max_reviews", "integer", "reviews allowed" },
	WAITS,
	ENDS,
	{ "obstacle", "string?", "what prevents git from taking the work, while that is fixed" },
	END
};
static const struct result_field slot_picked_fields[] = {
	SLOT, TASK, { "title", "string?", "first line of the task" }, END
};
static const struct result_field slot_continued_fields[] = {
	SLOT, TASK, { "continues", "integer", "run whose work it is" },
	{ "tree", "string", "git tree of that work" }, END
};
static const struct result_field slot_merged_fields[] = {
	SLOT, TASK, { "commit", "string?", "git commit on the run's branch" },
	{ "merge", "Merge?", "what is known of the merged tree" }, END
};

#define ATTEMPT \
	{ "attempt", "integer", "id of the attempt" }, \
	{ "number", "integer", "number within the run" }, \
	{ "role", "Role", "of the attempt" }, \
	{ "agent", "string?", "name of the agent" }, \
	SLOT, \
	{ "round", "integer", "of reviews or of fixes" }

static const struct result_field attempt_started_fields[] = { ATTEMPT, END };
static const struct result_field attempt_ended_fields[] = {
	ATTEMPT,
	{ "state", "AttemptState", "exited or lost" },
	{ "exit_code", "integer?", "exit status, if it exited" },
	{ "signal", "integer?", "signal, if it was killed by one" },
	{ "process", "ProcessResult", "outcome of the process" },
	{ "provider", "ProviderResult?", "report of the provider" },
	{ "outcome", "TaskResult", "outcome of the task" },
	ENDS,
	{ "tokens_input", "integer?", "as the agent reports" },
	{ "tokens_output", "integer?", "as the agent reports" },
	{ "cost_usd", "number?", "as the agent reports" },
	{ "wall_ms", "integer?", "from its start to its end" },
	END
};
static const struct result_field agent_refused_fields[] = {
	{ "attempt", "integer", "id of the attempt whose process asked" },
	{ "method", "string", "what it asked for" },
	{ "uid", "integer", "of that process" },
	{ "pid", "integer", "of that process" },
	END
};
static const struct result_field check_reused_fields[] = {
	SLOT,
	TASK,
	{ "check", "integer", "number of the check, from 1" },
	{ "command", "string", "of the check" },
	{ "result", "EvidenceResult", "what the check comes to on this tree" },
	{ "from_run", "integer", "run of the attempt that says so" },
	{ "from_attempt", "integer", "its number within that run" },
	END
};
static const struct result_field review_decided_fields[] = {
	{ "review", "integer", "number of the row in the review log" },
	TASK,
	SLOT,
	{ "round", "integer", "of reviews" },
	{ "decision", "string", "in the words of the profile" },
	{ "feedback", "string?", "of the reviewer" },
	{ "findings", "integer", "number of findings" },
	{ "new", "integer", "number of findings of no earlier review" },
	{ "repeated", "integer", "number of findings of an earlier review" },
	{ "resolved", "integer", "number of earlier findings that are gone" },
	{ "dismissed", "integer", "number of findings that users dismissed" },
	{ "by", "string", "name of the reviewer, or human:<user>" },
	{ "attempt", "integer?", "id of the attempt that reviewed" },
	END
};
static const struct result_field review_voted_fields[] = {
	{ "review", "integer", "number of the row in the review log" },
	TASK,
	SLOT,
	{ "round", "integer", "of reviews" },
	{ "decision", "string", "in the words of the profile" },
	{ "feedback", "string?", "of the reviewer" },
	{ "findings", "integer", "number of findings" },
	{ "reviewer", "string", "name of the reviewer of the panel" },
	{ "by", "string", "name of the agent: the reviewer, or its fallback" },
	{ "attempt", "integer", "id of the attempt that reviewed" },
	END
};
static const struct result_field review_asked_fields[] = {
	SLOT,
	TASK,
	{ "round", "integer", "of reviews" },
	{ "attempt", "integer", "id of the attempt that gave the answer" },
	{ "by", "string", "name of the reviewer" },
	{ "reason", "string", "what is wrong with the answer" },
	END
};
static const struct result_field review_skipped_fields[] = {
	SLOT,
	{ "task", "string?", "id of the task" },
	{ "reason", "string", "why there is no review" },
	{ "skip_kind", "SkipKind", "kind of the reason, for programs" },
	END
};
static const struct result_field finding_fields[] = {
	{ "review", "integer", "number of the review" },
	{ "id", "string", "the same for the same finding" },
	{ "file", "string?", "where" },
	{ "line", "integer?", "where" },
	{ "severity", "string?", "in the words of the profile" },
	{ "text", "string", "what was found" },
	{ "state", "FindingState", "since the review before" },
	{ "by", "string", "who says so" },
	{ "reason", "string?", "why a fixer disputes it" },
	END
};
static const struct result_field finding_dismissed_fields[] = {
	{ "task", "string", "id of the task" },
	{ "finding", "string", "id of the finding" },
	{ "text", "string", "the finding with its place, shortened" },
	{ "by", "string", "human:<user>" },
	{ "reason", "string", "why it need not be fixed" },
	END
};
static const struct result_field question_fields[] = {
	{ "slot", "integer", "number of the slot" },
	TASK,
	{ "attempt", "integer", "id of the attempt" },
	{ "by", "string", "name of the agent" },
	{ "question", "string", "what it asks" },
	END
};
static const struct result_field hold_opened_fields[] = {
	{ "hold", "integer", "id of the hold" },
	TASK,
	SLOT,
	{ "kind", "HoldKind", "what a human has to decide" },
	{ "reason", "string?", "why it is held" },
	END
};
static const struct result_field hold_closed_fields[] = {
	{ "hold", "integer", "id of the hold" },
	TASK,
	SLOT,
	{ "state", "HoldState", "the decision" },
	{ "by", "string?", "human:<user>" },
	{ "message", "string?", "of the user" },
	END
};
static const struct result_field salvaged_fields[] = {
	{ "salvage", "integer", "id of the salvage" }, TASK, { "ref", "string", "git ref of the content" }, END
};
static const struct result_field cooldown_fields[] = {
	{ "account", "string", "its name" },
	{ "kind", "CooldownKind", "what exhausted it" },
	{ "in_force", "boolean", "false: it is available again" },
	{ "until", "time", "end of the cooldown" },
	{ "reason", "string|null", "message of the service or of the user" },
	{ "set_by", "string|null", "human:<user>" },
	END
};
static const struct result_field budget_fields[] = {
	{ "kind", "BudgetKind", "what is limited" },
	{ "spent", "number", "US dollars, tokens or milliseconds" },
	{ "limit", "number", "likewise" },
	{ "account", "string?", "the account, on this day; absent: the run" },
	END
};
static const struct result_field run_changed_fields[] = {
	{ "by", "string", "who changed it: uid N" },
	{ "changes", "[string]", "names of the settings" },
	END
};
static const struct result_field run_pruned_fields[] = {
	{ "why", "RetentionLimit", "the limit by which it went" },
	{ "by_uid", "integer|null", "who asked for it; null: the daemon" },
	{ "bytes", "integer|null", "what was kept of it; null: not measured" },
	END
};
static const struct result_field group_fields[] = {
	{ "group", "string", "its name" }, { "paused", "boolean", "true: its runs start nothing" }, END
};
static const struct result_field daemon_fields[] = {
	{ "what", "'started'", "what happened" }, { "version", "string", "of the daemon" }, END
};
static const struct result_field host_fields[] = {
	{ "what", "'waits'|'over'", "over: the fault is gone" },
	{ "slot", "integer?", "number of the slot" },
	{ "error", "string?", "name of the error, such as ENOSPC" },
	{ "reason", "string?", "what failed" },
	{ "since", "time?", "since when" },
	{ "next_at", "time?", "time of the next try" },
	END
};

#define EVENTS(EVENT) \
	EVENT("run.state", run_state, "state, reason or cause of a run changed") \
	EVENT("run.changed", run_changed, "a run has new settings") \
	EVENT("run.pruned", run_pruned, "outputs, directories and refs of a run are removed") \
	EVENT("iteration.started", iteration_started, "an iteration begins") \
	EVENT("iteration.ended", iteration_ended, "all slots of an iteration have ended") \
	EVENT("slot.phase", slot_phase, "the phase of a slot, or why it waits, changed") \
	EVENT("slot.picked", slot_picked, "the agent chose its task") \
	EVENT("slot.continued", slot_continued, "the slot begins with the work of an earlier run") \
	EVENT("slot.merged", slot_merged, "the result of a slot is on the run's branch") \
	EVENT("attempt.started", attempt_started, "the process of an attempt runs") \
	EVENT("attempt.ended", attempt_ended, "an attempt ended") \
	EVENT("agent.refused", agent_refused, "an agent asked for something that it may not do") \
	EVENT("check.reused", check_reused, "a check is not run: its result on this tree is known") \
	EVENT("review.decided", review_decided, "a row of the review log was written") \
	EVENT("review.voted", review_voted, "a reviewer of a panel has voted; its decision follows") \
	EVENT("review.asked", review_asked, "a reviewer is asked about a malformed answer") \
	EVENT("review.skipped", review_skipped, "a result was not reviewed") \
	EVENT("finding", finding, "a finding of a review, or one that a fixer marked as fixed or disputes") \
	EVENT("finding.dismissed", finding_dismissed, "a user decided that a finding need not be fixed") \
	EVENT("question", question, "an agent asks a human something") \
	EVENT("hold.opened", hold_opened, "a human has to decide") \
	EVENT("hold.closed", hold_closed, "a human decided, or the run was cancelled") \
	EVENT("salvaged", salvaged, "the content of a work tree was saved") \
	EVENT("cooldown", cooldown, "an account is exhausted, or available again") \
	EVENT("budget", budget, "four fifths of a limit are reached") \
	EVENT("group", group, "a group was changed") \
	EVENT("daemon", daemon, "the daemon started") \
	EVENT("host", host, "a fault of the host delays a run, or is over")

#define TYPE(name, members, help)	{ name, help, members##_fields },
#define NAME(name, members, help)	name,

const struct event_type event_types[] = { EVENTS(TYPE) { NULL, NULL, NULL } };
static const char *const names[] = { EVENTS(NAME) };
const struct state_names event_type_names = { "event type", names, sizeof(names) / sizeof(names[0]), NULL };

static json_t *event_schema(const struct event_type *type)
{
	json_t *json = result_schema(head_fields), *own = result_schema(type->fields), *name;
	size_t i;

	json_object_update_new(json_object_get(json, "properties"), json_incref(json_object_get(own, "properties")));
	json_array_foreach(json_object_get(own, "required"), i, name)
		json_array_append(json_object_get(json, "required"), name);
	json_object_set_new(json_object_get(json_object_get(json, "properties"), "type"), "const",
	    json_string(type->name));
	json_object_set_new(json, "description", json_string(type->help));
	json_decref(own);
	return json;
}

json_t *event_notifications(void)
{
	static const struct result_field gap[] = {
		{ "from", "integer", "number of the first event that is no longer kept" },
		{ "to", "integer", "number of the last one" },
		{ "subscription", "string?", "name of the subscription" },
		END
	};
	json_t *any = json_array();

	for (const struct event_type *type = event_types; type->name != NULL; type++)
		json_array_append_new(any, event_schema(type));
	return json_pack("[{s:s,s:s,s:{s:o}},{s:s,s:s,s:o}]",
	    "name", "event", "summary", "one event, after event.subscribe", "params", "oneOf", any,
	    "name", "gap", "summary", "events that are no longer kept, after event.subscribe", "params",
	    result_schema(gap));
}
