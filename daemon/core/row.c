/* SPDX-License-Identifier: MIT */
#include "core/row.h"

#include <stddef.h>

/* Offset of a member; does not compile if its type does not match the field kind. */
#define OFFSET(row, member, type)	\
	(offsetof(struct row, member) + \
	    0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((struct row *)0)->member), type) ? 1 : -1]))

/* After the member: how clients see it, see struct field. */
#define INT(row, m, ...)	{ .name = #m, .kind = FIELD_INT, .offset = OFFSET(row, m, int64_t), __VA_ARGS__ }
#define TIME(row, m, ...)	{ .name = #m, .kind = FIELD_TIME, .offset = OFFSET(row, m, int64_t), __VA_ARGS__ }
#define REAL(row, m, ...)	{ .name = #m, .kind = FIELD_REAL, .offset = OFFSET(row, m, double), __VA_ARGS__ }
#define TEXT(row, m, ...)	{ .name = #m, .kind = FIELD_TEXT, .offset = OFFSET(row, m, char *), __VA_ARGS__ }
#define JSON(row, m, ...)	{ .name = #m, .kind = FIELD_JSON, .offset = OFFSET(row, m, char *), __VA_ARGS__ }
#define STATE(row, m, list, ...)	\
	{ .name = #m, .kind = FIELD_STATE, .offset = OFFSET(row, m, int), .names = &list, __VA_ARGS__ }

static const struct field run_fields[] = {
	INT(run_row, id, .help = "of the run"),
	INT(run_row, owner, .help = "uid that submitted it"),
	TEXT(run_row, key, .hidden = true),
	TEXT(run_row, body_hash, .hidden = true),
	TEXT(run_row, workdir, .help = "as submitted"),
	TEXT(run_row, workspace,
	    .help = "what the run occupies: the top of the repository, else the workdir"),
	INT(run_row, has_git, .help = "1: the workspace is a git repository"),
	TEXT(run_row, subdir, .hidden = true),
	TEXT(run_row, source, .help = "where its tasks come from"),
	TEXT(run_row, source_path, .null = true,
	    .help = "the directory that holds .beads, or the file of the tasks"),
	TEXT(run_row, project, .null = true,
	    .help = "name of the project, if the source has one"),
	TEXT(run_row, feature, .hidden = true),
	STATE(run_row, state, run_state_names,
	    .help = "queued, running, paused, held, succeeded, failed or cancelled"),
	TEXT(run_row, reason, .null = true, .help = "why the run waits"),
	STATE(run_row, wait_kind, wait_kind_names, .null = true, .help =
	    "kind of the reason, for programs"),
	TEXT(run_row, cause, .null = true, .help = "why the run ended"),
	STATE(run_row, end_kind, end_kind_names, .null = true, .help =
	    "kind of the cause, for programs"),
	INT(run_row, priority, .help = "higher starts first"),
	TEXT(run_row, group, .help = "group whose slots the run uses"),
	INT(run_row, after_run, .shown = "after", .null = true, .help =
	    "run that this run waits for"),
	INT(run_row, paused, .flag = true, .help =
	    "true: paused by a user; the run starts nothing"),
	TIME(run_row, next_at, .null = true,
	    .help = "time of the next try, while it waits for one"),
	STATE(run_row, wait, wait_kind_names, .null = true,
	    .help = "external cause of the wait: host or source"),
	TEXT(run_row, wait_reason),
	TIME(run_row, wait_since, .null = true, .help = "since when"),
	TIME(run_row, wait_until),
	INT(run_row, iteration, .help = "iteration, 0 before the first"),
	INT(run_row, iterations, .null = true, .help =
	    "maximum number of iterations; null: until no task remains"),
	JSON(run_row, plan, .hidden = true),
	TEXT(run_row, environment, .hidden = true),
	TEXT(run_row, base_tree, .null = true, .help = "git tree at the start"),
	TEXT(run_row, base_commit, .null = true, .help = "commit that work trees start from"),
	TEXT(run_row, result_branch, .null = true,
	    .help = "branch with the commits of all tasks"),
	INT(run_row, stopped, .hidden = true),
	TEXT(run_row, result_ref, .null = true, .help = "git ref of the tree that passed"),
	TEXT(run_row, result_tree, .hidden = true),
	TEXT(run_row, result_commit, .null = true, .help = "git commit of the result"),
	INT(run_row, result_attempt, .hidden = true),
	INT(run_row, review_count, .help = "length of the review log"),
	TEXT(run_row, review_head, .null = true, .help = "hash of its newest row"),
	INT(run_row, product_count, .null = true, .help = "number of its products"),
	TEXT(run_row, product_head, .null = true, .help = "hash of the newest product"),
	INT(run_row, evidence_count, .null = true, .help = "length of its evidence"),
	TEXT(run_row, evidence_head, .null = true, .help = "hash of the newest evidence"),
	INT(run_row, entry_count, .null = true, .help = "number of entries of its record"),
	TEXT(run_row, entry_head, .null = true, .help = "hash of the newest entry"),
	JSON(run_row, warnings, .json = "[string]", .help = "sentences"),
	INT(run_row, warned, .hidden = true),
	JSON(run_row, known_issues, .json = "[string]", .help =
	    "findings left open when the run succeeded under on_exhausted = known_issues"),
	JSON(run_row, others, .hidden = true),
	TEXT(run_row, instance, .hidden = true),
	TEXT(run_row, head, .hidden = true),
	TEXT(run_row, head_at, .hidden = true),
	TEXT(run_row, evidence, .hidden = true),
	INT(run_row, settings_kept, .hidden = true),
	INT(run_row, retry_of, .null = true, .help = "run that this run retries"),
	TIME(run_row, created_at, .help = "time of the submit"),
	TIME(run_row, started_at, .null = true, .help = "time of the start"),
	TIME(run_row, ended_at, .null = true, .help = "time of the end"),
};

static const struct field task_fields[] = {
	INT(task_row, run, .help = "its run"),
	TEXT(task_row, id, .help = "of the task, as its source has it; t1 for a prompt"),
	TEXT(task_row, title, .help = "first line"),
	TEXT(task_row, text, .hidden = true),
	INT(task_row, size, .help = "bytes of its text"),
	INT(task_row, position, .help = "place in the order in which tasks are offered, from 1"),
	INT(task_row, priority, .null = true, .help = "in the numbers of its source, 0 first"),
	TEXT(task_row, status, .null = true, .help = "its source's own word"),
	TEXT(task_row, acceptance, .hidden = true),
	JSON(task_row, depends_on, .json = "[string]", .null = true, .help = "ids of the tasks that it waits for"),
	JSON(task_row, plan, .hidden = true),
	STATE(task_row, state, task_state_names,
	    .help = "open, claimed, passed, failed, cancelled, done, taken, released or implemented"),
	TEXT(task_row, reason, .null = true,
	    .help = "why it ended so, waits or is not for this run"),
	STATE(task_row, end_kind, end_kind_names, .null = true,
	    .help = "the kind of reason of one that has ended or is not for this run, for programs"),
	INT(task_row, disk_bytes, .null = true,
	    .help = "of its work tree, when it was last looked at"),
	TEXT(task_row, locked_ref, .null = true,
	    .help = "git ref of the tree that a verdict passed"),
	TEXT(task_row, locked_tree, .null = true, .help = "that tree"),
};

static const struct field judge_fields[] = {
	INT(judge_row, run),
	TEXT(judge_row, profile),
	TEXT(judge_row, reviewer),
	TEXT(judge_row, guidelines),
	TEXT(judge_row, conventions),
	JSON(judge_row, files),
	INT(judge_row, kept_from),
};

static const struct field iteration_fields[] = {
	INT(iteration_row, run, .help = "its run"),
	INT(iteration_row, number, .help = "pass of the outer loop, from 1"),
	STATE(iteration_row, state, iteration_state_names,
	    .help = "running, passed, failed or cancelled"),
	TIME(iteration_row, started_at, .help = "time of the start"),
	TIME(iteration_row, ended_at, .null = true, .help = "time of the end"),
};

static const struct field slot_fields[] = {
	INT(slot_row, run, .help = "its run"),
	INT(slot_row, iteration, .help = "iteration"),
	INT(slot_row, slot, .help = "number of the slot; 0 reviews the whole run"),
	STATE(slot_row, stage, slot_stage_names, .hidden = true),
	STATE(slot_row, leaving, slot_leaving_names, .hidden = true),
	TEXT(slot_row, task, .null = true,
	    .help = "id of its task; null: none yet, or none at all"),
	TEXT(slot_row, worktree, .null = true, .help = "path of its work tree"),
	TEXT(slot_row, branch, .null = true, .help = "short name of the work tree's branch"),
	TEXT(slot_row, base_commit, .null = true, .help = "commit that the work tree starts from"),
	TEXT(slot_row, base_tree, .hidden = true),
	TEXT(slot_row, head, .hidden = true),
	TEXT(slot_row, head_at, .hidden = true),
	TEXT(slot_row, commit_id, .shown = "commit", .null = true,
	    .help = "git commit of its work"),
	TEXT(slot_row, obstacle, .hidden = true),
	INT(slot_row, hook_changes, .hidden = true),
	INT(slot_row, round, .help = "reviews so far"),
	INT(slot_row, fix, .help = "fix rounds so far"),
	INT(slot_row, fixes, .help = "fix rounds allowed"),
	INT(slot_row, stalled, .help = "fixes in a row without progress"),
	TEXT(slot_row, rounds, .hidden = true),
	INT(slot_row, attempt, .null = true, .help = "id of the attempt that its phase belongs to"),
	INT(slot_row, answer, .null = true,
	    .help = "id of the attempt whose answer is under review"),
	TEXT(slot_row, answer_hash, .hidden = true),
	TEXT(slot_row, tree, .null = true, .help = "git tree under review"),
	INT(slot_row, product, .null = true, .help = "number of its newest product"),
	TEXT(slot_row, beside, .hidden = true),
	TEXT(slot_row, previous_tree, .hidden = true),
	TEXT(slot_row, previous_answer_hash, .hidden = true),
	INT(slot_row, diff, .null = true,
	    .help = "id of the step whose output is the diff of that tree"),
	INT(slot_row, check, .null = true, .help = "number of the check that runs"),
	INT(slot_row, red_check, .null = true,
	    .help = "id of the failed attempt of a check that is run once more"),
	INT(slot_row, setup, .help = "number of the set-up command that runs; 0: none"),
	INT(slot_row, prepares, .hidden = true),
	TEXT(slot_row, copied_hash, .hidden = true),
	INT(slot_row, setup_lost, .hidden = true),
	INT(slot_row, base, .hidden = true),
	TEXT(slot_row, remedy, .hidden = true),
	INT(slot_row, failed_check, .null = true,
	    .help = "id of the attempt whose output a fixer is given"),
	INT(slot_row, item, .null = true,
	    .help = "number of the finding that has a fixer of its own"),
	TEXT(slot_row, message, .hidden = true),
	INT(slot_row, interrupted, .hidden = true),
	INT(slot_row, retries, .help = "tries in a row after failures of the service"),
	TIME(slot_row, retry_at, .null = true, .help = "time of the next one"),
	TEXT(slot_row, cooling, .null = true, .help = "account that it waits for"),
	STATE(slot_row, wait, wait_kind_names, .null = true,
	    .help = "external cause of the wait: host or source"),
	TEXT(slot_row, wait_reason),
	TIME(slot_row, wait_since, .null = true, .help = "since when"),
	TIME(slot_row, wait_until),
	TEXT(slot_row, reason, .null = true,
	    .help = "why it waits, was not reviewed, or gave its task back"),
	STATE(slot_row, wait_kind, wait_kind_names, .null = true,
	    .help = "kind of the reason, for programs"),
	TEXT(slot_row, cause, .null = true,
	    .help = "why it ended, or before that why its work is accepted"),
	STATE(slot_row, end_kind, end_kind_names, .null = true,
	    .help = "kind of the cause, for programs"),
	STATE(slot_row, accepted, accepted_names, .null = true,
	    .help = "who accepted it without a passing verdict: policy, human or known-issues"),
};

static const struct field attempt_fields[] = {
	INT(attempt_row, id, .help = "of the attempt"),
	INT(attempt_row, run, .help = "its run"),
	INT(attempt_row, number, .help = "number within the run: the 3 of 42/3"),
	INT(attempt_row, iteration, .help = "iteration"),
	INT(attempt_row, slot, .help = "number of the slot"),
	TEXT(attempt_row, task, .null = true, .help = "id of the task"),
	STATE(attempt_row, role, role_names, .help = "implement, check, review or fix"),
	INT(attempt_row, round, .help = "review or fix round; 0 for implement"),
	TEXT(attempt_row, agent, .help = "name of the agent"),
	TEXT(attempt_row, model, .null = true, .help = "null: the agent's own default"),
	TEXT(attempt_row, uuid, .help = "environment mark of all processes of the attempt"),
	TEXT(attempt_row, boot_id, .hidden = true),
	STATE(attempt_row, state, attempt_state_names, .help = "starting, running, exited or lost"),
	INT(attempt_row, exit_code, .null = true, .help = "exit status, if it exited"),
	INT(attempt_row, signal, .null = true, .help = "signal, if it was killed by one"),
	TEXT(attempt_row, cause, .null = true, .help = "why it ended"),
	STATE(attempt_row, end_kind, end_kind_names, .null = true, .help =
	    "kind of the cause, for programs"),
	STATE(attempt_row, process, process_result_names, .null = true,
	    .help = "outcome of the process"),
	STATE(attempt_row, provider, provider_result_names, .null = true,
	    .help = "report of the provider"),
	STATE(attempt_row, outcome, task_result_names, .null = true,
	    .help = "outcome of the task"),
	INT(attempt_row, tokens_input, .hidden = true),
	INT(attempt_row, tokens_cached, .hidden = true),
	INT(attempt_row, tokens_cache_write, .hidden = true),
	INT(attempt_row, tokens_output, .hidden = true),
	INT(attempt_row, tokens_reasoning, .hidden = true),
	REAL(attempt_row, cost_usd, .null = true, .help = "as reported by the agent"),
	TEXT(attempt_row, account, .null = true, .help = "account billed; null for checks"),
	REAL(attempt_row, reserved_usd, .null = true,
	    .help = "cost reserved for it until it ends"),
	INT(attempt_row, reserved_tokens, .null = true, .help = "tokens reserved for it until it ends"),
	INT(attempt_row, resumes, .null = true,
	    .help = "id of the attempt whose conversation it resumes"),
	INT(attempt_row, denials, .null = true,
	    .help = "tool calls denied for lack of permission"),
	INT(attempt_row, tool_errors, .null = true, .help = "tool calls that failed otherwise"),
	INT(attempt_row, says_no_change, .flag = true, .help =
	    "true: its answer declares that no change is needed"),
	JSON(attempt_row, left_out, .json = "[LeftOut]", .null = true, .help =
	    "changed files that the reviewer's prompt does not show in full, at most 100; null: it "
	    "shows all of the diff"),
	INT(attempt_row, left_out_files, .null = true, .help = "number of such files"),
	INT(attempt_row, diff_bytes, .null = true, .help = "size of the diff, if a part is left out"),
	INT(attempt_row, diff_shown, .null = true, .help = "bytes of it in the prompt"),
	TEXT(attempt_row, sandbox, .null = true,
	    .help = "what confined it: landlock N, or none; null: no confinement requested"),
	TEXT(attempt_row, session, .null = true, .help = "conversation id"),
	TEXT(attempt_row, answer_hash, .hidden = true),
	TEXT(attempt_row, output_hash, .null = true, .help = "SHA-256 of its standard output"),
	TEXT(attempt_row, finding, .hidden = true),
	INT(attempt_row, output_size, .null = true, .help = "bytes of standard output that output_hash is about"),
	TEXT(attempt_row, prompt_hash, .null = true, .help = "SHA-256 of the prompt that it was given"),
	TEXT(attempt_row, diff_hash, .null = true, .help = "SHA-256 of the diff that it was given"),
	TEXT(attempt_row, program, .null = true, .help = "path of its program"),
	TEXT(attempt_row, program_hash, .null = true, .help = "SHA-256 of that file at the start"),
	TEXT(attempt_row, program_version, .null = true, .help = "version that its output names"),
	TEXT(attempt_row, answered_by, .null = true, .help = "model that answered, as its output names it"),
	INT(attempt_row, bytes, .null = true, .help = "stdout and stderr as the agent wrote them"),
	TIME(attempt_row, started_at, .null = true, .help = "time of the start"),
	TIME(attempt_row, ended_at, .null = true, .help = "time of the end"),
};

static const struct field step_fields[] = {
	INT(step_row, id),
	INT(step_row, run),
	INT(step_row, iteration),
	INT(step_row, slot),
	TEXT(step_row, name),
	TEXT(step_row, uuid),
	TEXT(step_row, boot_id, .hidden = true),
	STATE(step_row, state, attempt_state_names),
	INT(step_row, exit_code),
	INT(step_row, signal),
	TEXT(step_row, cause),
	TIME(step_row, started_at),
	TIME(step_row, ended_at),
};

static const struct field review_fields[] = {
	INT(review_row, run, .help = "its run"),
	INT(review_row, number, .help = "number within the run, from 1"),
	TEXT(review_row, task_id, .help = "id of the task"),
	TEXT(review_row, reviewer_agent, .help = "name of the reviewer, or human:<user>"),
	TEXT(review_row, coder_agent, .null = true, .help = "agent whose work was reviewed"),
	INT(review_row, iteration, .help = "round"),
	TEXT(review_row, decision, .help = "in the words of the profile"),
	TEXT(review_row, feedback, .null = true, .help = "what the reviewer said"),
	JSON(review_row, quality_checks, .json = "object|array|string|number|boolean", .null = true,
	    .help = "as the reviewer gave them"),
	TEXT(review_row, source, .null = true, .help = "what gave the decision"),
	INT(review_row, attempt, .null = true, .help = "id of the attempt that reviewed"),
	TEXT(review_row, tree, .null = true, .help = "git tree that was reviewed"),
	JSON(review_row, findings, .json = "[Finding]", .help = "what it found"),
	TIME(review_row, timestamp, .help = "time of the decision"),
	TEXT(review_row, previous_hash, .null = true, .help = "hash of the row before it"),
	TEXT(review_row, hash, .help = "of this row, its findings and previous_hash"),
};

static const struct field finding_fields[] = {
	INT(finding_row, run, .help = "its run"),
	INT(finding_row, review, .help = "number of its review"),
	INT(finding_row, number, .help = "number within the review, from 1"),
	TEXT(finding_row, id, .help = "the same for the same finding in each review of a task"),
	TEXT(finding_row, file, .null = true, .help = "where"),
	INT(finding_row, line, .null = true, .help = "where"),
	TEXT(finding_row, severity, .null = true, .help = "in the words of the profile"),
	TEXT(finding_row, text, .help = "what was found"),
	STATE(finding_row, state, finding_state_names, .help = "new, repeated or resolved"),
};

static const struct field product_fields[] = {
	INT(product_row, run, .help = "its run"),
	INT(product_row, number, .help = "number within the run, from 1"),
	STATE(product_row, kind, product_kind_names, .help = "base, work, merged or result"),
	TEXT(product_row, task_id, .null = true, .help = "id of the task; null: of the run"),
	TEXT(product_row, tree, .help = "git tree"),
	INT(product_row, parent, .null = true, .help = "number of the product that it was made of"),
	INT(product_row, attempt, .null = true, .help = "id of the attempt that made it"),
	TIME(product_row, created_at, .help = "time when it was recorded"),
	TEXT(product_row, previous_hash, .null = true, .help = "hash of the product before it"),
	TEXT(product_row, hash, .help = "of this row and previous_hash"),
};

static const struct field evidence_fields[] = {
	INT(evidence_row, run, .help = "its run"),
	INT(evidence_row, number, .help = "number within the run, from 1"),
	INT(evidence_row, product, .null = true,
	    .help = "number of the product that was judged; null: none, or no git"),
	TEXT(evidence_row, task_id, .null = true, .help = "id of the task"),
	STATE(evidence_row, kind, evidence_kind_names, .help = "check, review or human"),
	TEXT(evidence_row, subject,
	    .help = "command of the check, name of the reviewer, or human:<user>"),
	TEXT(evidence_row, tree, .null = true, .help = "git tree of the product"),
	TEXT(evidence_row, setup_hash, .null = true,
	    .help = "SHA-256 of what prepared the place of a check"),
	TEXT(evidence_row, env_hash, .null = true, .help = "SHA-256 of the environment of a check"),
	INT(evidence_row, attempt, .null = true, .help = "id of the attempt that judged"),
	INT(evidence_row, review, .null = true, .help = "number of its review"),
	INT(evidence_row, exit_code, .null = true, .help = "exit status, if it exited"),
	TEXT(evidence_row, output_hash, .null = true, .help = "SHA-256 of its standard output"),
	STATE(evidence_row, result, evidence_result_names, .help = "green, red, flaky or none"),
	INT(evidence_row, from_run, .null = true,
	    .help = "run of the attempt that was green on this tree before; null: the check was run"),
	INT(evidence_row, from_attempt, .null = true, .help = "its number within that run"),
	TEXT(evidence_row, policy_hash, .null = true, .help = "SHA-256 of the plan it was judged by"),
	INT(evidence_row, submitter, .null = true, .help = "uid that submitted the run"),
	TEXT(evidence_row, daemon, .null = true, .help = "version of rld"),
	INT(evidence_row, by_uid, .null = true, .help = "uid of the process that gave a human's judgement"),
	INT(evidence_row, by_pid, .null = true, .help = "its pid"),
	INT(evidence_row, by_attempt, .null = true, .help =
	    "id of the attempt that it belongs to; null: none"),
	TIME(evidence_row, created_at, .help = "time when it was recorded"),
	TEXT(evidence_row, previous_hash, .null = true, .help = "hash of the evidence before it"),
	TEXT(evidence_row, hash, .help = "of this row and previous_hash"),
};

static const struct field entry_fields[] = {
	INT(entry_row, run, .help = "its run"),
	INT(entry_row, number, .help = "number within the run, from 1"),
	TEXT(entry_row, kind, .help = "table of the row: run, task, attempt or hold"),
	TEXT(entry_row, key, .help = "id of the row"),
	TEXT(entry_row, row_hash, .help = "SHA-256 of the row in its last form"),
	TIME(entry_row, created_at, .help = "time when it was recorded"),
	TEXT(entry_row, previous_hash, .null = true, .help = "hash of the entry before it"),
	TEXT(entry_row, hash, .help = "of this row and previous_hash"),
};

static const struct field hold_fields[] = {
	INT(hold_row, id, .help = "of the hold"),
	INT(hold_row, run, .help = "its run"),
	TEXT(hold_row, task, .help = "what is held"),
	INT(hold_row, iteration, .help = "iteration"),
	INT(hold_row, slot, .help = "number of the slot"),
	STATE(hold_row, kind, hold_kind_names,
	    .help = "lost, exhausted, stalled, violation, reviewer-error, conflict, "
	    "commit-refused or reviewer-changed"),
	TEXT(hold_row, reason, .null = true, .help = "why it is held"),
	INT(hold_row, attempt, .null = true,
	    .help = "the attempt that was lost or failed, else the reviewer's"),
	STATE(hold_row, state, hold_state_names,
	    .help = "open, approved, rejected, rework (decided; its run waits for a slot), reworked or cancelled"),
	TEXT(hold_row, decided_by, .null = true, .help = "human:<user>"),
	INT(hold_row, by_uid, .null = true, .help = "uid of the process that decided"),
	INT(hold_row, by_pid, .null = true, .help = "its pid"),
	INT(hold_row, by_attempt, .null = true, .help =
	    "id of the attempt that it belongs to; null: none"),
	TEXT(hold_row, message, .null = true, .help = "message of the user"),
	TIME(hold_row, created_at, .help = "time when it was opened"),
	TIME(hold_row, decided_at, .null = true, .help = "time of the decision"),
};

static const struct field hook_fields[] = {
	INT(hook_row, id),
	INT(hook_row, run),
	TEXT(hook_row, name),
	JSON(hook_row, command),
	JSON(hook_row, environment),
	TEXT(hook_row, uuid),
	TEXT(hook_row, boot_id),
	STATE(hook_row, state, attempt_state_names),
	INT(hook_row, exit_code),
	INT(hook_row, signal),
	TEXT(hook_row, cause),
	TIME(hook_row, started_at),
	TIME(hook_row, ended_at),
};

static const struct field claim_fields[] = {
	TEXT(claim_row, source),
	TEXT(claim_row, task),
	INT(claim_row, run),
	STATE(claim_row, state, claim_state_names),
	TIME(claim_row, at),
};

static const struct field salvage_fields[] = {
	INT(salvage_row, id, .help = "of the salvage"),
	INT(salvage_row, run, .help = "its run"),
	TEXT(salvage_row, task, .null = true, .help = "slot that owned the work tree"),
	TEXT(salvage_row, workspace, .help = "top of the repository that contains it"),
	TEXT(salvage_row, ref, .help = "git ref, refs/rl/<instance>/salvage/<run>/<task>"),
	TEXT(salvage_row, commit_id, .shown = "commit", .help =
	    "git commit of everything in the work tree"),
	TEXT(salvage_row, path, .null = true, .help = "where the work tree was"),
	TIME(salvage_row, created_at, .help = "time of the removal"),
};

static const struct field group_fields[] = {
	TEXT(group_row, name),
	INT(group_row, slots),
	INT(group_row, paused),
};

static const struct field cooldown_fields[] = {
	TEXT(cooldown_row, account),
	STATE(cooldown_row, kind, cooldown_kind_names),
	TIME(cooldown_row, until),
	TEXT(cooldown_row, reason),
	INT(cooldown_row, attempt),
	TEXT(cooldown_row, set_by),
	TIME(cooldown_row, created_at),
};

static const struct field spend_fields[] = {
	TEXT(spend_row, account),
	INT(spend_row, day),
	INT(spend_row, attempts),
	REAL(spend_row, cost_usd),
	INT(spend_row, tokens),
	INT(spend_row, wall_ms),
};

static const struct field event_fields[] = {
	INT(event_row, seq),
	TIME(event_row, time),
	TEXT(event_row, type),
	INT(event_row, run),
	JSON(event_row, body),
};

static const struct field setting_fields[] = {
	TEXT(setting_row, name),
	TEXT(setting_row, value),
};

#define TYPE(id)	{ #id, sizeof(struct id##_row), id##_fields, sizeof(id##_fields) / sizeof(id##_fields[0]) }

const struct row_type row_types[ROW_KINDS] = {
	[ROW_RUN] = TYPE(run),
	[ROW_TASK] = TYPE(task),
	[ROW_JUDGE] = TYPE(judge),
	[ROW_ITERATION] = TYPE(iteration),
	[ROW_SLOT] = TYPE(slot),
	[ROW_ATTEMPT] = TYPE(attempt),
	[ROW_STEP] = TYPE(step),
	[ROW_REVIEW] = TYPE(review),
	[ROW_FINDING] = TYPE(finding),
	[ROW_PRODUCT] = TYPE(product),
	[ROW_EVIDENCE] = TYPE(evidence),
	[ROW_ENTRY] = TYPE(entry),
	[ROW_HOLD] = TYPE(hold),
	[ROW_HOOK] = TYPE(hook),
	[ROW_CLAIM] = TYPE(claim),
	[ROW_SALVAGE] = TYPE(salvage),
	[ROW_GROUP] = TYPE(group),
	[ROW_COOLDOWN] = TYPE(cooldown),
	[ROW_SPEND] = TYPE(spend),
	[ROW_EVENT] = TYPE(event),
	[ROW_SETTING] = TYPE(setting),
};
