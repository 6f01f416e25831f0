/* SPDX-License-Identifier: MIT */
/* rlctl review: the reviews of a run, and whether their record is intact. */
#include "client/review_command.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "client/print.h"
#include "client/table.h"
#include "proto/escape.h"
#include "proto/memory.h"

static bool review_is_open(const json_t *finding)
{
	return !field_is(finding, "state", "resolved") && !field_is(finding, "state", "dismissed") &&
	    !field_is(finding, "state", "outvoted") &&
	    !json_is_object(json_object_get(finding, "dismissed"));
}

/* Number of findings to fix. */
static char *review_findings(const json_t *review, const char *key)
{
	const json_t *findings = field_array(review, key);
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(findings); i++)
		count += review_is_open(json_array_get(findings, i));
	return count == 0 ? xstrdup("") : xasprintf("%zu", count);
}

static const struct table_column columns[] = {
	{ "REVIEW", TABLE_RIGHT, cell_number, .key = "iteration" },
	{ "TASK", 0, cell_text, .key = "task_id" },
	{ "DECISION", 0, cell_text, "decision", .paint_of = print_state_paint },
	{ "REVIEWER", 0, cell_text, .key = "reviewer_agent" },
	{ "CODER", 0, cell_text, .key = "coder_agent" },
	{ "FINDINGS", TABLE_RIGHT, review_findings, .key = "findings" },
	{ "FEEDBACK", TABLE_FLEXIBLE, cell_line, .key = "feedback" },
};

void review_print_table(const struct print *p, const json_t *reviews)
{
	table_print_apart(p, columns, ARRAY_SIZE(columns), reviews);
}

/* Multi-line text with an indent. */
static void review_print_indented(const struct print *p, const char *text)
{
	char *safe = text_escape(text, strlen(text), true), *rest = safe, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0' || rest != NULL)
			fprintf(p->file, "%s%s\n", *line == '\0' ? "" : "    ", line);
	free(safe);
}

/* Whether a feedback without file names is identical to its only finding, except for the
 * newline. */
static bool review_says_it_all(const char *feedback, const char *text)
{
	size_t length = strlen(text);

	return strncmp(feedback, text, length) == 0 && feedback[length + strspn(feedback + length, " \t\r\n")] == '\0';
}

/* " (a, b)": the reviewers of a panel that have it; "": there is none. */
static char *review_finding_by(const json_t *finding)
{
	const json_t *names = field_array(finding, "reviewers");
	char *text = xstrdup(""), *more;

	for (size_t i = 0; i < json_array_size(names); i++) {
		more = xasprintf("%s%s%s%s", text, i == 0 ? " (" : ", ", json_string_value(json_array_get(names, i)),
		    i + 1 == json_array_size(names) ? ")" : "");
		free(text);
		text = more;
	}
	return text;
}

static void review_print_finding(const struct print *p, const json_t *finding)
{
	const char *severity = field_text(finding, "severity"),
	           *state = field_text(finding, "state"), *text = field_text(finding, "text");
	const json_t *dismissed = json_object_get(finding, "dismissed"),
	    *disputed = json_object_get(finding, "disputed");
	char *place = cell_place(finding, NULL), *by = review_finding_by(finding);

	fputs("    - ", p->file);
	print_paintedf(p, PAINT_NONE, "%s%s%s%s%.*s%s%s%s%s", place, *place != '\0' ? " " : "",
	    severity, *severity != '\0' ? ": " : "", (int)strcspn(text, "\r\n"), text,
	    *state != '\0' ? " [" : "", state, *state != '\0' ? "]" : "", by);
	fputc('\n', p->file);
	free(by);
	if (json_is_object(dismissed))
		print_paintedf(p, PAINT_NONE, "      dismissed by %s: %.*s\n", field_text(dismissed, "by"),
		    (int)strcspn(field_text(dismissed, "reason"), "\r\n"), field_text(dismissed, "reason"));
	if (json_is_object(disputed))
		print_paintedf(p, PAINT_NONE, "      disputed by %s: %s\n", field_text(disputed, "by"),
		    field_text(disputed, "reason"));
	free(place);
}

/* "    acceptance_criteria_met: true" */
static void review_print_checks(const struct print *p, const json_t *checks)
{
	for (void *i = json_object_iter((json_t *)checks); i != NULL; i = json_object_iter_next((json_t *)checks, i)) {
		char *value = json_dumps(json_object_iter_value(i), JSON_COMPACT | JSON_ENCODE_ANY);

		fputs("    ", p->file);
		print_paintedf(p, strcmp(value, "false") == 0 ? PAINT_YELLOW : PAINT_NONE, "%s: %s",
		    json_object_iter_key(i), value);
		fputc('\n', p->file);
		free(value);
	}
}

void review_print(const struct print *p, const json_t *review)
{
	const char *decision = field_text(review, "decision");
	const json_t *findings = field_array(review, "findings");
	char *age = cell_age(review, "timestamp");
	const char *final = field_true(review, "final") ? ", final" : "";

	fprintf(p->file, "%s %lld  ", *field_text(review, "reviewer") != '\0' ? "Vote in review" : "Review",
	    field_count(review, "iteration"));
	print_painted(p, print_state_paint(decision), decision);
	print_paintedf(p, PAINT_NONE, "  %s by %s, work of %s",
	    field_text(review, "task_id"), field_text(review, "reviewer_agent"),
	    field_text(review, "coder_agent"));
	fprintf(p->file, "%s%s%s%s\n", *age != '\0' ? ", " : "", age, *age != '\0' ? " ago" : "", final);
	review_print_indented(p, field_text(review, "feedback"));
	review_print_checks(p, json_object_get(review, "quality_checks"));
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *finding = json_array_get(findings, i);

		if (json_is_object(json_object_get(finding, "dismissed")) ||
		    json_is_object(json_object_get(finding, "disputed")) ||
		    !review_says_it_all(field_text(review, "feedback"), field_text(finding, "text")))
			review_print_finding(p, finding);
	}
	free(age);
}

static int review_show(struct client *c, int64_t run, const json_t *result)
{
	const json_t *reviews = field_array(result, "reviews");

	for (size_t i = 0; i < json_array_size(reviews); i++)
		review_print(&c->out, json_array_get(reviews, i));
	if (json_array_size(reviews) == 0)
		fprintf(c->talk.file, "Run %lld has no reviews.\n", (long long)run);
	return EXIT_DONE;
}

/* Print the logs unchanged, for other programs, with or without --json. */
static int review_export(struct client *c, int64_t run, const json_t *result)
{
	(void)run;
	print_json_indented(&c->out, result);
	return EXIT_DONE;
}

static void verify_print(struct client *c, int64_t run, const json_t *result)
{
	long long reviews = field_count(result, "reviews");
	const char *missing = field_text(result, "not_covered");
	const json_t *pruned = json_object_get(result, "pruned");

	fprintf(c->out.file, "The review record of run %lld is intact: %lld review%s, all hashes match.\n",
	    (long long)run, reviews, reviews == 1 ? "" : "s");
	if (*field_text(pruned, "at") != '\0')
		fprintf(c->out.file, "It was pruned on %.10s: its files and refs are gone, and were not compared.\n",
		    field_text(pruned, "at"));
	if (*missing != '\0')
		fprintf(c->talk.file, "Not covered: %s.\n", missing);
}

static int review_verify(struct client *c, int64_t run, const json_t *result)
{
	if (field_true(result, "ok"))
		verify_print(c, run, result);
	else if (field_true(result, "kept"))
		message_error("the review record of run %lld is intact, but its result was moved: %s",
		    (long long)run, field_text(result, "message"));
	else
		message_error("the review record of run %lld was altered: %s",
		    (long long)run, field_text(result, "message"));
	return EXIT_DONE;
}

static const struct {
	const char *name, *method, *rows;	/* rows: of a list with pages */
	int (*print)(struct client *c, int64_t run, const json_t *result);
} actions[] = {
	{ "show", "review.list", "reviews", review_show }, { "export", "review.export", NULL, review_export },
	{ "verify", "review.verify", NULL, review_verify },
};

/* "RUN", "RUN/TASK". */
static int review_again(struct client *c)
{
	const char *what = c->options.arguments[1], *slash = strchr(what, '/');
	char *number = slash != NULL ? xmemdup0(what, (size_t)(slash - what)) : xstrdup(what);
	int status, wrong;
	json_t *params, *result;
	int64_t run;

	wrong = client_parse_run(number, &run, NULL);
	free(number);
	if (wrong != 0)
		return EXIT_USAGE;
	status = client_connect(c);
	if (status != 0)
		return status;
	params = json_deep_copy(c->options.params);
	json_object_set_new(params, "run", json_integer(run));
	if (slash != NULL)
		json_object_set_new(params, "task", json_string(slash + 1));
	client_put_environment(c, params);
	result = client_call_json(c, "review.again", params, &status);
	if (result != NULL && !c->json) {
		fprintf(c->talk.file, "The work of run %lld is reviewed as run:\n", (long long)run);
		fflush(c->talk.file);
		fprintf(c->out.file, "%lld\n", field_count(result, "id"));
	}
	json_decref(result);
	return status;
}

int review_command(struct client *c)
{
	int64_t run;
	json_t *result;
	int status;
	size_t i = 0;

	if (strcmp(c->options.arguments[0], "again") == 0)
		return review_again(c);
	while (i < ARRAY_SIZE(actions) && strcmp(actions[i].name, c->options.arguments[0]) != 0)
		i++;
	if (i == ARRAY_SIZE(actions)) {
		message_error("usage: rlctl review %s", c->command->usage);
		return EXIT_USAGE;
	}
	if (client_parse_run(c->options.arguments[1], &run, NULL) != 0)
		return EXIT_USAGE;
	result = actions[i].rows != NULL ?
	    client_list_of_run(c, actions[i].method, actions[i].rows, run, &status) :
	    client_get(c, actions[i].method, "run", run, &status);
	if (result != NULL && c->json)
		print_json(&c->out, result);
	if (result != NULL && !c->json)
		status = actions[i].print(c, run, result);
	if (result != NULL && actions[i].print == review_verify && !field_true(result, "ok"))
		status = EXIT_REFUSED;
	json_decref(result);
	return status;
}
