/* SPDX-License-Identifier: MIT */
#include "job/run_report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "core/dismissal.h"
#include "core/dispute.h"
#include "core/fault.h"
#include "core/profile.h"
#include "core/slot.h"
#include "job/run_overview.h"
#include "job/task_list.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "proto/run_class.h"
#include "proto/units.h"

#define REPORT_VERSION 1

/* There will be no more reviews of it. A reviewed id that is not a task is the whole run. */
static bool reviews_are_over(const struct run_rows *rows, const char *id)
{
	const struct task_row *task = run_rows_task(rows, id);

	if (task == NULL || run_state_is_end((enum run_state)rows->run.state))
		return run_state_is_end((enum run_state)rows->run.state);
	return task->state != TASK_S_OPEN && task->state != TASK_S_CLAIMED;
}

static bool is_human(const struct review_row *review)
{
	return review->source != NULL && strcmp(review->source, "human") == 0;
}

static bool is_last(const struct run_rows *rows, size_t at)
{
	for (size_t i = at + 1; i < rows->nreviews; i++) {
		if (strcmp(rows->reviews[i]->task_id, rows->reviews[at]->task_id) == 0)
			return false;
	}
	return true;
}

json_t *dispute_document(const struct run_rows *rows, const char *task, const char *finding)
{
	struct disputes all = disputes_read(rows->run.disputed);
	const struct dispute *d = disputes_find(&all, task, finding);
	json_t *json = d != NULL ? json_incref(json_array_get(all.json, (size_t)(d - all.list))) : json_null();

	disputes_release(&all);
	return json;
}

/* With its dismissal and its newest dispute, if any. */
static json_t *finding_document(const struct run_rows *rows, const char *task, const struct finding_row *finding)
{
	json_t *json = json_row(ROW_FINDING, finding);
	struct dismissals all = dismissals_read(rows->run.dismissed);
	const struct dismissal *d = dismissals_find(&all, task, finding->id);

	json_object_set(json, "dismissed", d != NULL ? json_array_get(all.json, (size_t)(d - all.list)) : json_null());
	dismissals_release(&all);
	json_object_set_new(json, "disputed", dispute_document(rows, task, finding->id));
	return json;
}

json_t *review_document(const struct run_rows *rows, size_t at)
{
	const struct review_row *review = rows->reviews[at];
	json_t *json = json_row(ROW_REVIEW, review), *findings = json_array();
	size_t count;
	const struct finding_row **said = run_rows_findings(rows, review->number, &count);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(findings, finding_document(rows, review->task_id, said[i]));
	json_object_set_new(json, "findings", findings);
	json_object_set_new(json, "final", json_boolean(is_last(rows, at) && review->reviewer == NULL &&
	    reviews_are_over(rows, review->task_id)));
	return json;
}

json_t *hold_document(const struct run_rows *rows, const struct hold_row *hold)
{
	json_t *json = json_row(ROW_HOLD, hold), *reviews = json_array();

	for (size_t i = 0; i < rows->nreviews; i++) {
		if (strcmp(rows->reviews[i]->task_id, hold->task) == 0)
			json_array_append_new(reviews, review_document(rows, i));
	}
	json_object_set_new(json, "reviews", reviews);
	return json;
}

/* ---- the log of requirement 001 ---- */

/* "2026-02-27T11:30:00Z" */
static json_t *whole_seconds(int64_t ms)
{
	char text[40], *dot;

	time_format(ms, text, sizeof(text));
	dot = strchr(text, '.');
	if (dot != NULL)
		strlcpy(dot, "Z", sizeof(text) - (size_t)(dot - text));
	return json_string(text);
}

json_t *review_log_make(const struct run_rows *rows, const char *task)
{
	const struct review_row *last = NULL;
	json_t *iterations = json_array();
	bool over = reviews_are_over(rows, task);

	for (size_t i = 0; i < rows->nreviews; i++) {
		const struct review_row *review = rows->reviews[i];

		/* of a panel its decisions */
		if (strcmp(review->task_id, task) != 0 || review->reviewer != NULL)
			continue;
		last = review;
		json_array_append_new(iterations,
		    json_pack("{s:I,s:o,s:o,s:o}", "iteration", (json_int_t)review->iteration,
		    "decision", json_text(review->decision), "feedback",
		    json_text(review->feedback != NULL ? review->feedback : ""),
		    "timestamp", whole_seconds(review->timestamp)));
	}
	if (last == NULL) {
		json_decref(iterations);
		return NULL;
	}
	return json_pack("{s:o,s:s,s:o,s:o,s:o}", "task_id", json_text(task), "overlay",
	    "agentic_review", "iterations", iterations,
	    "final_decision", over ? json_text(last->decision) : json_null(),
	    "completed_at", over ? whole_seconds(last->timestamp) : json_null());
}

static bool is_plain(const char *text, size_t at)
{
	unsigned char c = (unsigned char)text[at];

	if (c == '.')
		return at > 0 && text[at + 1] != '\0';
	return c < 0x80 && (isalnum(c) || c == '-' || c == '_');
}

char *review_log_name(const char *task)
{
	struct buf b = { 0 };
	char *part, *name;

	for (size_t i = 0; task[i] != '\0'; i++) {
		if (is_plain(task, i))
			buf_add(&b, task + i, 1);
		else
			buf_addf(&b, "%%%02X", (unsigned)(unsigned char)task[i]);
	}
	part = name_fit(buf_take(&b, NULL), task);
	name = xasprintf("%s.json", part);
	free(part);
	return name;
}

/* ---- the report ---- */

struct sum {
	int64_t input, cached, cache_write, output, reasoning;	/* ROW_NONE: nothing was reported */
	double cost;						/* NaN: likewise */
	/* number of ended attempts without a cost */
	int64_t unpriced;
};

static void run_report_add(int64_t *sum, int64_t value)
{
	if (value != ROW_NONE)
		*sum = (*sum == ROW_NONE ? 0 : *sum) + value;
}

static void sum_add(struct sum *sum, const struct attempt_row *a)
{
	run_report_add(&sum->input, a->tokens_input);
	run_report_add(&sum->cached, a->tokens_cached);
	run_report_add(&sum->cache_write, a->tokens_cache_write);
	run_report_add(&sum->output, a->tokens_output);
	run_report_add(&sum->reasoning, a->tokens_reasoning);
	if (!isnan(a->cost_usd))
		sum->cost = (isnan(sum->cost) ? 0 : sum->cost) + a->cost_usd;
	else if (!role_is_command((enum role)a->role) && a->ended_at != ROW_NONE && a->process != PROCESS_NOT_STARTED)
		sum->unpriced++;
}

static struct sum sum_of(const struct attempt_row *const *attempts, size_t count)
{
	struct sum sum = { ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE, NAN, 0 };

	for (size_t i = 0; i < count; i++)
		sum_add(&sum, attempts[i]);
	return sum;
}

static json_t *real(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *tokens(const struct sum *sum)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "input", json_int(sum->input), "cached", json_int(sum->cached),
	    "cache_write", json_int(sum->cache_write), "output", json_int(sum->output), "reasoning",
	    json_int(sum->reasoning));
}

/* From the start to the end, or to the last known time of an unfinished run. */
static int64_t wall_ms(const struct run_rows *rows)
{
	const struct run_row *run = &rows->run;
	int64_t last = run->started_at;

	if (run->started_at == ROW_NONE)
		return ROW_NONE;
	if (run->ended_at != ROW_NONE)
		return run->ended_at - run->started_at;
	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];

		if (a->started_at != ROW_NONE && a->started_at > last)
			last = a->started_at;
		if (a->ended_at != ROW_NONE && a->ended_at > last)
			last = a->ended_at;
	}
	return last - run->started_at;
}

static bool was_invoked(const struct attempt_row *a)
{
	return a->state != ATTEMPT_S_STARTING && a->process != PROCESS_NOT_STARTED;
}

static int64_t invoked(const struct run_rows *rows, enum role role)
{
	int64_t count = 0;

	for (size_t i = 0; i < rows->nattempts; i++)
		count += rows->attempts[i]->role == (int)role && was_invoked(rows->attempts[i]);
	return count;
}

/* The votes of a panel are one review. */
static int64_t review_rounds(const struct run_rows *rows)
{
	int64_t count = invoked(rows, ROLE_REVIEW);

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];
		bool first = a->reviewer == NULL || a->role != ROLE_REVIEW || !was_invoked(a);

		for (size_t k = 0; !first && k < i; k++) {
			const struct attempt_row *other = rows->attempts[k];

			if (other->reviewer != NULL && other->role == ROLE_REVIEW && other->slot == a->slot &&
			    other->iteration == a->iteration && other->round == a->round && was_invoked(other)) {
				count--;
				break;
			}
		}
	}
	return count;
}

/* Number of attempts without success, by the result that says so. */
static json_t *faults(const struct run_rows *rows)
{
	int64_t counts[FAULTS] = { 0 };
	json_t *json = json_object();

	for (size_t i = 0; i < rows->nattempts; i++)
		counts[attempt_fault(rows->attempts[i])]++;
	for (int i = FAULT_NONE + 1; i < FAULTS; i++)
		json_object_set_new(json, state_name(&fault_names, i), json_integer((json_int_t)counts[i]));
	return json;
}

static json_t *stats(const struct run_rows *rows)
{
	struct sum sum = sum_of(rows->attempts, rows->nattempts);
	int64_t fixes = 0, denials = ROW_NONE, tool_errors = ROW_NONE;

	for (size_t i = 0; i < rows->nslots; i++)
		run_report_add(&fixes, slot_row_is_beside(rows->slots[i]) ? 0 : rows->slots[i]->fix);
	for (size_t i = 0; i < rows->nattempts; i++) {
		run_report_add(&denials, rows->attempts[i]->denials);
		run_report_add(&tool_errors, rows->attempts[i]->tool_errors);
	}
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:I,s:o,s:o,s:o}", "review_rounds",
	    (json_int_t)review_rounds(rows),
	    "fix_rounds", (json_int_t)fixes, "checks", (json_int_t)invoked(rows, ROLE_CHECK),
	    "turns", (json_int_t)rows->nattempts, "attempts", (json_int_t)rows->nattempts,
	    "wall_ms", json_int(wall_ms(rows)), "tokens", tokens(&sum), "cost_usd", real(sum.cost),
	    "unpriced_attempts", (json_int_t)sum.unpriced, "faults", faults(rows),
	    "denials", json_int(denials), "tool_errors", json_int(tool_errors));
}

static json_t *roles(const struct plan *plan)
{
	json_t *json = json_object();

	for (int role = 0; role < ROLES; role++) {
		const struct agent_plan *agent = &plan->agents[role];

		if (agent->name != NULL)
			json_object_set_new(json, state_name(&role_names, role),
			    json_pack("{s:o,s:o}", "agent", json_text(agent->name),
			    "model", json_text(agent->model)));
	}
	return json;
}

static json_t *texts(char *const *list)
{
	json_t *json = json_array();

	for (; list != NULL && *list != NULL; list++)
		json_array_append_new(json, json_text(*list));
	return json;
}

static json_t *clocks(const struct plan *plan)
{
	json_t *json = json_object();

	for (int role = 0; role < ROLES; role++) {
		const int64_t *ms = plan->clocks[role].ms;

		json_object_set_new(json, state_name(&role_names, role),
		    json_pack("{s:I,s:I,s:I}", "wall_ms", (json_int_t)ms[CLOCK_WALL], "idle_ms",
		    (json_int_t)ms[CLOCK_IDLE], "post_result_ms", (json_int_t)ms[CLOCK_POST_RESULT]));
	}
	return json;
}

static json_t *settings(const struct plan *plan)
{
	return json_pack("{s:o,s:b,s:o,s:o,s:o,s:s,s:I,s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:I,s:I,s:o}",
	    "agents", roles(plan), "review", plan->review, "skip_reason", json_text(plan->skip_reason),
	    "skip_kind", json_text(state_name(&skip_kind_names, (int)plan->skip_kind)),
	    "profile", json_text(plan->profile_name != NULL ? plan->profile_name : plan->profile->name),
	    "base_profile", plan->profile->name,
	    "max_fixes", (json_int_t)plan->max_fixes, "max_review_rounds",
	    (json_int_t)(plan->review ? plan->max_fixes + 1 : 0),
	    "stall_limit", (json_int_t)plan->stall_limit, "on_malformed",
	    state_name(&on_malformed_names, plan->on_malformed),
	    "on_reviewer_error", state_name(&bad_end_names, plan->on_reviewer_error),
	    "on_exhausted", state_name(&bad_end_names, plan->on_exhausted), "fixer",
	    state_name(&fixer_names, plan->fixer), "scope", state_name(&scope_names, plan->scope),
	    "commit", state_name(&commit_mode_names, plan->commit), "checks", texts(plan->checks),
	    "timeout_ms", (json_int_t)plan->clocks[ROLE_IMPLEMENT].ms[CLOCK_WALL], "review_timeout_ms",
	    (json_int_t)plan->clocks[ROLE_REVIEW].ms[CLOCK_WALL], "clocks", clocks(plan));
}

/* For each attempt the reviewer's own verdict, not a later human decision; NULL: none. malloc'd. */
static const struct review_row **verdicts(const struct run_rows *rows)
{
	const struct review_row **list = xcalloc(rows->nattempts + 1, sizeof(struct review_row *));

	for (size_t i = rows->nreviews; i > 0; i--) {
		const struct review_row *review = rows->reviews[i - 1];
		size_t at = run_rows_attempt_at(rows, review->attempt);

		if (at < rows->nattempts && !is_human(review))
			list[at] = review;
	}
	return list;
}

/* Findings to fix, without resolved ones. */
static json_t *finding_ids(const struct run_rows *rows, int64_t review)
{
	json_t *list = json_array();

	size_t count;
	const struct finding_row **said = run_rows_findings(rows, review, &count);

	for (size_t i = 0; i < count; i++) {
		if (said[i]->state != FINDING_RESOLVED && said[i]->state != FINDING_DISMISSED)
			json_array_append_new(list, json_text(said[i]->id));
	}
	return list;
}

/* Turns are numbered over all rounds: the timeline is one sequence. */
static json_t *timeline(const struct run_rows *rows)
{
	const struct review_row **reviews = verdicts(rows);
	json_t *list = json_array();

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];
		const struct review_row *review = a->role == ROLE_REVIEW ? reviews[i] : NULL;
		struct sum sum = sum_of(&rows->attempts[i], 1);
		json_t *turn =
		    json_pack("{s:I,s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
		    "turn", (json_int_t)i + 1,
		    "type", state_name(&role_names, a->role), "attempt", (json_int_t)a->id,
		    "number", (json_int_t)a->number,
		    "slot", json_int(a->slot), "task", json_text(a->task), "round", json_int(a->round),
		    "agent", json_text(a->agent), "model", json_text(a->model), "state",
		    state_name(&attempt_state_names, a->state), "exit_code", json_int(a->exit_code),
		    "signal", json_int(a->signal), "cause", json_text(a->cause), "end_kind",
		    json_text(state_name(&end_kind_names, a->end_kind)), "started_at",
		    json_time(a->started_at),
		    "ended_at", json_time(a->ended_at), "tokens", tokens(&sum), "cost_usd", real(sum.cost));

		json_results(turn, a);
		json_object_set_new(turn, "account", json_text(a->account));
		json_object_set_new(turn, "resumes", json_int(a->resumes));
		json_object_set_new(turn, "denials", json_int(a->denials));
		json_object_set_new(turn, "tool_errors", json_int(a->tool_errors));
		if (review != NULL) {
			json_object_set_new(turn, "decision", json_text(review->decision));
			json_object_set_new(turn, "feedback", json_text(review->feedback));
			json_object_set_new(turn, "findings", finding_ids(rows, review->number));
		}
		json_array_append_new(list, turn);
	}
	free(reviews);
	return list;
}

static json_t *result(const struct run_rows *rows, const char *answer, size_t size)
{
	const struct run_row *run = &rows->run;
	const struct run_class *class = run_class_of(state_name(&run_state_names, run->state),
	    (enum end_kind)run->end_kind);
	char *copy = answer == NULL ? NULL : xmemdup0(answer, size);
	json_t *json = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "outcome",
	    json_text(class == NULL ? NULL : class->outcome),
	    "exit_code", class == NULL ? json_null() : json_integer(class->code), "answer", json_text(copy),
	    "attempt", json_int(run->result_attempt), "ref", json_text(run->result_ref), "tree",
	    json_text(run->result_tree), "commit", json_text(run->result_commit));

	free(copy);
	return json;
}

static const char *task_of(const struct run_rows *rows, const struct finding_row *finding)
{
	for (size_t i = 0; i < rows->nreviews; i++)
		if (rows->reviews[i]->number == finding->review)
			return rows->reviews[i]->task_id;
	return "";
}

/* Each finding once, with its state in the last review that mentions it. */
static json_t *findings(const struct run_rows *rows)
{
	json_t *list = json_array(), *last = json_object();

	for (size_t i = 0; i < rows->nfindings; i++)
		json_object_set_new_nocheck(last, rows->findings[i]->id, json_integer((json_int_t)i));
	for (size_t i = 0; i < rows->nfindings; i++) {
		if (json_integer_value(json_object_get(last, rows->findings[i]->id)) == (json_int_t)i)
			json_array_append_new(list, finding_document(rows, task_of(rows, rows->findings[i]),
			    rows->findings[i]));
	}
	json_decref(last);
	return list;
}

static json_t *all(const struct run_rows *rows, enum row_kind kind)
{
	json_t *list = json_array();

	for (size_t i = 0; kind == ROW_HOLD && i < rows->nholds; i++)
		json_array_append_new(list, json_row(kind, rows->holds[i]));
	for (size_t i = 0; kind == ROW_REVIEW && i < rows->nreviews; i++)
		json_array_append_new(list, review_document(rows, i));
	return list;
}

/* Checks that were not run, because they had been green on the same tree. */
static json_t *reused_checks(const struct run_rows *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->nevidence; i++) {
		const struct evidence_row *e = rows->evidence[i];

		if (e->kind == EVIDENCE_CHECK && e->from_attempt != ROW_NONE)
			json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:I,s:I}", "task", json_text(e->task_id),
			    "command", json_text(e->subject), "tree", json_text(e->tree),
			    "from_run", (json_int_t)e->from_run, "from_attempt", (json_int_t)e->from_attempt));
	}
	return list;
}

/* "a", or of a panel "a, b, c". */
static json_t *reviewer_names(const struct plan *plan)
{
	struct buf names = { 0 };
	json_t *text;

	for (size_t i = 0; i < plan->nreviewers; i++)
		buf_addf(&names, "%s%s", i > 0 ? ", " : "", plan->reviewers[i].name);
	text = json_text(names.size > 0 ? names.data : plan->agents[ROLE_REVIEW].name);
	buf_release(&names);
	return text;
}

json_t *report_make(const struct run_rows *rows, const struct plan *plan, const char *answer, size_t size)
{
	const struct run_row *run = &rows->run;
	struct run_overview overview = overview_of(rows);
	json_t *report = json_pack("{s:i,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,"
	    "s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "version", REPORT_VERSION,
	    "run", (json_int_t)run->id, "overview", overview_json(&overview, run),
	    "task", json_text(overview.title),
	    "agent", json_text(plan == NULL ? NULL : plan->agents[ROLE_IMPLEMENT].name),
	    "model", json_text(plan == NULL ? NULL : plan->agents[ROLE_IMPLEMENT].model),
	    "reviewer", plan == NULL || !plan->review ? json_null() : reviewer_names(plan),
	    "workdir", json_text(run->workdir), "state", state_name(&run_state_names, run->state),
	    "reason", json_text(run->reason), "wait_kind",
	    json_text(state_name(&wait_kind_names, run->wait_kind)), "cause", json_text(run->cause),
	    "end_kind", json_text(state_name(&end_kind_names, run->end_kind)), "created_at",
	    json_time(run->created_at), "started_at", json_time(run->started_at),
	    "ended_at", json_time(run->ended_at), "settings", plan == NULL ? json_null() : settings(plan),
	    "result", result(rows, answer, size), "stats", stats(rows), "timeline", timeline(rows),
	    "tasks", task_list_make(rows),
	    "reviews", all(rows, ROW_REVIEW), "findings", findings(rows), "known_issues",
	    json_document(run->known_issues, json_array()),
	    "warnings", json_document(run->warnings, json_array()), "reused_checks",
	    reused_checks(rows), "holds", all(rows, ROW_HOLD));

	overview_release(&overview);
	return report;
}
