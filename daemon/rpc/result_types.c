/* SPDX-License-Identifier: MIT */
/* The objects that more than one answer has, or that stand inside of one. */
#include <stddef.h>

#include "core/budget.h"
#include "core/fault.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/state.h"
#include "proto/kinds.h"
#include "rpc/doctor.h"
#include "rpc/prune_types.h"
#include "rpc/result.h"

#define END { NULL, NULL, NULL }

/* ---- runs ---- */

/* In pages of runs, and at the head of a whole run. */
static const struct result_field transcript_item_fields[] = {
	{ "kind", "TranscriptKind", "what it is" },
	{ "text", "string", "UTF-8 without control characters but newlines and tabs, at most 64 KiB" },
	END
};

static const struct result_field sample_fields[] = {
	{ "labels", "{string}", "names and values" },
	{ "value", "number", "the number" },
	END
};

static const struct result_field metric_fields[] = {
	{ "name", "string", "its name, with its unit" },
	{ "type", "'gauge'|'counter'", "a counter begins at 0 with each start" },
	{ "help", "string", "what it says" },
	{ "samples", "[Sample]", "one for each set of labels" },
	END
};

static const struct result_field run_summary_fields[] = {
	RESULT_ROW("run"),
	{ "title", "string|null", "first line of the first task" },
	{ "overview", "Overview", "what passed, what failed, and how to take the result" },
	END
};

static const struct result_field overview_fields[] = {
	{ "tasks", "integer", "number of tasks" },
	{ "states", "{integer}", "number of tasks by TaskState" },
	{ "held", "integer", "number of tasks with an open hold" },
	{ "task", "string|null", "id of the task that why is about; null: of all, or of the only one" },
	{ "why", "string|null", "why the run ended or waits, beginning with that task: \"T-07: ...\"" },
	{ "cost_usd", "number|null", "of all attempts; null: no agent reported any" },
	{ "branch", "string|null", "short branch name of the result of a run that ended or is held; null: not one" },
	{ "branches", "integer", "number of branches that have what passed" },
	{ "take", "string|null", "command that takes the result; null: there is no branch, or not a single one" },
	{ "pick", "string|null", "takes it without what was uncommitted at the start; null: likewise" },
	{ "show", "string|null", "command that shows a commit that take does not: not passed, or there already" },
	END
};

static const struct result_field run_fields[] = {
	RESULT_TYPE("RunSummary"),
	{ "slots", "[Slot]", "slots of the current iteration: those at work, and those that are free" },
	{ "tasks", "[Task]", "in the order in which they are offered" },
	{ "disk_bytes", "integer|null", "size of the work trees of its tasks, when they were last measured" },
	{ "attempts", "integer", "number of attempts so far" },
	{ "totals", "Totals", "use of all attempts" },
	{ "checks", "CheckCounts", "how often each was the result of a check" },
	{ "budget", "Budget|null", "limits and use; null: no limit" },
	{ "holds", "[HoldSummary]", "its open holds" },
	{ "dismissed", "[Dismissal]", "findings that users dismissed, also in the runs that it retries" },
	{ "disputed", "[Dispute]", "findings that fixers disputed, also in the runs whose work it continues" },
	{ "pruned", "Pruned|null", "what prune has removed of it; null: nothing" },
	{ "history", "[Iteration]", "iterations so far" },
	{ "result", "RunResult|null", "the accepted answer; null: none yet" },
	{ "agents", "{AgentChoice}", "the agent of each role" },
	{ "parallel", "integer", "number of slots" },
	{ "assign", "Assign", "what picks the task of a slot" },
	{ "review", "ReviewSettings", "how its tasks are reviewed" },
	END
};

static const struct result_field slot_fields[] = {
	RESULT_ROW("slot"),
	{ "phase", "Phase", "what it does" },
	{ "next_at", "time?", "time of the next try, while something from outside holds it up" },
	END
};

static const struct result_field task_fields[] = {
	RESULT_ROW("task"),
	{ "wait_kind", "WaitKind|null", "the kind of reason of one that waits, for programs" },
	{ "branch", "string|null", "short name of the branch that its last slot left in git" },
	{ "commit", "string|null", "git commit of that slot's work" },
	{ "merge", "Merge|null", "how far the merge of that commit has come" },
	{ "rounds", "integer", "number of its reviews" },
	{ "attempts", "integer", "number of its attempts" },
	{ "wall_ms", "integer", "of those that have ended, together" },
	{ "cost_usd", "number|null", "of its attempts; null: no agent reported any" },
	END
};

static const struct result_field iteration_fields[] = { RESULT_ROW("iteration"), END };

static const struct result_field totals_fields[] = {
	{ "tokens", "integer|null", "null: no agent reported any" },
	{ "cost_usd", "number|null", "null: no agent reported any" },
	{ "wall_ms", "integer|null", "since its start, up to its end" },
	END
};

static const struct result_field check_counts_fields[] = {
	{ "green", "integer", "passed" },
	{ "red", "integer", "failed" },
	{ "flaky", "integer", "failed, and passed when it was run once more" },
	{ "reused", "integer", "not run, because its result on that tree was known" },
	END
};

static const struct result_field budget_fields[] = {
	{ "max_cost_usd", "number|null", "null: no limit" },
	{ "spent_usd", "number", "reported by agents, or reserved for those that reported nothing" },
	{ "reserved_usd", "number", "for running attempts" },
	{ "max_tokens", "integer|null", "null: no limit" },
	{ "spent_tokens", "integer", "as spent_usd" },
	{ "reserved_tokens", "integer", "for running attempts" },
	{ "max_wall_ms", "integer|null", "null: no limit" },
	{ "wall_ms", "integer", "since its start" },
	END
};

static const struct result_field run_result_fields[] = {
	{ "attempt", "integer", "id of the attempt with the accepted answer" },
	{ "tree", "string|null", "git tree that passed" },
	{ "ref", "string|null", "git ref of that tree" },
	{ "commit", "string|null", "git commit of the result" },
	END
};

static const struct result_field agent_choice_fields[] = {
	{ "agent", "string", "name of the agent" },
	{ "model", "string|null", "null: the agent's own default" },
	END
};

static const struct result_field review_settings_fields[] = {
	{ "enabled", "boolean", "whether results are reviewed" },
	{ "skip_reason", "string|null", "why they are not" },
	{ "skip_kind", "SkipKind|null", "kind of that reason, for programs" },
	{ "profile", "string", "as chosen" },
	{ "base_profile", "string", "the built-in profile that it is or extends" },
	{ "reviewers", "[string]", "agents of a panel, which review each work together; empty: one reviewer" },
	{ "quorum", "string|null", "how many of them must pass: all, majority, or a number; null: no panel" },
	{ "escalate", "[string]", "models of the implementer and then of each fixer; empty: their own" },
	{ "max_fixes", "integer", "fix rounds allowed" },
	{ "stall_limit", "integer", "stalled rounds allowed; 0: any number" },
	{ "fixer", "Fixer", "what fixes findings" },
	{ "scope", "Scope", "each task, or the run as a whole" },
	{ "commit", "CommitMode", "what commits the result" },
	{ "on_exhausted", "BadEnd", "what follows when the fixes are used up" },
	{ "checks", "integer", "number of checks before each review" },
	END
};

static const struct result_field checked_fields[] = {
	{ "id", "null", "nothing was changed" },
	{ "state", "'checked'", "the call is valid" },
	END
};

/* ---- attempts ---- */

static const struct result_field attempt_fields[] = {
	RESULT_ROW("attempt"),
	{ "fault", "Fault|null", "which of process, provider and outcome kept it from succeeding" },
	{ "tokens", "Tokens", "as the agent reports them" },
	END
};

static const struct result_field tokens_fields[] = {
	{ "input", "integer|null", "sent, without those read from a cache" },
	{ "cached", "integer|null", "read from a cache" },
	{ "cache_write", "integer|null", "written to a cache" },
	{ "output", "integer|null", "received" },
	{ "reasoning", "integer|null", "those of the output that were reasoning" },
	END
};

static const struct result_field left_out_fields[] = {
	{ "file", "string", "path in the tree" },
	{ "why", "'size'|'binary'|'large'", "size: the diff is too long; large: the file is" },
	{ "bytes", "integer", "size of its diff" },
	END
};

/* ---- reviews, holds, evidence ---- */

static const struct result_field review_fields[] = {
	RESULT_ROW("review"),
	{ "findings", "[Finding]", "what it found, and what it resolved" },
	{ "final", "boolean", "true: no further review of the task follows" },
	END
};
static const struct result_field finding_fields[] = {
	RESULT_ROW("finding"),
	{ "dismissed", "Dismissal|null", "the decision of a user that it need not be fixed; null: there is none" },
	{ "disputed", "Dispute|null", "the newest dispute by a fixer; null: there is none" },
	END
};
static const struct result_field open_finding_fields[] = {
	RESULT_TYPE("Finding"),
	{ "task", "string", "id of its task" },
	END
};
static const struct result_field dismissal_fields[] = {
	{ "task", "string", "id of the task" },
	{ "finding", "string", "id of the finding" },
	{ "text", "string", "the finding with its place, shortened" },
	{ "by", "string", "human:<user>" },
	{ "by_uid", "integer", "uid of the process that asked for it" },
	{ "by_pid", "integer", "pid of that process" },
	{ "reason", "string", "why" },
	{ "at", "time", "when" },
	{ "run", "integer", "run in which the finding was dismissed: this one, or one that it retries" },
	{ "review", "integer", "number of the newest review of that run then; 0: none" },
	END
};
static const struct result_field dispute_fields[] = {
	{ "task", "string", "id of the task" },
	{ "finding", "string", "id of the finding" },
	{ "text", "string", "the finding with its place, shortened" },
	{ "by", "string", "name of the agent" },
	{ "reason", "string", "why the finding is mistaken" },
	{ "at", "time", "when" },
	{ "answer", "string|null", "what the next verdict made of it: repeated or dropped; null: there is none yet" },
	{ "run", "integer", "run in which it was disputed: this one, or one whose work it continues" },
	{ "attempt", "integer", "id of the fix attempt" },
	END
};
static const struct result_field hold_summary_fields[] = { RESULT_ROW("hold"), END };
static const struct result_field hold_fields[] = {
	RESULT_TYPE("HoldSummary"),
	{ "reviews", "[Review]", "all reviews of the task" },
	END
};
#define ATTEMPT_NUMBER { "attempt_number", "integer|null", "number of that attempt within the run" }
static const struct result_field product_fields[] = { RESULT_ROW("product"), ATTEMPT_NUMBER, END };
static const struct result_field evidence_fields[] = { RESULT_ROW("evidence"), ATTEMPT_NUMBER, END };
static const struct result_field salvage_fields[] = { RESULT_ROW("salvage"), END };

static const struct result_field log_round_fields[] = {
	{ "iteration", "integer", "round" },
	{ "decision", "string", "in the words of the profile" },
	{ "feedback", "string", "of the reviewer" },
	{ "timestamp", "string", "time, in whole seconds" },
	END
};
static const struct result_field review_log_fields[] = {
	{ "task_id", "string", "id of the task" },
	{ "overlay", "'agentic_review'", "always" },
	{ "iterations", "[LogRound]", "its reviews" },
	{ "final_decision", "string|null", "null: its reviews are not complete" },
	{ "completed_at", "string|null", "time of the last one, in whole seconds; null: likewise" },
	END
};

static const struct result_field review_proof_fields[] = {
	{ "number", "integer", "of the review" },
	{ "task_id", "string", "id of the task" },
	{ "iteration", "integer", "round" },
	{ "tree", "string|null", "git tree under review" },
	{ "previous_hash", "string|null", "hash of the review before it" },
	{ "hash", "string", "of the review" },
	{ "prompt_hash", "string|null", "SHA-256 of the prompt that the reviewer was given" },
	{ "diff_hash", "string|null", "SHA-256 of the diff that it was given" },
	{ "output_hash", "string|null", "SHA-256 of its standard output" },
	{ "program", "string|null", "path of its program" },
	{ "program_hash", "string|null", "SHA-256 of that file" },
	{ "program_version", "string|null", "version that its output names" },
	{ "answered_by", "string|null", "model that its output names" },
	END
};

/* ---- attestations ---- */

static const struct result_field git_digest_fields[] = { { "gitCommit", "string", "id of the commit" }, END };
static const struct result_field subject_fields[] = {
	{ "name", "'commit'", "always" },
	{ "digest", "GitDigest", "which one" },
	END
};
static const struct result_field attested_entry_fields[] = {
	{ "entry", "integer", "number of the newest entry" },
	{ "hash", "string", "its hash, which covers all of the record" },
	END
};
static const struct result_field chain_heads_fields[] = {
	{ "reviews", "string|null", "hash of the newest review" },
	{ "products", "string|null", "hash of the newest product" },
	{ "evidence", "string|null", "hash of the newest row of evidence" },
	END
};
static const struct result_field predicate_fields[] = {
	{ "instance", "string", "of the daemon, as in daemon.hello" },
	{ "run", "integer", "id of the run" },
	{ "task", "string|null", "id of the task; null: of the run" },
	{ "tree", "string", "git tree that passed" },
	{ "products", "[Product]", "that tree and what it was made of, newest first" },
	{ "evidence", "[Evidence]", "all that judged that tree, in order" },
	{ "policy_hash", "string|null", "SHA-256 of the settings that it was judged by last" },
	{ "daemon", "string", "version of rld" },
	{ "submitter", "integer", "uid that submitted the run" },
	{ "ended_at", "time|null", "when the run ended" },
	{ "record", "AttestedEntry", "where the record of the run ended" },
	{ "heads", "ChainHeads", "the other hash chains of the run" },
	END
};
static const struct result_field statement_fields[] = {
	{ "_type", "'https://in-toto.io/Statement/v1'", "always" },
	{ "subject", "[AttestedSubject]", "one: the commit" },
	{ "predicateType", "'urn:rld:pass:v1'", "always" },
	{ "predicate", "PassPredicate", "what passed, and what judged it" },
	END
};
static const struct result_field not_attested_fields[] = {
	{ "commit", "string", "id of the commit" },
	{ "reason", "string", "why there is no statement about it" },
	END
};

/* ---- reports ---- */

static const struct result_field report_settings_fields[] = {
	{ "agents", "{AgentChoice}", "the agent of each role" },
	{ "review", "boolean", "whether results are reviewed" },
	{ "skip_reason", "string|null", "why they are not" },
	{ "skip_kind", "SkipKind|null", "kind of that reason, for programs" },
	{ "profile", "string", "as chosen" },
	{ "base_profile", "string", "the built-in profile that it is or extends" },
	{ "max_fixes", "integer", "fix rounds allowed" },
	{ "max_review_rounds", "integer", "reviews allowed" },
	{ "stall_limit", "integer", "stalled rounds allowed; 0: any number" },
	{ "on_malformed", "OnMalformed", "what follows a malformed verdict" },
	{ "on_reviewer_error", "BadEnd", "what follows a failed reviewer" },
	{ "on_exhausted", "BadEnd", "what follows when the fixes are used up" },
	{ "fixer", "Fixer", "what fixes findings" },
	{ "scope", "Scope", "each task, or the run as a whole" },
	{ "commit", "CommitMode", "what commits the result" },
	{ "checks", "[string]", "commands, in order, before each review" },
	{ "timeout_ms", "integer", "of an implementer" },
	{ "review_timeout_ms", "integer", "of a reviewer" },
	{ "clocks", "{Clocks}", "limits of each role" },
	END
};
static const struct result_field clocks_fields[] = {
	{ "wall_ms", "integer", "for the attempt; 0: none" },
	{ "idle_ms", "integer", "without progress; 0: none" },
	{ "post_result_ms", "integer", "between its result and its end; 0: none" },
	END
};
static const struct result_field report_result_fields[] = {
	{ "outcome", "string|null", "class of the end; null: it has not ended" },
	{ "exit_code", "integer|null", "of `rlctl run`; null: likewise" },
	{ "answer", "string|null", "the accepted answer, or its end" },
	{ "attempt", "integer|null", "id of the attempt that gave it" },
	{ "ref", "string|null", "git ref of what passed" },
	{ "tree", "string|null", "that git tree" },
	{ "commit", "string|null", "git commit of the result" },
	END
};
static const struct result_field stats_fields[] = {
	{ "review_rounds", "integer", "number of reviews" },
	{ "fix_rounds", "integer", "of all tasks" },
	{ "checks", "integer", "number of checks that were run" },
	{ "turns", "integer", "number of attempts" },
	{ "attempts", "integer", "likewise" },
	{ "wall_ms", "integer|null", "from the start to the end" },
	{ "tokens", "Tokens", "of all attempts" },
	{ "cost_usd", "number|null", "null: no agent reported any" },
	{ "unpriced_attempts", "integer", "number of ended attempts without a cost" },
	{ "faults", "{integer}", "number of attempts without success, by the result that says so" },
	{ "denials", "integer|null", "tool calls denied for lack of permission" },
	{ "tool_errors", "integer|null", "tool calls that failed otherwise" },
	END
};
static const struct result_field turn_fields[] = {
	{ "turn", "integer", "from 1, over all rounds" },
	{ "type", "Role", "role of the attempt" },
	{ "attempt", "integer", "its id" },
	{ "number", "integer", "its number within the run" },
	{ "slot", "integer|null", "number of its slot" },
	{ "task", "string|null", "id of its task" },
	{ "round", "integer|null", "of reviews or of fixes" },
	{ "agent", "string|null", "name of the agent" },
	{ "model", "string|null", "null: the agent's own default" },
	{ "state", "AttemptState", "of the attempt" },
	{ "exit_code", "integer|null", "exit status, if it exited" },
	{ "signal", "integer|null", "signal, if it was killed by one" },
	{ "cause", "string|null", "why it ended" },
	{ "end_kind", "EndKind|null", "kind of the cause, for programs" },
	{ "started_at", "time|null", "time of the start" },
	{ "ended_at", "time|null", "time of the end" },
	{ "tokens", "Tokens", "as the agent reports them" },
	{ "cost_usd", "number|null", "as the agent reports" },
	{ "process", "ProcessResult|null", "outcome of the process" },
	{ "provider", "ProviderResult|null", "report of the provider" },
	{ "outcome", "TaskResult|null", "outcome of the task" },
	{ "fault", "Fault|null", "which of these three kept it from succeeding" },
	{ "account", "string|null", "account billed" },
	{ "resumes", "integer|null", "id of the attempt whose conversation it resumes" },
	{ "denials", "integer|null", "tool calls denied for lack of permission" },
	{ "tool_errors", "integer|null", "tool calls that failed otherwise" },
	{ "decision", "string?", "of a review" },
	{ "feedback", "string|null?", "of a review" },
	{ "findings", "[string]?", "ids of what a review wants fixed" },
	END
};
static const struct result_field reused_check_fields[] = {
	{ "task", "string|null", "id of the task" },
	{ "command", "string", "of the check" },
	{ "tree", "string|null", "git tree" },
	{ "from_run", "integer", "run of the attempt that says what it comes to" },
	{ "from_attempt", "integer", "its number within that run" },
	END
};

/* ---- the daemon ---- */

static const struct result_field account_fields[] = {
	{ "account", "string", "its name" },
	{ "agents", "[string]", "agents that use the account" },
	{ "in_force", "boolean", "true: exhausted; the account's agents are not started" },
	{ "kind", "CooldownKind|null", "what exhausted it" },
	{ "until", "time|null", "end of the cooldown" },
	{ "reason", "string|null", "message of the service or of the user" },
	{ "attempt", "integer|null", "attempt that reported it" },
	{ "set_by", "string|null", "human:<user>" },
	{ "created_at", "time|null", "since when" },
	{ "waiting", "integer", "number of slots waiting for it" },
	{ "spent", "Spent", "on this day" },
	{ "reserved", "Reserved", "by attempts that have not ended" },
	{ "limits", "AccountLimits", "of rld.toml" },
	END
};
static const struct result_field cooldown_fields[] = {
	{ "account", "string", "its name" },
	{ "kind", "CooldownKind", "what exhausted it" },
	{ "until", "time", "end of the cooldown" },
	{ "reason", "string|null", "message of the service or of the user" },
	{ "attempt", "integer|null", "attempt that reported it" },
	{ "set_by", "string|null", "human:<user>" },
	{ "created_at", "time", "since when" },
	{ "in_force", "boolean", "true" },
	END
};
static const struct result_field spent_fields[] = {
	{ "day", "string|null", "the day, in the daemon's time zone; null: nothing was spent" },
	{ "attempts", "integer", "number of attempts" },
	{ "cost_usd", "number", "as reported" },
	{ "tokens", "integer", "as reported" },
	{ "wall_ms", "integer", "of all attempts together" },
	END
};
static const struct result_field reserved_fields[] = {
	{ "cost_usd", "number", "expected cost" },
	{ "tokens", "integer", "expected tokens" },
	END
};
static const struct result_field account_limits_fields[] = {
	{ "cooldown_max_ms", "integer", "longest cooldown" },
	{ "budget_day_usd", "number|null", "null: no limit" },
	{ "budget_day_tokens", "integer|null", "null: no limit" },
	{ "budget_day_wall_ms", "integer|null", "null: no limit" },
	END
};

static const struct result_field group_fields[] = {
	{ "name", "string", "name of the group" },
	{ "slots", "integer|null", "slots of the daemon that its runs may use together; null: any number" },
	{ "live", "boolean", "true: slots was set here, not in rld.toml" },
	{ "used", "integer", "slots of the daemon in use by its runs" },
	{ "queued", "integer", "number of its queued runs" },
	{ "paused", "boolean", "true: its runs start nothing" },
	END
};

static const struct result_field run_counts_fields[] = {
	{ "queued", "integer", "runs" },
	{ "running", "integer", "runs" },
	{ "paused", "integer", "runs" },
	{ "held", "integer", "runs" },
	END
};
static const struct result_field event_range_fields[] = {
	{ "first", "integer", "number of the oldest event that is kept" },
	{ "last", "integer", "number of the newest event" },
	END
};
static const struct result_field setting_fields[] = {
	{ "path", "string", "its name" },
	{ "value", "string|number|boolean|array|object|null", "in force; null: unset" },
	{ "from", "string", "what set it" },
	{ "help", "string|null", "what it does" },
	END
};
static const struct result_field doctor_check_fields[] = {
	{ "name", "string", "what was checked; a name can occur more than once" },
	{ "state", "DoctorState", "the result" },
	{ "text", "string", "what was found" },
	{ "remedy", "string|null", "null: there is nothing to do" },
	END
};
static const struct result_field doctor_agent_fields[] = {
	{ "name", "string", "name of the agent" },
	{ "program", "string|null", "first word of its command" },
	{ "preset", "string|null", "the preset that it is" },
	{ "account", "string|null", "account that it uses" },
	{ "reader", "string|null", "how its output is read" },
	{ "env", "[string]", "variables that it takes from a submitter" },
	{ "set", "[string]", "variables that rld.toml sets" },
	{ "used_by", "[string]", "roles that use it by default" },
	{ "measured", "string|null", "version that the preset was measured with" },
	{ "node", "string|null", "version of Node.js that it needs" },
	{ "login", "[string]|null", "arguments of the program that tell whether it is logged in" },
	{ "login_help", "string|null", "how to log in" },
	{ "package", "string|null", "package that npm installs it from" },
	{ "caveat", "string|null", "why it cannot work as this user" },
	END
};

const struct result_type result_types[] = {
	{ "Run", "a run", run_fields },
	{ "RunSummary", "a run without its slots, tasks and settings", run_summary_fields },
	{ "Overview", "a run in a few numbers", overview_fields },
	{ "Slot", "a slot of the iteration; slot 0 reviews the run as a whole, 65535 checks its base", slot_fields },
	{ "Task", "a task of a run", task_fields },
	{ "Iteration", "one pass of the outer loop", iteration_fields },
	{ "Totals", "use of all attempts of a run", totals_fields },
	{ "CheckCounts", "results of the checks of a run", check_counts_fields },
	{ "Budget", "limits of a run, and their use", budget_fields },
	{ "RunResult", "what a run came to", run_result_fields },
	{ "AgentChoice", "an agent and its model", agent_choice_fields },
	{ "ReviewSettings", "settings of the reviews of a run", review_settings_fields },
	{ "Checked", "the answer to a call with \"check\": true", checked_fields },
	{ "Attempt", "one process of an agent, a check or a set-up command", attempt_fields },
	{ "TranscriptItem", "a part of the conversation of an attempt", transcript_item_fields },
	{ "Tokens", "tokens of one or more attempts; null: not reported", tokens_fields },
	{ "LeftOut", "a changed file that a reviewer's prompt does not show in full", left_out_fields },
	{ "Review", "a row of the review log", review_fields },
	{ "Finding", "one item of a review", finding_fields },
	{ "OpenFinding", "a finding that must be fixed", open_finding_fields },
	{ "Dispute", "what a fixer says against a finding", dispute_fields },
	{ "Dismissal", "the decision of a user that a finding need not be fixed", dismissal_fields },
	{ "Hold", "a question to a human, with the reviews of its task", hold_fields },
	{ "HoldSummary", "a question to a human", hold_summary_fields },
	{ "Product", "a tree of the run", product_fields },
	{ "Evidence", "one judgement about a product", evidence_fields },
	{ "Salvage", "the saved content of a work tree", salvage_fields },
	{ "ReviewLog", "the review log of a task, in the form of the decision profile", review_log_fields },
	{ "LogRound", "one review of that log", log_round_fields },
	{ "ReviewProof", "the tree and the hashes of a review", review_proof_fields },
	{ "Statement", "an in-toto statement about a commit that passed", statement_fields },
	{ "AttestedSubject", "what a statement is about", subject_fields },
	{ "GitDigest", "the id of a commit", git_digest_fields },
	{ "PassPredicate", "what passed, and what judged it", predicate_fields },
	{ "AttestedEntry", "an entry of the record", attested_entry_fields },
	{ "ChainHeads", "the newest hashes of the chains of a run", chain_heads_fields },
	{ "NotAttested", "a commit without a statement", not_attested_fields },
	{ "ReportSettings", "settings of a run", report_settings_fields },
	{ "Clocks", "limits of an attempt", clocks_fields },
	{ "ReportResult", "what a run came to", report_result_fields },
	{ "Stats", "what a run took", stats_fields },
	{ "Turn", "an attempt in the timeline of a report", turn_fields },
	{ "ReusedCheck", "a check that was not run, because its result was known", reused_check_fields },
	{ "Account", "an account of a service", account_fields },
	{ "Cooldown", "an exhausted account", cooldown_fields },
	{ "Spent", "what an account has spent", spent_fields },
	{ "Reserved", "what is reserved of an account", reserved_fields },
	{ "AccountLimits", "limits of an account", account_limits_fields },
	{ "Group", "a group of runs", group_fields },
	{ "Metric", "a number that a monitoring system reads", metric_fields },
	{ "Sample", "a value of a metric", sample_fields },
	{ "RunCounts", "number of unfinished runs by state", run_counts_fields },
	{ "Pruned", "what prune has removed of a run", pruned_fields },
	{ "PrunedRun", "a run that goes", pruned_run_fields },
	{ "KeptRun", "a run that stays, though it is beyond a limit", kept_run_fields },
	{ "KeptTotal", "what is kept of ended runs", kept_total_fields },
	{ "EventRange", "events that are kept", event_range_fields },
	{ "Setting", "a setting in force", setting_fields },
	{ "DoctorCheck", "the result of one check of the host", doctor_check_fields },
	{ "DoctorAgent", "what a submitter has to check of an agent", doctor_agent_fields },
	{ NULL, NULL, NULL },
};
