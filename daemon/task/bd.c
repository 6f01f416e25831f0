/* SPDX-License-Identifier: MIT */
/* The program bd: its command lines, and the meaning of its answers. */
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "child/child.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "task/bead.h"
#include "task/task_op_int.h"

#define OUTPUT_MAX ((size_t)64 * 1024 * 1024)
#define STDERR_MAX 65536
#define MESSAGE_MAX 600			/* limit for bd's message in an error */

/* ---- running it ---- */

/* The answer of a bd process. */
struct answer {
	const char *name;	/* "bd ready" */
	bool ok;		/* it exited with 0 */
	bool killed;
	char *text;		/* stdout */
	json_t *json;		/* likewise, NULL: unreadable, `said` tells why */
	char *said;
};

static void answer_release(struct answer *a)
{
	json_decref(a->json);
	free(a->text);
	free(a->said);
	*a = (struct answer){ 0 };
}

static const char *const environment[] = {
	"LC_ALL=C",
	"NO_COLOR=1",
	"BEADS_NO_DAEMON=1",	/* older versions would leave a process running */
	NULL
};

/* Its stderr, "" if empty. */
static char *words_of(const struct child_end *end)
{
	size_t size = end->err.size < STDERR_MAX ? end->err.size : STDERR_MAX;

	while (size > 0 && (end->err.data[size - 1] == '\n' || end->err.data[size - 1] == ' '))
		size--;
	return xmemdup0(end->err.data != NULL ? end->err.data : "", size);
}

static void read_answer(struct answer *a, struct child_end *end)
{
	size_t size;

	a->ok = end->error == 0 && WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0;
	a->killed = end->error == 0 && WIFSIGNALED(end->status);
	if (end->error != 0) {
		a->said = xasprintf("%s: %s", end->what, host_words(end->error));
		return;
	}
	if (end->cut || end->out.size > OUTPUT_MAX) {
		a->said = xstrdup("bd printed more than 64 MiB");
		return;
	}
	a->text = buf_take(&end->out, &size);
	a->json = bd_answer(a->text, size, &a->said);
	/* an error is on stderr, or an object on stdout, or both */
	if (!a->ok) {
		char *words = words_of(end);

		if (words[0] != '\0' || a->said == NULL) {
			free(a->said);
			a->said = words;
		} else {
			free(words);
		}
	}
}

/* Takes ownership of text. */
static void bd_add(char ***list, char *text)
{
	strings_append(list, text);
	free(text);
}

static char **environment_of(const struct task_op *op)
{
	char **more = NULL, **env;

	for (size_t i = 0; environment[i] != NULL; i++)
		strings_append(&more, environment[i]);
	bd_add(&more, xasprintf("PATH=%s", op->spec.search));
	if (op->spec.actor != NULL) {
		bd_add(&more, xasprintf("BEADS_ACTOR=%s", op->spec.actor));
		bd_add(&more, xasprintf("BD_ACTOR=%s", op->spec.actor));
	}
	env = child_environment((const char *const *)more);
	strings_free(more);
	return env;
}

/* Run bd with these words, NULL-terminated. name: for errors. Options with a value are written with
 * "=", so that no value is taken as an option. */
static void bd_run(struct task_op *op, struct answer *a, const char *name, const char *word, ...)
    __attribute__((sentinel));
static void bd_run(struct task_op *op, struct answer *a, const char *name, const char *word, ...)
{
	bool closes;
	struct child child = { .name = name, .cwd = op->spec.path, .output = -1, .keep = OUTPUT_MAX };
	struct child_end end;
	va_list ap;

	answer_release(a);
	a->name = name;
	strings_append(&child.argv, op->bd);
	va_start(ap, word);
	for (const char *w = word; w != NULL; w = va_arg(ap, const char *))
		strings_append(&child.argv, w);
	va_end(ap);
	if (op->spec.actor != NULL)
		bd_add(&child.argv, xasprintf("--actor=%s", op->spec.actor));
	closes = strcmp(name, "bd close") == 0;
	if (closes && op->spec.reason != NULL)
		bd_add(&child.argv, xasprintf("--reason=%s", op->spec.reason));
	if (op->spec.task != NULL)
		strings_append(&child.argv, op->spec.task);
	child.env = environment_of(op);
	child_run(&child, &end);
	read_answer(a, &end);
	child_end_release(&end);
	strings_free(child.env);
	strings_free(child.argv);
}

/* ---- why it failed ---- */

#define BUSY "find out which other program keeps its database busy"

/* What bd's message tells about a failure: whether it is temporary, and the remedy. The first
 * matching row counts. */
static const struct ill {
	const char *sign;
	enum task_trouble trouble;
	int fault;		/* errno of a host fault; 0: none */
	const char *remedy;
} ills[] = {
	{ "blocked by open issues", TROUBLE_LASTS, 0,
	    "close those first, or remove the dependency" },
	{ "open child issue", TROUBLE_LASTS, 0, "close its children first" },
	{ "no beads database", TROUBLE_LASTS, 0,
	    "run `bd init` there, or name a directory that contains beads" },
	{ "unknown flag", TROUBLE_LASTS, 0, "install a newer bd" },
	{ "unknown command", TROUBLE_LASTS, 0, "install a newer bd" },
	{ "no issues found matching", TROUBLE_LASTS, 0,
	    "see `bd show`: the issue no longer exists" },
	{ "database or disk is full", TROUBLE_PASSES, ENOSPC, "make room on the disk" },
	{ "disk I/O error", TROUBLE_PASSES, EIO, "check the disk" },
	{ "locked", TROUBLE_PASSES, 0, BUSY },
	{ "busy", TROUBLE_PASSES, 0, BUSY },
	{ "timeout", TROUBLE_PASSES, 0, BUSY },
	{ "timed out", TROUBLE_PASSES, 0, BUSY },
	{ "deadline exceeded", TROUBLE_PASSES, 0, BUSY },
	{ "connection refused", TROUBLE_PASSES, 0, "start the server of its database" },
	{ "connection reset", TROUBLE_PASSES, 0, "check the server of its database" },
	{ "", TROUBLE_UNCLEAR, 0, "see `bd doctor` there" },
};

static const struct ill *ill_of(const char *said)
{
	size_t i = 0;

	while (strstr(said, ills[i].sign) == NULL)
		i++;
	return &ills[i];
}

/* said: the decisive part of the message. */
static int fail_answer(struct task_op *op, const struct answer *a, const char *said)
{
	char *line = xmemdup0(said, strnlen(said, MESSAGE_MAX)), *words, *id = NULL;
	int fault = host_fault_said(said, false);

	for (char *c = line; *c != '\0'; c++)
		if (*c == '\n')
			*c = ' ';
	words = text_escape(line, strlen(line), false);
	if (op->spec.task != NULL)
		id = text_escape(op->spec.task, strlen(op->spec.task), false);
	task_op_fail(op, xasprintf("%s%s%s in %s: %s; %s", a->name, id != NULL ? " " : "",
	    id != NULL ? id : "", op->spec.path,
	    words[0] != '\0' ? words : "it failed without output", ill_of(words)->remedy));
	op->result.trouble = a->killed ? TROUBLE_PASSES : (int)ill_of(said)->trouble;
	op->result.fault = fault != 0 ? fault : ill_of(said)->fault;
	free(line);
	free(words);
	free(id);
	return -1;
}

/* The operation's issue in the answer; NULL: it is missing. */
static const json_t *issue_of(const struct task_op *op, const json_t *answer)
{
	const json_t *one;
	size_t i;

	json_array_foreach(answer, i, one) {
		const char *id = json_string_value(json_object_get(one, "id"));

		if (id != NULL && strcmp(id, op->spec.task) == 0)
			return one;
	}
	return NULL;
}

static bool member_is(const json_t *object, const char *name, const char *text)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value != NULL && strcmp(value, text) == 0;
}

/* ---- the operations ---- */

/* Up to the end of the line, for people. */
static char *rest_of_line(const char *text)
{
	size_t n = strcspn(text, "\r\n");

	return text_escape(text, n < MESSAGE_MAX ? n : MESSAGE_MAX, false);
}

static int claim_issue(struct task_op *op, struct answer *a)
{
	static const char by[] = "already claimed by ", state[] = "not claimable: ";
	const char *who;
	char *state_now;

	bd_run(op, a, "bd update", "update", "--json", "--claim", NULL);
	if (a->ok && a->json != NULL)
		return member_is(issue_of(op, a->json), "status", "in_progress") ? 0 :
		    fail_answer(op, a, "it did not confirm that the issue is in progress");
	if ((who = strstr(a->said, by)) != NULL) {
		op->result.taken = rest_of_line(who + strlen(by));
		/* claimed by this very operation, before it was interrupted */
		if (op->spec.actor != NULL && strcmp(op->result.taken, op->spec.actor) == 0)
			text_set(&op->result.taken, NULL);
	} else if ((who = strstr(a->said, state)) != NULL) {
		state_now = rest_of_line(who + strlen(state));
		op->result.taken = xasprintf("not claimed, but it has %s", state_now);
		free(state_now);
	} else {
		return fail_answer(op, a, a->said);
	}
	return 0;
}

static int close_issue(struct task_op *op, struct answer *a)
{
	bd_run(op, a, "bd close", "close", "--json", NULL);
	if (a->ok && member_is(issue_of(op, a->json), "status", "closed"))
		return 0;
	/* it may have been closed before, by the agent, or by this operation before the daemon
	 * died */
	fail_answer(op, a, a->ok && a->json != NULL ?
	    "it did not confirm that the issue is closed" : a->said);
	bd_run(op, a, "bd show", "show", "--json", NULL);
	if (!a->ok || !member_is(issue_of(op, a->json), "status", "closed"))
		return -1;
	text_set(&op->result.error, NULL);
	return 0;
}

static int release_issue(struct task_op *op, struct answer *a)
{
	const json_t *issue;
	const char *assignee;

	bd_run(op, a, "bd show", "show", "--json", NULL);
	issue = issue_of(op, a->json);
	assignee = json_string_value(json_object_get(issue, "assignee"));
	if (!a->ok || issue == NULL)
		return fail_answer(op, a, a->json != NULL ? "it did not show the issue" : a->said);
	/* leave it with another claimant */
	if (op->spec.actor != NULL && assignee != NULL && assignee[0] != '\0' && strcmp(assignee, op->spec.actor) != 0)
		return 0;
	if (member_is(issue, "status", "open") && (assignee == NULL || assignee[0] == '\0'))
		return 0;
	bd_run(op, a, "bd update", "update", "--json", "--status=open", "--assignee=", NULL);
	if (a->ok && member_is(issue_of(op, a->json), "status", "open"))
		return 0;
	return fail_answer(op, a, a->json != NULL ? "it did not confirm that the issue is open" : a->said);
}

static int load_issues(struct task_op *op, struct answer *a)
{
	char *error;

	/* a number, because older versions list only 10 or 100 by default */
	bd_run(op, a, "bd ready", "ready", "--json", "--limit=1000000", NULL);
	if (!a->ok || a->json == NULL)
		return fail_answer(op, a, a->said);
	if (bd_list(a->json, &op->list, &error) != 0) {
		fail_answer(op, a, error);
		free(error);
		return -1;
	}
	text_set(&op->result.ready, a->text);
	/* only for display: a bd without such an answer still lists what is ready */
	bd_run(op, a, "bd blocked", "blocked", "--json", NULL);
	if (a->ok && a->json != NULL) {
		bd_list_blocked(a->json, &op->list);
		text_set(&op->result.blocked, a->text);
	}
	return 0;
}

int task_op_run(struct task_op *op)
{
	static int (*const runs[TASK_OPS])(struct task_op *op, struct answer *a) = {
		[TASK_OP_LOAD] = load_issues, [TASK_OP_CLAIM] = claim_issue,
		[TASK_OP_CLOSE] = close_issue, [TASK_OP_RELEASE] = release_issue,
	};
	struct answer answer = { 0 };
	int rv;

	if (op->spec.task != NULL && op->spec.task[0] == '-')
		return task_op_fail(op, xasprintf("the id %s begins with a dash, which bd takes as "
		    "an option; rename the issue", op->spec.task));
	rv = runs[op->spec.kind](op, &answer);
	answer_release(&answer);
	return rv;
}
