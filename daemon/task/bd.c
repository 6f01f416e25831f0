/* SPDX-License-Identifier: MIT */
/* The program bd: fixed words, and what its answers mean. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/escape.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"
#include "task/bead.h"
#include "task/op_int.h"

#define OUTPUT_MAX (64 * 1024 * 1024)
#define STDERR_MAX 65536
#define MESSAGE_MAX 600			/* of bd's own words in an error */
#define WORDS 6

typedef enum bd_stage result_fn(struct task_op *op, bool ok, const json_t *answer, const char *said);

static result_fn ready_done, blocked_done, claim_done, close_done, closed_done, show_done, open_done;

enum { WITH_ID = 1, WITH_REASON = 2 };

/* A word of ours that begins with a dash holds its value behind "=", so that no value is taken for an option. */
static const struct {
	const char *name;
	const char *words[WORDS];
	unsigned flags;
	result_fn *done;
} stages[BD_STAGES] = {
	/* a number: older ones list 10 or 100 when they are not told */
	[BD_READY] = { "bd ready", { "ready", "--json", "--limit=1000000" }, 0, ready_done },
	[BD_BLOCKED] = { "bd blocked", { "blocked", "--json" }, 0, blocked_done },
	[BD_CLAIM] = { "bd update", { "update", "--json", "--claim" }, WITH_ID, claim_done },
	[BD_CLOSE] = { "bd close", { "close", "--json" }, WITH_ID | WITH_REASON, close_done },
	[BD_CLOSED] = { "bd show", { "show", "--json" }, WITH_ID, closed_done },
	[BD_SHOW] = { "bd show", { "show", "--json" }, WITH_ID, show_done },
	[BD_OPEN] = { "bd update", { "update", "--json", "--status=open", "--assignee=" }, WITH_ID, open_done },
};

static const char *const environment[] = {
	"LC_ALL=C",
	"NO_COLOR=1",
	"BEADS_NO_DAEMON=1",	/* older ones leave a process behind otherwise */
	NULL
};

static void bd_add(char ***list, char *text)
{
	strings_append(list, text);
	free(text);
}

void bd_prepare(struct task_op *op, struct step_spec *step)
{
	unsigned flags = stages[op->stage].flags;

	strings_free(op->argv);
	strings_free(op->env);
	op->argv = op->env = NULL;
	strings_append(&op->argv, op->bd);
	for (size_t i = 0; i < WORDS && stages[op->stage].words[i] != NULL; i++)
		strings_append(&op->argv, stages[op->stage].words[i]);
	if (op->actor != NULL)
		bd_add(&op->argv, xasprintf("--actor=%s", op->actor));
	if ((flags & WITH_REASON) != 0 && op->reason != NULL)
		bd_add(&op->argv, xasprintf("--reason=%s", op->reason));
	if ((flags & WITH_ID) != 0)
		strings_append(&op->argv, op->task);
	for (size_t i = 0; environment[i] != NULL; i++)
		strings_append(&op->env, environment[i]);
	bd_add(&op->env, xasprintf("PATH=%s", op->search));
	if (op->actor != NULL) {
		bd_add(&op->env, xasprintf("BEADS_ACTOR=%s", op->actor));
		bd_add(&op->env, xasprintf("BD_ACTOR=%s", op->actor));
	}
	*step = (struct step_spec){
		.name = stages[op->stage].name,
		.argv = (const char *const *)op->argv,
		.env = (const char *const *)op->env,
		.cwd = op->path,
		.output_bytes = OUTPUT_MAX,
	};
}

/* ---- what it printed ---- */

/* It was ended because it took too long, whatever it has printed until then. */
static bool was_late(const struct exit_record *record)
{
	return record->by == EXIT_WALL;
}

static bool was_killed(const struct exit_record *record)
{
	return record->how == EXIT_BY_SIGNAL;
}

/* Its stderr, "" when there is none. */
static char *words_of(int dirfd)
{
	char *words;
	size_t size;

	if (output_read_all(dirfd, RECORD_STDERR, STDERR_MAX, &words, &size) != 0)
		return xstrdup("");
	while (size > 0 && (words[size - 1] == '\n' || words[size - 1] == ' '))
		words[--size] = '\0';
	return words;
}

#define BUSY "see which other program keeps its database busy"

/* What bd's words tell of a failure: will it pass, and what is to be done. The first sign that is in them counts. */
static const struct ill {
	const char *sign;
	enum task_trouble trouble;
	int fault;		/* of the host, the errno; 0: none */
	const char *remedy;
} ills[] = {
	{ "blocked by open issues", TROUBLE_LASTS, 0, "close those first, or take the dependency out" },
	{ "open child issue", TROUBLE_LASTS, 0, "close its children first" },
	{ "no beads database", TROUBLE_LASTS, 0, "run `bd init` there, or name a directory that has beads" },
	{ "unknown flag", TROUBLE_LASTS, 0, "install a newer bd" },
	{ "unknown command", TROUBLE_LASTS, 0, "install a newer bd" },
	{ "no issues found matching", TROUBLE_LASTS, 0, "see `bd show`: the issue is not there any more" },
	{ "database or disk is full", TROUBLE_PASSES, ENOSPC, "make room on the disk" },
	{ "disk I/O error", TROUBLE_PASSES, EIO, "check the disk" },
	{ "locked", TROUBLE_PASSES, 0, BUSY },
	{ "busy", TROUBLE_PASSES, 0, BUSY },
	{ "timeout", TROUBLE_PASSES, 0, BUSY },
	{ "timed out", TROUBLE_PASSES, 0, BUSY },
	{ "deadline exceeded", TROUBLE_PASSES, 0, BUSY },
	{ "connection refused", TROUBLE_PASSES, 0, "start the server of its database" },
	{ "connection reset", TROUBLE_PASSES, 0, "see the server of its database" },
	{ "", TROUBLE_UNCLEAR, 0, "see what `bd doctor` says there" },
};

static const struct ill *ill_of(const char *said)
{
	size_t i = 0;

	while (strstr(said, ills[i].sign) == NULL)
		i++;
	return &ills[i];
}

/* Will it pass, and is the host to blame? */
static void weigh(struct task_op *op, const char *said)
{
	struct exit_record record;
	int fault = host_fault_said(said, false);

	op->trouble = ill_of(said)->trouble;
	op->fault = fault != 0 ? fault : ill_of(said)->fault;
	if (exit_record_read(op->dirfd, &record) == 0 && (was_late(&record) || was_killed(&record)))
		op->trouble = TROUBLE_PASSES;
}

static enum bd_stage bd_failed(struct task_op *op, const char *said)
{
	char *line = xmemdup0(said, strnlen(said, MESSAGE_MAX)), *words, *id = NULL;

	for (char *c = line; *c != '\0'; c++)
		if (*c == '\n')
			*c = ' ';
	words = text_escape(line, strlen(line), false);
	if ((stages[op->stage].flags & WITH_ID) != 0)
		id = text_escape(op->task, strlen(op->task), false);
	op_fail_with(op, xasprintf("%s%s%s in %s: %s; %s", stages[op->stage].name, id != NULL ? " " : "", id != NULL ? id : "", op->path,
	    words[0] != '\0' ? words : "it failed without a word", ill_of(words)->remedy));
	weigh(op, said);
	free(line);
	free(words);
	free(id);
	return BD_NONE;
}

/* The issue of the operation among those of answer; NULL: it is not there. */
static const json_t *issue_of(const struct task_op *op, const json_t *answer)
{
	const json_t *one;
	size_t i;

	json_array_foreach(answer, i, one) {
		const char *id = json_string_value(json_object_get(one, "id"));

		if (id != NULL && strcmp(id, op->task) == 0)
			return one;
	}
	return NULL;
}

static bool member_is(const json_t *object, const char *name, const char *text)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value != NULL && strcmp(value, text) == 0;
}

/* ---- one stage after the other. answer: what it printed, NULL: nothing that can be read, and said says why. ---- */

/* To the end of the line, for people. */
static char *rest_of_line(const char *text)
{
	size_t n = strcspn(text, "\r\n");

	return text_escape(text, n < MESSAGE_MAX ? n : MESSAGE_MAX, false);
}

static enum bd_stage claim_done(struct task_op *op, bool ok, const json_t *answer, const char *said)
{
	static const char by[] = "already claimed by ", state[] = "not claimable: ";
	const char *who;
	char *state_now;

	if (ok && answer != NULL)
		return member_is(issue_of(op, answer), "status", "in_progress") ? BD_NONE : bd_failed(op, "it did not say that the issue is in progress now");
	if ((who = strstr(said, by)) != NULL) {
		op->taken = rest_of_line(who + strlen(by));
		/* this very operation, before it was interrupted */
		if (op->actor != NULL && strcmp(op->taken, op->actor) == 0) {
			free(op->taken);
			op->taken = NULL;
		}
	} else if ((who = strstr(said, state)) != NULL) {
		state_now = rest_of_line(who + strlen(state));
		op->taken = xasprintf("nobody, and it has %s", state_now);
		free(state_now);
	} else {
		return bd_failed(op, said);
	}
	return BD_NONE;
}

static enum bd_stage close_done(struct task_op *op, bool ok, const json_t *answer, const char *said)
{
	if (ok && member_is(issue_of(op, answer), "status", "closed"))
		return BD_NONE;
	/* it may have been closed before, by the agent or by this very operation before the daemon died */
	bd_failed(op, ok && answer != NULL ? "it did not say that the issue is closed now" : said);
	return BD_CLOSED;
}

static enum bd_stage closed_done(struct task_op *op, bool ok, const json_t *answer, const char *said)
{
	(void)said;
	if (ok && member_is(issue_of(op, answer), "status", "closed"))
		op_fail_with(op, NULL);
	return BD_NONE;
}

static enum bd_stage show_done(struct task_op *op, bool ok, const json_t *answer, const char *said)
{
	const json_t *issue = issue_of(op, answer);
	const char *assignee = json_string_value(json_object_get(issue, "assignee"));

	if (!ok || issue == NULL)
		return bd_failed(op, answer != NULL ? "it did not show the issue" : said);
	/* whoever has it by now keeps it */
	if (op->actor != NULL && assignee != NULL && assignee[0] != '\0' && strcmp(assignee, op->actor) != 0)
		return BD_NONE;
	return member_is(issue, "status", "open") && (assignee == NULL || assignee[0] == '\0') ? BD_NONE : BD_OPEN;
}

static enum bd_stage open_done(struct task_op *op, bool ok, const json_t *answer, const char *said)
{
	if (ok && member_is(issue_of(op, answer), "status", "open"))
		return BD_NONE;
	return bd_failed(op, answer != NULL ? "it did not say that the issue is open now" : said);
}

static enum bd_stage ready_done(struct task_op *op, bool ok, const json_t *answer, const char *said)
{
	char *error;

	if (!ok || answer == NULL)
		return bd_failed(op, said);
	if (bd_list(answer, true, &op->list, &error) != 0) {
		bd_failed(op, error);
		free(error);
		return BD_NONE;
	}
	return BD_BLOCKED;
}

/* Only people are told of these: one that has no such answer still has what is ready done. */
static enum bd_stage blocked_done(struct task_op *op, bool ok, const json_t *answer, const char *said)
{
	(void)said;
	if (ok && answer != NULL)
		bd_list_blocked(answer, &op->list);
	return BD_NONE;
}

/* ---- the face ---- */

void bd_take(struct task_op *op, const char *ready, const char *blocked)
{
	char *words = NULL;
	json_t *answer = ready != NULL ? bd_answer(ready, strlen(ready), &words) : NULL;

	if (answer != NULL)
		bd_list(answer, true, &op->list, &words);
	json_decref(answer);
	answer = blocked != NULL ? bd_answer(blocked, strlen(blocked), &words) : NULL;
	if (answer != NULL)
		bd_list_blocked(answer, &op->list);
	json_decref(answer);
	free(words);
}

enum bd_stage bd_begin(struct task_op *op)
{
	static const enum bd_stage first[TASK_OPS] = {
		[TASK_OP_LOAD] = BD_READY, [TASK_OP_CLAIM] = BD_CLAIM, [TASK_OP_CLOSE] = BD_CLOSE, [TASK_OP_RELEASE] = BD_SHOW,
	};

	if (op->task != NULL && op->task[0] == '-')
		return op_fail_with(op, xasprintf("the id %s begins with a dash, which bd takes for an option; rename the issue", op->task));
	return first[op->kind];
}

enum bd_stage bd_result(struct task_op *op, bool ok)
{
	char *out, *said = NULL;
	size_t size;
	json_t *answer = NULL;
	enum bd_stage next;
	struct exit_record record;
	bool late = !ok && exit_record_read(op->dirfd, &record) == 0 && was_late(&record);
	int rv = output_read_all(op->dirfd, RECORD_STDOUT, OUTPUT_MAX + 1, &out, &size);

	if (rv == -ENODATA)
		said = xstrdup("bd printed more than 64 MiB");
	else if (rv != 0)
		said = xasprintf("its output cannot be read: %s", host_words(-rv));
	else if (late)
		said = xstrdup("it did not end in time, and was killed");
	else
		answer = bd_answer(out, size, &said);
	if (ok && answer != NULL && op->stage == BD_READY)
		text_set(&op->ready, out);
	if (ok && answer != NULL && op->stage == BD_BLOCKED)
		text_set(&op->blocked, out);
	/* an error is on stderr, or an object on stdout, or both */
	if (!ok && rv == 0 && !late) {
		char *words = words_of(op->dirfd);

		if (words[0] != '\0' || said == NULL) {
			free(said);
			said = words;
		} else {
			free(words);
		}
	}
	next = stages[op->stage].done(op, ok, answer, said);
	json_decref(answer);
	free(out);
	free(said);
	return next;
}
