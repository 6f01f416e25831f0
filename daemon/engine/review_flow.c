/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/chain.h"
#include "core/findings.h"
#include "core/profile.h"
#include "core/review.h"
#include "engine/engine_int.h"
#include "proto/escape.h"

/* What VERIFY saw, kept while the verdict is read. */
struct judgement {
	struct judge_work work;
	struct lane *lane;
	char *changed, *moved;
};

const struct review_row *review_last(const struct lane *lane)
{
	const struct run_rows *rows = lane->run->rows;

	for (size_t i = rows->nreviews; i > 0; i--)
		if (strcmp(rows->reviews[i - 1]->task_id, lane->row->task) == 0)
			return rows->reviews[i - 1];
	return NULL;
}

/* The findings of one review: a stretch of the run's list, which is in order. */
static struct finding_row **findings_of(const struct run_rows *rows, int64_t review, size_t *count)
{
	size_t first = 0;

	while (first < rows->nfindings && rows->findings[first]->review < review)
		first++;
	for (*count = 0; first + *count < rows->nfindings && rows->findings[first + *count]->review == review; ++*count)
		;
	return rows->findings + first;
}

char *review_findings_json(const struct lane *lane)
{
	const struct review_row *last = review_last(lane);
	struct finding_row **findings;
	json_t *list;
	size_t count;
	char *text;

	if (last == NULL)
		return NULL;
	list = json_array();
	findings = findings_of(lane->run->rows, last->number, &count);
	for (size_t i = 0; i < count; i++) {
		json_t *item = json_pack("{s:s, s:s*, s:s*, s:s*, s:s}", "id", findings[i]->id, "file", findings[i]->file,
		    "severity", findings[i]->severity, "text", findings[i]->text,
		    "state", state_name(&finding_state_names, findings[i]->state));

		if (findings[i]->line != ROW_NONE)
			json_object_set_new(item, "line", json_integer(findings[i]->line));
		json_array_append_new(list, item);
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static struct finding_row **make_findings(const struct lane *lane, int64_t review, const struct verdict *v)
{
	struct finding_row **rows = xcalloc(v->nfindings, sizeof(*rows));

	for (size_t i = 0; i < v->nfindings; i++) {
		char id[FINDING_ID];

		rows[i] = row_new(ROW_FINDING);
		finding_id(v->findings[i].file, v->findings[i].text, id);
		rows[i]->run = lane->row->run;
		rows[i]->review = review;
		rows[i]->number = (int64_t)i + 1;
		rows[i]->id = xstrdup(id);
		rows[i]->file = xstrdup(v->findings[i].file);
		rows[i]->line = v->findings[i].line > 0 ? v->findings[i].line : ROW_NONE;
		rows[i]->severity = xstrdup(v->findings[i].severity);
		rows[i]->text = xstrdup(v->findings[i].text);
	}
	return rows;
}

static char *ids_json(struct finding_row *const *findings, size_t count)
{
	json_t *ids = json_array();
	char *text;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(ids, json_string(findings[i]->id));
	text = json_dumps(ids, JSON_COMPACT);
	json_decref(ids);
	return text;
}

/* Append one row to the run's chain, with its findings. decision, feedback: see struct review_row. */
static struct finding_counts append(struct turn *turn, struct lane *lane, const char *decision, const char *feedback, const struct verdict *v)
{
	struct run_rows *rows = lane->run->rows;
	const struct attempt_row *a = run_attempt(lane->run, lane->row->attempt);
	const struct review_row *last = review_last(lane);
	struct review_row *row = row_new(ROW_REVIEW);
	struct finding_row **findings, **before = NULL;
	struct finding_counts counts;
	size_t nbefore = 0;
	char hex[DIGEST_HEX];

	row->run = rows->run.id;
	row->number = rows->run.review_count + 1;
	row->task_id = xstrdup(lane->row->task);
	row->reviewer_agent = xstrdup(a->agent);
	row->coder_agent = xstrdup(run_attempt(lane->run, lane->row->answer)->agent);
	row->iteration = lane->row->round;
	row->decision = xstrdup(decision);
	row->feedback = xstrdup(feedback);
	row->source = xstrdup(v->source);
	row->attempt = a->id;
	row->tree = xstrdup(lane->row->tree);
	row->timestamp = engine_now(lane->run->engine);
	row->previous_hash = xstrdup(rows->run.review_head);

	if (last != NULL)
		before = findings_of(rows, last->number, &nbefore);
	findings = make_findings(lane, row->number, v);
	counts = findings_compare(findings, v->nfindings, before, nbefore);
	row->findings = ids_json(findings, v->nfindings);
	review_hash(row, findings, v->nfindings, hex);
	row->hash = xstrdup(hex);

	rows->run.review_count = row->number;
	free(rows->run.review_head);
	rows->run.review_head = xstrdup(hex);
	turn_put(turn, ROW_REVIEW, row);
	turn_put(turn, ROW_RUN, &rows->run);
	turn_tell(turn, "review.decided", row->run, json_pack("{s:I, s:s, s:I, s:I, s:s, s:s*, s:I, s:I, s:I, s:I, s:I}",
	    "review", (json_int_t)row->number, "task", row->task_id, "slot", (json_int_t)lane->row->slot, "round", (json_int_t)row->iteration,
	    "decision", row->decision, "feedback", row->feedback, "findings", (json_int_t)v->nfindings, "new", (json_int_t)counts.new,
	    "repeated", (json_int_t)counts.repeated, "resolved", (json_int_t)counts.resolved, "attempt", (json_int_t)row->attempt));
	for (size_t i = 0; i < v->nfindings; i++) {
		turn_put(turn, ROW_FINDING, findings[i]);
		turn_tell(turn, "finding", row->run, json_pack("{s:I, s:s, s:s*, s:s*, s:s, s:s}", "review", (json_int_t)row->number,
		    "id", findings[i]->id, "file", findings[i]->file, "severity", findings[i]->severity, "text", findings[i]->text,
		    "state", state_name(&finding_state_names, findings[i]->state)));
	}
	run_rows_put(rows, ROW_REVIEW, row);
	for (size_t i = 0; i < v->nfindings; i++)
		run_rows_put(rows, ROW_FINDING, findings[i]);
	free(findings);
	return counts;
}

void review_error(struct turn *turn, struct lane *lane, const char *cause)
{
	static const struct verdict none;

	append(turn, lane, "error", cause, &none);
}

void review_skip(struct turn *turn, struct lane *lane, const char *reason)
{
	free(lane->row->reason);
	lane->row->reason = xasprintf("not reviewed: %s", reason);
	turn_tell(turn, "review.skipped", lane->row->run, json_pack("{s:I, s:s, s:s}", "slot", (json_int_t)lane->row->slot,
	    "task", lane->row->task, "reason", reason));
}

static void decide(struct turn *turn, struct judgement *j)
{
	struct lane *lane = j->lane;
	struct slot_row *row = lane->row;
	const struct plan *plan = &lane->run->plan;
	const struct verdict *v = &j->work.verdict;
	static const struct verdict none;
	struct finding_counts counts;
	struct review_facts facts = {
		.verdict = v->kind != VERDICT_NONE,
		.pass = v->kind == VERDICT_PASS,
		.tree_changed = j->changed != NULL,
		.fix = row->fix,
		.max_fixes = plan->max_fixes,
		.stall_limit = plan->stall_limit,
	};
	char *reason = NULL, *cause = NULL;
	enum slot_event event;

	if (facts.tree_changed)
		reason = xasprintf("reviewer changed the tree: %s", j->changed);
	else if (!facts.verdict)
		reason = xstrdup(v->reason);
	if (reason != NULL)
		counts = append(turn, lane, "violation", reason, &none);
	else
		counts = append(turn, lane, facts.pass ? plan->profile->pass_word : plan->profile->findings_word, v->feedback, v);
	row->stalled = reason == NULL && !facts.pass && round_stalls(row, counts.new + counts.repeated, counts.repeated) ? row->stalled + 1 : 0;
	facts.stalled = row->stalled;
	event = review_classify(&facts);
	if (event == SLOT_E_VIOLATION)
		cause = xasprintf("reviewer contract violation: %s", reason);
	else if (event == SLOT_E_EXHAUSTED)
		cause = xasprintf("drift unresolved after %lld fix attempt(s)", (long long)row->fix);
	else if (event == SLOT_E_STALLED)
		cause = xasprintf("stalled: %lld rounds in a row changed nothing or repeated every finding", (long long)row->stalled);
	lane_event(turn, lane, event, cause);
	free(cause);
	free(reason);
}

static void judge_cb(void *arg, struct work *work)
{
	struct lane *lane = arg;
	struct judgement *j = (struct judgement *)work;
	struct turn *turn;

	if (!lane->run->engine->stopped) {
		turn = turn_new(lane->run->engine);
		lane->pending = PENDING_NOTHING;
		if (j->moved != NULL) {
			char *dir = work_attempt_dir(lane->run->engine->state_dir, lane->row->attempt);
			char *text = xasprintf("reviewer left new files, moved to %s/aside: %s", dir, j->moved);

			run_warn(turn, lane->run, text);
			free(text);
			free(dir);
		}
		if (lane_ending(lane)) {
			lane_ended(turn, lane);
		} else if (j->work.error != NULL) {
			review_error(turn, lane, j->work.error);
			lane_event(turn, lane, SLOT_E_FAILED, j->work.error);
		} else {
			decide(turn, j);
		}
		turn_commit(turn);
	}
	free(j->changed);
	free(j->moved);
	work_free(work);
}

void review_judge(struct lane *lane, const char *changed, const char *moved)
{
	struct judgement *j = xcalloc(1, sizeof(*j));

	j->lane = lane;
	j->changed = changed != NULL ? text_escape(changed, strlen(changed), false) : NULL;
	j->moved = moved != NULL ? text_escape(moved, strlen(moved), false) : NULL;
	j->work.attempt = lane->row->attempt;
	j->work.carrier = lane->run->plan.profile->carrier;
	lane->pending = PENDING_WORK;
	engine_work(lane->run->engine, &j->work.work, WORK_JUDGE, judge_cb, lane);
}
