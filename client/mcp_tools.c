/* SPDX-License-Identifier: MIT */
#include "client/mcp_tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/field.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/schema_json.h"

/* Clients give a request up after a minute, unless told otherwise. */
#define WAIT_MS 50000
#define WAIT_MS_MAX (10 * 60 * 1000)
#define LOG_BYTES 65536

#define END { .name = NULL }
#define RUN(param, text) \
	{ .name = (param), .kind = SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = (text) }
#define TEXT(param, bytes, text) \
	{ .name = (param), .kind = SCHEMA_TEXT, .min = 1, .max = (bytes), .help = (text) }
#define INT(param, least, most, text) \
	{ .name = (param), .kind = SCHEMA_INT, .min = (least), .max = (most), .help = (text) }
#define CHOICE(param, of, text) \
	{ .name = (param), .kind = SCHEMA_CHOICE, .choices = &(of), .help = (text) }

static const char *const isolation_words[] = { "auto", "shared", "worktree" };
static const char *const commit_words[] = { "none", "auto", "agent" };
static const char *const stream_words[] = { "stdout", "stderr", "answer", "prompt" };
static const char *const hold_words[] = { "open", "approved", "rejected", "rework", "reworked", "cancelled" };
static const char *const decision_words[] = { "approve", "reject", "rework" };
static const struct state_names isolations = { "isolation", isolation_words, ARRAY_SIZE(isolation_words), NULL };
static const struct state_names commits = { "commit", commit_words, ARRAY_SIZE(commit_words), NULL };
static const struct state_names streams = { "stream", stream_words, ARRAY_SIZE(stream_words), NULL };
static const struct state_names hold_states = { "hold state", hold_words, ARRAY_SIZE(hold_words), NULL };
static const struct state_names decisions = { "decision", decision_words, ARRAY_SIZE(decision_words), NULL };

static const struct schema review_params[] = {
	{ .name = "enabled", .kind = SCHEMA_BOOL, .help = "whether the work is reviewed" },
	TEXT("profile", 64, "verdict, decision, file, comments, exit, or a profile of the configuration"),
	INT("max_fixes", 0, 1000, "maximum number of fix rounds; 0: review once"),
	END
};

static const struct schema submit_params[] = {
	{ .name = "task", .kind = SCHEMA_TEXT, .required = true, .min = 1, .max = 512 * 1024,
	    .help = "what the agent shall do, as complete as its prompt must be" },
	TEXT("workdir", 4096, "absolute path of the directory to work in; default: where this server was started"),
	TEXT("agent", 64, "agent that implements; default: as configured"),
	TEXT("model", 256, "its model"),
	{ .name = "review", .kind = SCHEMA_OBJECT, .members = review_params, .help = "how the work is reviewed" },
	{ .name = "checks", .kind = SCHEMA_TEXTS, .help = "shell commands that must succeed before each review" },
	CHOICE("isolation", isolations, "work in the directory itself, or in a git work tree"),
	CHOICE("commit", commits, "whether to commit the result, and how"),
	TEXT("base", 1024, "branch or commit to compare the work with"),
	TEXT("group", 64, "group whose limits apply"),
	INT("priority", -100, 100, "higher starts first"),
	INT("after", 1, INT64_MAX, "run that must succeed before this one starts"),
	{ .name = "max_cost", .kind = SCHEMA_MONEY, .min = 1, .max = 1000000000, .help = "cost limit in US dollars" },
	{ .name = "labels", .kind = SCHEMA_MAP, .max = 32, .bytes = 256, .help = "names and texts to find the run by" },
	TEXT("key", 256, "the same key returns the same run again"),
	{ .name = "check", .kind = SCHEMA_BOOL, .help = "only validate; submit nothing" },
	END
};

static const struct schema wait_params[] = {
	{ .name = "ids", .kind = SCHEMA_IDS, .required = true, .min = 1, .max = 256, .help = "numbers of the runs" },
	INT("timeout_ms", 0, WAIT_MS_MAX, "maximum time to wait; default 50000"),
	END
};

static const struct schema show_params[] = { RUN("id", "number of the run"), END };

static const struct schema logs_params[] = {
	RUN("run", "number of the run"),
	INT("attempt", 1, INT64_MAX, "number of the attempt within the run; default: the newest"),
	CHOICE("stream", streams, "what to read; default stdout"),
	INT("offset", 0, INT64_MAX, "first byte; default 0; continue at next of the last answer"),
	INT("limit", 1, 262144, "maximum number of bytes; default 65536"),
	END
};

static const struct schema findings_params[] = {
	RUN("run", "number of the run"),
	TEXT("task", 256, "only findings of this task"),
	END
};

static const struct schema holds_params[] = {
	INT("run", 1, INT64_MAX, "only holds of this run"),
	CHOICE("state", hold_states, "only holds in this state; without it, of any"),
	INT("limit", 1, 100, "maximum number; default 20"),
	INT("cursor", 1, INT64_MAX, "next of the previous page"),
	END
};

static const struct schema decide_params[] = {
	RUN("id", "number of the hold"),
	{ .name = "decision", .kind = SCHEMA_CHOICE, .required = true, .choices = &decisions,
	    .help = "approve: accept the work; reject: the task fails; rework: fix it by the message" },
	TEXT("message", 256 * 1024, "the reason; for rework the instructions to the fixer"),
	END
};

static void set_default(json_t *arguments, const char *name, json_t *value)
{
	if (json_object_get(arguments, name) == NULL)
		json_object_set_new(arguments, name, value);
	else
		json_decref(value);
}

static const char *tool_fail(struct call_error *error, int code, const char *field, const char *message)
{
	*error = (struct call_error){ .code = code };
	strlcpy(error->message, message, sizeof(error->message));
	strlcpy(error->field, field, sizeof(error->field));
	return NULL;
}

/* With a key, so that a repeated call makes no second run. */
static const char *prepare_submit(struct mcp_link *l, json_t *arguments, struct call_error *error)
{
	json_t *environment = mcp_link_environment(l, error);
	char here[4096], *key;

	if (environment == NULL)
		return NULL;
	json_object_set_new(arguments, "environment", environment);
	if (json_is_null(environment))
		json_object_del(arguments, "environment");
	else if (getcwd(here, sizeof(here)) != NULL)
		set_default(arguments, "workdir", json_string(here));
	key = xasprintf("mcp-%08x%08x%08x%08x", arc4random(), arc4random(), arc4random(), arc4random());
	set_default(arguments, "key", json_string(key));
	free(key);
	return "run.submit";
}

static const char *prepare_wait(struct mcp_link *l, json_t *arguments, struct call_error *error)
{
	(void)l;
	(void)error;
	set_default(arguments, "timeout_ms", json_integer(WAIT_MS));
	return "run.wait";
}

/* The id of an attempt by its number in the run. */
static const char *prepare_logs(struct mcp_link *l, json_t *arguments, struct call_error *error)
{
	json_t *list = mcp_link_call(l, "attempt.list", json_pack("{s:O}", "run", json_object_get(arguments, "run")),
	    true, error);
	const json_t *attempts = field_array(list, "attempts"), *number = json_object_get(arguments, "attempt"),
	    *attempt = number != NULL ? field_find(attempts, "number", json_integer_value(number))
	                              : json_array_get(attempts, json_array_size(attempts) - 1);

	if (attempt == NULL && list != NULL)
		tool_fail(error, RPC_NOT_FOUND, "attempt",
		    number != NULL ? "the run has no attempt of this number; the tool show says how many it has"
		                   : "the run has no attempt yet");
	if (attempt != NULL) {
		json_object_set(arguments, "id", json_object_get(attempt, "id"));
		json_object_del(arguments, "run");
		json_object_del(arguments, "attempt");
		set_default(arguments, "limit", json_integer(LOG_BYTES));
	}
	json_decref(list);
	return attempt != NULL ? "attempt.output" : NULL;
}

static const char *prepare_decide(struct mcp_link *l, json_t *arguments, struct call_error *error)
{
	static const char *const methods[] = { "hold.approve", "hold.reject", "hold.rework" };
	int decision = state_value(&decisions, field_text(arguments, "decision"));

	(void)l;
	(void)error;
	json_object_del(arguments, "decision");
	return methods[decision];
}

const struct mcp_tool mcp_tools[] = {
	{ "submit", "Put a task in the queue: an agent implements it, and a reviewer judges the work. Answers "
	    "at once with the id of the run.", submit_params, NULL, prepare_submit, .repeats = true },
	{ "wait", "Wait until all of these runs have ended or are held for a decision. Where timed_out is true, "
	    "call it again.", wait_params, NULL, prepare_wait, .reads = true, .repeats = true, .waits = true },
	{ "show", "A run: its state, why it waits or ended, its tasks, open holds, cost, and how to take the result.",
	    show_params, "run.get", .reads = true, .repeats = true },
	{ "logs", "Output of an attempt of a run, piece by piece.", logs_params, NULL, prepare_logs, .text = "data",
	    .reads = true, .repeats = true },
	{ "findings", "What the reviews of a run found and is not fixed yet, and what users dismissed.",
	    findings_params, "finding.list", .reads = true, .repeats = true },
	{ "holds", "Work that waits for a decision, or did, newest first, with its reviews.", holds_params, "hold.list",
	    .reads = true, .repeats = true },
	{ "decide", "Decide an open hold. It counts as the decision of the user whose daemon this is.",
	    decide_params, NULL, prepare_decide, .text = NULL },
	{ .name = NULL },
};

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (const struct mcp_tool *tool = mcp_tools; tool->name != NULL; tool++)
		if (strcmp(tool->name, name) == 0)
			return tool;
	return NULL;
}

json_t *mcp_tool_json(const struct mcp_tool *tool)
{
	return json_pack("{s:s, s:s, s:o, s:{s:b, s:b, s:b, s:b}}", "name", tool->name, "description", tool->help,
	    "inputSchema", schema_json(&(struct schema){ .kind = SCHEMA_OBJECT, .members = tool->params }, NULL),
	    "annotations", "readOnlyHint", tool->reads, "destructiveHint", !tool->reads && !tool->repeats,
	    "idempotentHint", tool->reads, "openWorldHint", !tool->reads);
}

static json_t *text_block(const char *text, size_t size)
{
	return json_pack("{s:s, s:s%}", "type", "text", "text", text, size);
}

static json_t *tool_error(const struct call_error *error)
{
	bool named = *error->field != '\0' && strncmp(error->message, error->field, strlen(error->field)) != 0;
	char *text = xasprintf("%s%s%s%s%s", named ? error->field : "", named ? ": " : "", error->message,
	    *error->hint != '\0' ? "\n" : "", error->hint);
	json_t *result = json_pack("{s:[o], s:b}", "content", text_block(text, strlen(text)), "isError", 1);

	free(text);
	return result;
}

/* One block with the result as JSON, after one with the text that it contains, if any. */
static json_t *tool_result(const struct mcp_tool *tool, const json_t *result)
{
	const json_t *shown = tool->text != NULL ? json_object_get(result, tool->text) : NULL;
	json_t *rest = json_copy((json_t *)result), *content = json_array();
	char *text;

	if (shown != NULL) {
		json_array_append_new(content, text_block(json_string_value(shown), json_string_length(shown)));
		json_object_del(rest, tool->text);
	}
	text = json_dumps(rest, JSON_COMPACT);
	json_array_append_new(content, text_block(text, strlen(text)));
	free(text);
	json_decref(rest);
	return json_pack("{s:o, s:O}", "content", content, "structuredContent", result);
}

json_t *mcp_tool_call(const struct mcp_tool *tool, struct mcp_link *l, json_t *arguments)
{
	struct schema_error wrong = { .object = "an object",
		.unknown = "is no argument of this tool; tools/list shows its inputSchema" };
	struct call_error error = { .code = 0 };
	const char *method = tool->method;
	json_t *result, *answer;

	if (!schema_check_members(tool->params, arguments, &wrong)) {
		tool_fail(&error, RPC_INVALID_PARAMS, wrong.field, wrong.text);
		return tool_error(&error);
	}
	if (tool->prepare != NULL)
		method = tool->prepare(l, arguments, &error);
	if (method == NULL)
		return tool_error(&error);
	result = mcp_link_call(l, method, json_incref(arguments), tool->repeats, &error);
	answer = result != NULL ? tool_result(tool, result) : tool_error(&error);
	json_decref(result);
	return answer;
}
