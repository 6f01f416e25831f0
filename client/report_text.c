/* SPDX-License-Identifier: MIT */
#include "client/report_text.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/print.h"
#include "client/table.h"
#include "client/task_summary.h"
#include "proto/memory.h"

static char *report_why(const json_t *turn, const char *key)
{
	return cell_line(turn, *field_text(turn, key) != '\0' ? key : "feedback");
}

static char *report_round(const json_t *turn, const char *key)
{
	return field_int(turn, key) == 0 ? xstrdup("") : cell_number(turn, key);
}

static const struct table_column columns[] = {
	{ "TURN", TABLE_RIGHT, cell_number, .key = "turn" },
	{ "TASK", 0, cell_text, .key = "of" },
	{ "TYPE", 0, cell_text, .key = "type" },
	{ "ROUND", TABLE_RIGHT, report_round, .key = "round" },
	{ "AGENT", 0, cell_text, .key = "agent" },
	{ "ACCOUNT", 0, cell_text, .key = "account" },
	{ "EXIT", TABLE_RIGHT, cell_exit, .key = NULL },
	{ "FAULT", 0, cell_fault, .key = NULL, .paint = PAINT_RED },
	{ "DENIED", TABLE_RIGHT, cell_some, .key = "denials" },
	{ "TOOL ERRORS", TABLE_RIGHT, cell_some, .key = "tool_errors" },
	{ "GOES ON WITH", TABLE_RIGHT, cell_text, .key = "resumed" },
	{ "DECISION", 0, cell_text, "decision", .paint_of = print_state_paint },
	{ "TOOK", TABLE_RIGHT, cell_took, .key = NULL },
	{ "TOKENS", TABLE_RIGHT, cell_tokens, .key = NULL },
	{ "COST", TABLE_RIGHT, cell_cost, .key = "cost_usd" },
	{ "WHY", TABLE_FLEXIBLE, report_why, .key = "cause" },
};

static void report_print_timeline(const struct print *p, const json_t *report)
{
	const json_t *turns = field_array(report, "timeline");

	tasks_name(report, turns);
	for (size_t i = 0; i < json_array_size(turns); i++) {
		json_t *turn = json_array_get(turns, i);
		char *resumed = cell_resumed(turn, turns, "attempt");

		json_object_set_new(turn, "resumed", json_string(resumed));
		free(resumed);
	}
	table_print_apart(p, columns, ARRAY_SIZE(columns), turns);
}

/* A heading and a line for each; nothing if there are none. */
static void report_print_list(const struct print *p, const char *heading, const json_t *texts)
{
	if (json_array_size(texts) > 0)
		fprintf(p->file, "\n%s:\n", heading);
	for (size_t i = 0; i < json_array_size(texts); i++) {
		fputs("  - ", p->file);
		print_painted(p, PAINT_NONE, json_string_value(json_array_get(texts, i)));
		fputc('\n', p->file);
	}
}

static char *report_finding(const json_t *finding)
{
	const char *text = field_text(finding, "text"), *severity = field_text(finding, "severity");
	const json_t *dispute = json_object_get(finding, "disputed");
	bool disputed = json_is_object(dispute);
	char *by = field_joined(field_array(finding, "reviewers")), *place = cell_place(finding, NULL);
	char *all = xasprintf("%s%s%s%s%.*s [%s]%s%s%s%s%s%s", place, *place != '\0' ? " " : "", severity,
	    *severity != '\0' ? ": " : "", (int)strcspn(text, "\r\n"), text, field_text(finding, "state"),
	    *by != '\0' ? "; by " : "", by, disputed ? "; disputed by " : "", field_text(dispute, "by"),
	    disputed ? ": " : "", field_text(dispute, "reason"));

	free(by);
	free(place);
	return all;
}

static char *report_hold(const json_t *hold)
{
	const char *by = field_text(hold, "decided_by"), *message = field_text(hold, "message");

	return xasprintf("%lld %s: %s%s%s%s%s", field_count(hold, "id"), field_text(hold, "reason"),
	    field_text(hold, "state"), *by != '\0' ? " by " : "", by, *message != '\0' ? ": " : "",
	    message);
}

static char *report_reused(const json_t *check)
{
	return xasprintf("%s: green on the same tree in attempt %lld/%lld", field_text(check, "command"),
	    field_count(check, "from_run"), field_count(check, "from_attempt"));
}

static void report_print_objects(const struct print *p, const char *heading, const json_t *objects,
    char *(*line_of)(const json_t *object))
{
	json_t *lines = json_array();

	for (size_t i = 0; i < json_array_size(objects); i++) {
		char *line = line_of(json_array_get(objects, i));

		json_array_append_new(lines, json_string(line));
		free(line);
	}
	report_print_list(p, heading, lines);
	json_decref(lines);
}

/* "2 by the process, 1 by the provider"; "" if all attempts succeeded. */
static char *report_faults(const json_t *faults)
{
	static const char *const names[] = { "process", "provider", "task" };
	struct buf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (field_count(faults, names[i]) > 0)
			buf_addf(&text, "%s%lld by the %s", text.size > 0 ? ", " : "",
			    field_count(faults, names[i]), names[i]);
	return buf_take(&text, NULL);
}

void report_print_text(const struct print *p, const json_t *report)
{
	const json_t *result = json_object_get(report, "result"), *stats = json_object_get(report, "stats");
	const json_t *settings = json_object_get(report, "settings");
	const char *state = field_text(report, "state"), *answer = field_text(result, "answer");
	bool many = tasks_are_many(report);
	struct table *t = table_facts();

	fprintf(p->file, "Run %lld  ", field_count(report, "run"));
	print_painted(p, print_state_paint(state), state);
	fputc('\n', p->file);
	if (many)
		tasks_add_overview(t, report, stats);
	else
		table_member(t, "task", PAINT_NONE, report, "task");
	table_member(t, "workdir", PAINT_NONE, report, "workdir");
	table_member(t, "outcome", PAINT_NONE, result, "outcome");
	if (!many) {
		table_member(t, "reason", PAINT_YELLOW, report, "reason");
		table_member(t, "cause", PAINT_NONE, report, "cause");
	}
	table_member(t, "agent", PAINT_NONE, report, "agent");
	table_member(t, "model", PAINT_NONE, report, "model");
	table_member(t, "reviewer", PAINT_NONE, report, "reviewer");
	table_fact(t, "profile", PAINT_NONE,
	    xstrdup(field_true(settings, "review") ? field_text(settings, "profile") : ""));
	/* each task of a workflow has its own review */
	table_fact(t, "not reviewed", PAINT_NONE,
	    xstrdup(
	        field_int(stats, "review_rounds") > 0 ? "" : field_text(settings, "skip_reason")));
	table_fact(t, "reviews", PAINT_NONE, cell_number(stats, "review_rounds"));
	table_fact(t, "fix rounds", PAINT_NONE, cell_number(stats, "fix_rounds"));
	table_fact(t, "checks", PAINT_NONE, cell_number(stats, "checks"));
	table_fact(t, "started", PAINT_NONE, cell_when(report, "started_at"));
	if (!many)
		tasks_add_totals(t, stats);
	table_fact(t, "not successful", PAINT_NONE, report_faults(json_object_get(stats, "faults")));
	table_fact(t, "denied", PAINT_YELLOW, cell_some(stats, "denials"));
	table_fact(t, "tool errors", PAINT_NONE, cell_some(stats, "tool_errors"));
	table_member(t, "result", PAINT_BOLD, result, "ref");
	table_member(t, "commit", PAINT_BOLD, result, "commit");
	table_print_facts(t, p);
	if (many)
		tasks_print(p, report);
	report_print_timeline(p, report);
	report_print_objects(p, "Findings", field_array(report, "findings"), report_finding);
	report_print_list(p, "Known issues", field_array(report, "known_issues"));
	report_print_list(p, "Warnings", field_array(report, "warnings"));
	report_print_objects(p, "Checks not run again", field_array(report, "reused_checks"), report_reused);
	report_print_objects(p, "Holds", field_array(report, "holds"), report_hold);
	/* that of one task is not the answer of many */
	if (*answer != '\0' && !many) {
		fputs("\nAnswer:\n", p->file);
		print_agent_text(p, answer, strlen(answer));
		fputs(answer[strlen(answer) - 1] == '\n' ? "" : "\n", p->file);
	}
}
