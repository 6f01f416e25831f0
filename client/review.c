/* SPDX-License-Identifier: MIT */
/* rlctl review: the rounds of a run, and whether their record is whole. */
#include "client/review.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/table.h"
#include "proto/escape.h"
#include "proto/memory.h"

static const struct table_column columns[] = {
	{ "REVIEW", TABLE_RIGHT },
	{ "TASK", 0 },
	{ "DECISION", 0 },
	{ "REVIEWER", 0 },
	{ "CODER", 0 },
	{ "FINDINGS", TABLE_RIGHT },
	{ "FEEDBACK", TABLE_FLEXIBLE },
};

/* Those that it asks for; what it found resolved is no part of that. */
static size_t open_findings(const json_t *review)
{
	const json_t *findings = field_array(review, "findings");
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(findings); i++)
		count += strcmp(field_text(json_array_get(findings, i), "state"), "resolved") != 0;
	return count;
}

void review_print_table(const struct print *p, const json_t *reviews)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < json_array_size(reviews); i++) {
		const json_t *review = json_array_get(reviews, i);
		const char *decision = field_text(review, "decision"), *feedback = field_text(review, "feedback");
		size_t findings = open_findings(review);

		table_take(t, PAINT_NONE, xasprintf("%lld", (long long)field_int(review, "iteration")));
		table_add(t, PAINT_NONE, field_text(review, "task_id"));
		table_add(t, print_state_paint(decision), decision);
		table_add(t, PAINT_NONE, field_text(review, "reviewer_agent"));
		table_add(t, PAINT_NONE, field_text(review, "coder_agent"));
		table_take(t, PAINT_NONE, findings == 0 ? xstrdup("") : xasprintf("%zu", findings));
		table_take(t, PAINT_NONE, xasprintf("%.*s", (int)strcspn(feedback, "\r\n"), feedback));
	}
	table_print(t, p, false);
	table_free(t);
}

/* Text of many lines, each behind an indent. */
static void print_indented(const struct print *p, const char *text)
{
	char *safe = text_escape(text, strlen(text), true), *rest = safe, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0' || rest != NULL)
			fprintf(p->file, "%s%s\n", *line == '\0' ? "" : "    ", line);
	free(safe);
}

/* A feedback that names no places is its own only finding, but for the line end. */
static bool says_it_all(const char *feedback, const char *text)
{
	size_t length = strlen(text);

	return strncmp(feedback, text, length) == 0 && feedback[length + strspn(feedback + length, " \t\r\n")] == '\0';
}

static void print_finding(const struct print *p, const json_t *finding)
{
	const char *file = field_text(finding, "file"), *severity = field_text(finding, "severity"), *state = field_text(finding, "state");
	const char *text = field_text(finding, "text");
	char *place = field_int(finding, "line") == FIELD_NONE ? xstrdup(file) : xasprintf("%s:%lld", file, (long long)field_int(finding, "line"));
	char *line = xasprintf("%s%s%s%s%.*s%s%s%s", place, *place != '\0' ? " " : "", severity, *severity != '\0' ? ": " : "",
		(int)strcspn(text, "\r\n"), text, *state != '\0' ? " [" : "", state, *state != '\0' ? "]" : "");

	fputs("    - ", p->file);
	print_painted(p, PAINT_NONE, line);
	fputc('\n', p->file);
	free(line);
	free(place);
}

/* "    acceptance_criteria_met: true" */
static void print_checks(const struct print *p, const json_t *checks)
{
	for (void *i = json_object_iter((json_t *)checks); i != NULL; i = json_object_iter_next((json_t *)checks, i)) {
		char *value = json_dumps(json_object_iter_value(i), JSON_COMPACT | JSON_ENCODE_ANY);
		char *line = xasprintf("%s: %s", json_object_iter_key(i), value);

		fputs("    ", p->file);
		print_painted(p, strcmp(value, "false") == 0 ? PAINT_YELLOW : PAINT_NONE, line);
		fputc('\n', p->file);
		free(line);
		free(value);
	}
}

void review_print(const struct print *p, const json_t *review)
{
	const char *decision = field_text(review, "decision");
	const json_t *findings = field_array(review, "findings");
	char *age = print_age(field_time(review, "timestamp"));
	const char *final = field_true(review, "final") ? ", final" : "";

	fprintf(p->file, "Review %lld  ", (long long)field_int(review, "iteration"));
	print_painted(p, print_state_paint(decision), decision);
	fputs("  ", p->file);
	print_painted(p, PAINT_NONE, field_text(review, "task_id"));
	fputs(" by ", p->file);
	print_painted(p, PAINT_NONE, field_text(review, "reviewer_agent"));
	fputs(", of the work of ", p->file);
	print_painted(p, PAINT_NONE, field_text(review, "coder_agent"));
	fprintf(p->file, "%s%s%s%s\n", *age != '\0' ? ", " : "", age, *age != '\0' ? " ago" : "", final);
	print_indented(p, field_text(review, "feedback"));
	print_checks(p, json_object_get(review, "quality_checks"));
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *finding = json_array_get(findings, i);

		if (!says_it_all(field_text(review, "feedback"), field_text(finding, "text")))
			print_finding(p, finding);
	}
	free(age);
}

static int show(struct client *c, int64_t run)
{
	int status;
	json_t *result = client_call_json(c, "review.list", json_pack("{s:I}", "run", (json_int_t)run), &status);
	const json_t *reviews = field_array(result, "reviews");

	if (result != NULL && !c->json) {
		for (size_t i = 0; i < json_array_size(reviews); i++)
			review_print(&c->out, json_array_get(reviews, i));
		if (json_array_size(reviews) == 0)
			fprintf(c->talk.file, "Run %lld has no reviews.\n", (long long)run);
	}
	json_decref(result);
	return status;
}

/* For other programs: the logs as they are, in either way of asking. */
static int export(struct client *c, int64_t run)
{
	int status;
	json_t *result = client_call_json(c, "review.export", json_pack("{s:I}", "run", (json_int_t)run), &status);

	if (result != NULL && !c->json)
		print_json_indented(&c->out, result);
	json_decref(result);
	return status;
}

static int verify(struct client *c, int64_t run)
{
	int status;
	json_t *result = client_call_json(c, "review.verify", json_pack("{s:I}", "run", (json_int_t)run), &status);

	if (result == NULL)
		return status;
	if (!field_true(result, "ok"))
		status = EXIT_REFUSED;
	if (status != 0 && !c->json) {
		char *why = text_escape(field_text(result, "message"), strlen(field_text(result, "message")), false);

		warnx("the review record of run %lld is not what was written: %s", (long long)run, why);
		free(why);
	} else if (!c->json) {
		long long reviews = (long long)field_int(result, "reviews");

		fprintf(c->out.file, "The review record of run %lld is whole: %lld review%s, every hash fits.\n", (long long)run, reviews,
			reviews == 1 ? "" : "s");
	}
	json_decref(result);
	return status;
}

static const struct {
	const char *name;
	int (*run)(struct client *c, int64_t run);
} actions[] = { { "show", show }, { "export", export }, { "verify", verify } };

int review_command(struct client *c)
{
	int64_t run;

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strcmp(actions[i].name, c->options.arguments[0]) != 0)
			continue;
		return client_parse_run(c->options.arguments[1], &run, NULL) == 0 ? actions[i].run(c, run) : EXIT_USAGE;
	}
	warnx("review %s is unknown; it is \"rlctl review %s\"", c->options.arguments[0], c->command->usage);
	return EXIT_USAGE;
}
