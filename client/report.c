/* SPDX-License-Identifier: MIT */
/* rlctl report: a run as a whole, for people or for programs. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/show.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column turn_columns[] = {
	{ "TURN", TABLE_RIGHT },
	{ "TYPE", 0 },
	{ "ROUND", TABLE_RIGHT },
	{ "AGENT", 0 },
	{ "ACCOUNT", 0 },
	{ "EXIT", TABLE_RIGHT },
	{ "FAULT", 0 },
	{ "DENIED", TABLE_RIGHT },
	{ "TOOL ERRORS", TABLE_RIGHT },
	{ "GOES ON WITH", TABLE_RIGHT },
	{ "DECISION", 0 },
	{ "TOOK", TABLE_RIGHT },
	{ "TOKENS", TABLE_RIGHT },
	{ "COST", TABLE_RIGHT },
	{ "WHY", TABLE_FLEXIBLE },
};

static void print_timeline(const struct print *p, const json_t *turns)
{
	struct table *t = table_new(turn_columns, ARRAY_SIZE(turn_columns));

	for (size_t i = 0; i < json_array_size(turns); i++) {
		const json_t *turn = json_array_get(turns, i);
		const char *decision = field_text(turn, "decision"), *why = field_text(turn, "cause");

		if (*why == '\0')
			why = field_text(turn, "feedback");
		table_take(t, PAINT_NONE, show_number(turn, "turn"));
		table_add(t, PAINT_NONE, field_text(turn, "type"));
		table_take(t, PAINT_NONE, field_int(turn, "round") == 0 ? xstrdup("") : show_number(turn, "round"));
		table_add(t, PAINT_NONE, field_text(turn, "agent"));
		table_add(t, PAINT_NONE, field_text(turn, "account"));
		table_take(t, PAINT_NONE, show_exit(turn));
		table_take(t, PAINT_RED, show_fault(turn));
		table_take(t, PAINT_NONE, show_some(turn, "denials"));
		table_take(t, PAINT_NONE, show_some(turn, "tool_errors"));
		table_take(t, PAINT_NONE, show_resumed(turn, turns, "attempt"));
		table_add(t, print_state_paint(decision), decision);
		table_take(t, PAINT_NONE, show_took(turn));
		table_take(t, PAINT_NONE, show_tokens(turn));
		table_take(t, PAINT_NONE, print_cost(field_real(turn, "cost_usd")));
		table_take(t, PAINT_NONE, xasprintf("%.*s", (int)strcspn(why, "\r\n"), why));
	}
	if (json_array_size(turns) > 0)
		fputc('\n', p->file);
	table_print(t, p, false);
	table_free(t);
}

/* A heading and a line for each, unless there are none. */
static void print_list(const struct print *p, const char *heading, const json_t *texts)
{
	if (json_array_size(texts) > 0)
		fprintf(p->file, "\n%s:\n", heading);
	for (size_t i = 0; i < json_array_size(texts); i++) {
		fputs("  - ", p->file);
		print_painted(p, PAINT_NONE, json_string_value(json_array_get(texts, i)));
		fputc('\n', p->file);
	}
}

static char *one_finding(const json_t *finding)
{
	const char *file = field_text(finding, "file"), *text = field_text(finding, "text"), *severity = field_text(finding, "severity");
	char *line = show_number(finding, "line");
	char *all = xasprintf("%s%s%s%s%s%s%.*s [%s]", file, *line != '\0' ? ":" : "", line, *file != '\0' ? " " : "", severity,
		*severity != '\0' ? ": " : "", (int)strcspn(text, "\r\n"), text, field_text(finding, "state"));

	free(line);
	return all;
}

static char *one_hold(const json_t *hold)
{
	const char *by = field_text(hold, "decided_by"), *message = field_text(hold, "message");

	return xasprintf("%lld %s: %s%s%s%s%s", (long long)field_int(hold, "id"), field_text(hold, "reason"), field_text(hold, "state"),
		*by != '\0' ? " by " : "", by, *message != '\0' ? ": " : "", message);
}

static json_t *lines_of(const json_t *objects, char *(*line_of)(const json_t *object))
{
	json_t *lines = json_array();

	for (size_t i = 0; i < json_array_size(objects); i++) {
		char *line = line_of(json_array_get(objects, i));

		json_array_append_new(lines, json_string(line));
		free(line);
	}
	return lines;
}

static void print_objects(const struct print *p, const char *heading, const json_t *objects, char *(*line_of)(const json_t *object))
{
	json_t *lines = lines_of(objects, line_of);

	print_list(p, heading, lines);
	json_decref(lines);
}

/* "2 by the process, 1 by the provider"; "" when all attempts have succeeded. */
static char *faults_text(const json_t *faults)
{
	static const char *const names[] = { "process", "provider", "task" };
	struct buf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int64_t count = field_int(faults, names[i]);
		char *one = count > 0 ? xasprintf("%s%lld by the %s", text.size > 0 ? ", " : "", (long long)count, names[i]) : NULL;

		if (one != NULL)
			buf_adds(&text, one);
		free(one);
	}
	return buf_take(&text, NULL);
}

static void print_text(const struct print *p, const json_t *report)
{
	const json_t *result = json_object_get(report, "result"), *stats = json_object_get(report, "stats");
	const json_t *settings = json_object_get(report, "settings");
	const char *state = field_text(report, "state"), *answer = field_text(result, "answer");
	struct table *t = table_facts();

	fprintf(p->file, "Run %lld  ", (long long)field_int(report, "run"));
	print_painted(p, print_state_paint(state), state);
	fputc('\n', p->file);
	table_fact(t, "task", PAINT_NONE, xstrdup(field_text(report, "task")));
	table_fact(t, "workdir", PAINT_NONE, xstrdup(field_text(report, "workdir")));
	table_fact(t, "outcome", PAINT_NONE, xstrdup(field_text(result, "outcome")));
	table_fact(t, "reason", PAINT_YELLOW, xstrdup(field_text(report, "reason")));
	table_fact(t, "cause", PAINT_NONE, xstrdup(field_text(report, "cause")));
	table_fact(t, "agent", PAINT_NONE, xstrdup(field_text(report, "agent")));
	table_fact(t, "model", PAINT_NONE, xstrdup(field_text(report, "model")));
	table_fact(t, "reviewer", PAINT_NONE, xstrdup(field_text(report, "reviewer")));
	table_fact(t, "profile", PAINT_NONE, xstrdup(field_true(settings, "review") ? field_text(settings, "profile") : ""));
	/* the tasks of a workflow have reviews of their own */
	table_fact(t, "not reviewed", PAINT_NONE, xstrdup(field_int(stats, "review_rounds") > 0 ? "" : field_text(settings, "skip_reason")));
	table_fact(t, "reviews", PAINT_NONE, show_number(stats, "review_rounds"));
	table_fact(t, "fix rounds", PAINT_NONE, show_number(stats, "fix_rounds"));
	table_fact(t, "checks", PAINT_NONE, show_number(stats, "checks"));
	table_fact(t, "started", PAINT_NONE, show_when(report, "started_at"));
	table_fact(t, "took", PAINT_NONE, print_duration(field_int(stats, "wall_ms")));
	table_fact(t, "tokens", PAINT_NONE, show_tokens(stats));
	table_fact(t, "cost", PAINT_NONE, print_cost(field_real(stats, "cost_usd")));
	table_fact(t, "no success", PAINT_NONE, faults_text(json_object_get(stats, "faults")));
	table_fact(t, "denied", PAINT_YELLOW, show_some(stats, "denials"));
	table_fact(t, "tool errors", PAINT_NONE, show_some(stats, "tool_errors"));
	table_fact(t, "result", PAINT_BOLD, xstrdup(field_text(result, "ref")));
	table_fact(t, "commit", PAINT_BOLD, xstrdup(field_text(result, "commit")));
	table_print(t, p, true);
	table_free(t);
	print_timeline(p, field_array(report, "timeline"));
	print_objects(p, "Findings", field_array(report, "findings"), one_finding);
	print_list(p, "Known issues", field_array(report, "known_issues"));
	print_list(p, "Warnings", field_array(report, "warnings"));
	print_objects(p, "Holds", field_array(report, "holds"), one_hold);
	if (*answer != '\0') {
		fputs("\nAnswer:\n", p->file);
		print_agent_text(p, answer, strlen(answer));
		fputs(answer[strlen(answer) - 1] == '\n' ? "" : "\n", p->file);
	}
}

static void print_report(const struct print *p, const json_t *report, const char *format)
{
	if (format == NULL || strcmp(format, "text") == 0)
		print_text(p, report);
	else
		print_json_indented(p, report);
}

static int write_file(const char *path, const json_t *report, const char *format, bool json)
{
	FILE *file = fopen(path, "we");
	struct print p;
	bool failed;

	if (file == NULL) {
		warn("%s", path);
		return EXIT_REFUSED;
	}
	print_init(&p, file, "never");
	if (json)
		print_json(&p, report);
	else
		print_report(&p, report, format);
	failed = ferror(file) != 0;
	if (fclose(file) == EOF || failed) {
		warn("%s", path);
		return EXIT_REFUSED;
	}
	return EXIT_DONE;
}

int report_command(struct client *c)
{
	const char *format = options_text(&c->options, "format"), *path = options_text(&c->options, "output");
	json_t *report;
	int64_t run;
	int status;

	if (client_parse_run(c->options.arguments[0], &run, NULL) != 0)
		return EXIT_USAGE;
	report = client_call(c, "run.report", json_pack("{s:I}", "id", (json_int_t)run), &status);
	if (report == NULL)
		return status;
	if (path != NULL)
		status = write_file(path, report, format, c->json);
	else if (c->json)
		print_json(&c->out, report);
	else
		print_report(&c->out, report, format);
	json_decref(report);
	return status;
}
