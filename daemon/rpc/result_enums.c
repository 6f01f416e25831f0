/* SPDX-License-Identifier: MIT */
/* The words that members of answers are chosen from. */
#include <stddef.h>

#include "agent/show.h"
#include "core/budget.h"
#include "core/fault.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/retention.h"
#include "core/state.h"
#include "proto/kinds.h"
#include "rpc/doctor.h"
#include "rpc/result.h"
#include "rpc/roles.h"

const struct result_enum result_enums[] = {
	{ "RunState", &run_state_names, "state of a run" },
	{ "TaskState", &task_state_names, "state of a task" },
	{ "IterationState", &iteration_state_names, "state of an iteration" },
	{ "Phase", &slot_phase_names, "what a slot does" },
	{ "Role", &role_names, "what an attempt is for" },
	{ "AttemptState", &attempt_state_names, "state of an attempt; lost: gone, and its exit cannot be known" },
	{ "ProcessResult", &process_result_names, "how a process ended" },
	{ "ProviderResult", &provider_result_names, "how the service answered" },
	{ "TaskResult", &task_result_names, "what an attempt came to" },
	{ "FindingState", &finding_state_names, "a finding beside earlier reviews" },
	{ "ProductKind", &product_kind_names, "what a tree is" },
	{ "EvidenceKind", &evidence_kind_names, "what judged" },
	{ "EvidenceResult", &evidence_result_names, "what a check came to" },
	{ "JudgedIn", &judged_in_names, "where a check or a reviewer judged" },
	{ "BadEnd", &bad_end_names, "what follows a bad end of a review" },
	{ "OnMalformed", &on_malformed_names, "what follows a review that gives no evidence" },
	{ "Fixer", &fixer_names, "what fixes findings" },
	{ "Scope", &scope_names, "what one review is about" },
	{ "CommitMode", &commit_mode_names, "what commits" },
	{ "Assign", &assign_names, "what picks the task of a slot" },
	{ "CooldownKind", &cooldown_kind_names, "what exhausted an account" },
	{ "Accepted", &accepted_names, "who accepted work without a passing verdict" },
	{ "Merge", &slot_merge_names, "how far a merge has come, or what is known of the merged tree" },
	{ "HoldKind", &hold_kind_names, "why something is held" },
	{ "HoldState", &hold_state_names, "what was decided" },
	{ "WaitKind", &wait_kind_names, "why something waits" },
	{ "EndKind", &end_kind_names, "why something ended" },
	{ "SkipKind", &skip_kind_names, "why there is no review" },
	{ "Reader", &reader_names, "format of the output of an agent" },
	{ "TranscriptKind", &show_kind_names, "said: words of the agent; piece: a part of them, continued by the next "
	    "piece; tool: a tool and its main argument, one line; failed: the end of the result of a tool that failed; "
	    "error: of the program or its service; skipped: what is left out" },
	{ "Fault", &fault_names, "which result of an attempt kept it from succeeding" },
	{ "BudgetKind", &budget_kind_names, "what a budget limits" },
	{ "CallerRole", &caller_role_names, "what a user may do, each more than those before it; agent: a process "
	    "of an attempt" },
	{ "RetentionLimit", &retention_limit_names, "limit of [keep]" },
	{ "RetentionNeed", &retention_need_names, "why a run stays" },
	{ "DoctorState", &doctor_state_names, "result of a check of the host" },
	{ NULL, NULL, NULL },
};
