/* SPDX-License-Identifier: MIT */
/* rlctl: the table of commands, and the dispatch to one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/command_options.h"
#include "client/commands.h"
#include "client/host.h"
#include "client/message.h"
#include "client/silence.h"
#include "proto/call.h"
#include "proto/json_memory.h"
#include "proto/memory.h"
#include "proto/near.h"
#include "proto/std_fds.h"

static const struct option_row list_options[] = {
	{ "state", 0, OPTION_CHOICE, "queued|running|paused|held|succeeded|failed|cancelled",
	    "state", NULL, "only runs in this state" },
	{ "workdir", 'C', OPTION_DIRECTORY, "DIR", "workdir", NULL, "only runs in this directory or below it" },
	{ "owner", 0, OPTION_USER, "USER", "owner", NULL, "only runs that this user submitted" },
	{ "group", 0, OPTION_TEXT, "GROUP", "group", NULL, "only runs of this group" },
	{ "label", 0, OPTION_LABEL, "NAME=VALUE", "labels", NULL,
	    "only runs with this label (repeatable: with all of them)" },
	{ "text", 0, OPTION_TEXT, "TEXT", "text", NULL, "only runs with this text in the title of a task" },
	{ "source", 0, OPTION_CHOICE, "prompt|beads|stories|workflow", "source", NULL,
	    "only runs whose tasks come from this source" },
	{ "since", 0, OPTION_TEXT, "TIME", "since", NULL, "only runs submitted at this time or later" },
	{ "limit", 'n', OPTION_COUNT, "N", "limit", NULL, "at most N runs (default 50)" },
	{ "before", 0, OPTION_COUNT, "RUN", "cursor", NULL, "only runs older than this one" },
	{ .name = NULL },
};

static const struct option_row wait_options[] = {
	{ "timeout", 0, OPTION_DURATION, "DUR", NULL, NULL, "give up after this time, with exit code 124" },
	{ .name = NULL },
};

static const struct option_row logs_options[] = {
	{ "follow", 'f', OPTION_TRUE, NULL, NULL, NULL, "follow until the end" },
	{ "stream", 0, OPTION_CHOICE, "stdout|stderr|answer", NULL, NULL,
	    "only this stream (default: stdout and stderr)" },
	{ "raw", 0, OPTION_TRUE, NULL, NULL, NULL,
	    "the output as the agents print it, as in a pipe" },
	{ "words", 0, OPTION_TRUE, NULL, NULL, NULL,
	    "as a conversation, as on a terminal: what was said, and which tools were used" },
	{ .name = NULL },
};

static const struct option_row finding_options[] = {
	{ "reason", 0, OPTION_TEXT, "TEXT", NULL, NULL,
	    "dismiss: why the finding need not be fixed; fixers and reviewers are told" },
	{ .name = NULL },
};

static const struct option_row hold_options[] = {
	{ "message", 'm', OPTION_TEXT, "TEXT", NULL, NULL,
	    "reason; for rework: instructions; for answer: the answer; - reads standard input" },
	{ "state", 0, OPTION_CHOICE, "open|approved|rejected|rework|reworked|cancelled|all", NULL,
	    NULL, "list: holds in this state (default: open)" },
	{ "run", 0, OPTION_TEXT, "RUN", NULL, NULL, "list: only holds of this run" },
	{ "limit", 'n', OPTION_COUNT, "N", "limit", NULL, "list: at most N holds (default 20)" },
	{ "before", 0, OPTION_COUNT, "HOLD", "cursor", NULL, "list: only holds older than this one" },
	{ .name = NULL },
};

static const struct option_row group_options[] = {
	{ "slots", 0, OPTION_TEXT, "N|default", NULL, NULL,
	    "set: slots for all runs of the group; default: as configured" },
	{ .name = NULL },
};

static const struct option_row cooldown_options[] = {
	{ "message", 'm', OPTION_TEXT, "TEXT", NULL, NULL,
	    "set: reason, shown to users whose runs wait" },
	{ .name = NULL },
};

static const struct option_row diff_options[] = {
	{ "stat", 0, OPTION_TRUE, NULL, NULL, NULL, "only the number of changed lines of each file" },
	{ .name = NULL },
};

static const struct option_row salvage_options[] = {
	{ "limit", 'n', OPTION_COUNT, "N", "limit", NULL, "list: at most N entries (default 50)" },
	{ "before", 0, OPTION_COUNT, "ID", "cursor", NULL,
	    "list: only entries older than this one" },
	{ .name = NULL },
};

static const struct option_row verify_options[] = {
	{ "allowed-signers", 0, OPTION_TEXT, "FILE", NULL, NULL,
	    "keys that may attest, as in ssh-keygen(1), ALLOWED SIGNERS" },
	{ "notes", 0, OPTION_TEXT, "REVISION", NULL, NULL,
	    "where the notes are (default: refs/notes/rld); in a pre-receive hook, what is pushed" },
	{ "record", 0, OPTION_TRUE, NULL, NULL, NULL,
	    "also ask the daemon whether its record still is as attested" },
	{ .name = NULL },
};

static const struct option_row report_options[] = {
	{ "format", 0, OPTION_CHOICE, "text|json|html", NULL, NULL,
	    "for people (default), for programs, or as one page for a browser" },
	{ "output", 'o', OPTION_TEXT, "FILE", NULL, NULL, "write the report to FILE" },
	{ .name = NULL },
};

static const struct option_row change_options[] = {
	{ "priority", 0, OPTION_NUMBER, "N", "priority", NULL, "higher starts first" },
	{ "parallel", 'P', OPTION_POSITIVE, "N", "parallel", NULL,
	    "number of slots from the next iteration on, of a run in work trees" },
	{ "max-cost", 0, OPTION_MONEY, "USD", "max_cost", NULL, "cost limit for all attempts of the run" },
	{ "max-tokens", 0, OPTION_POSITIVE, "N", "max_tokens", NULL, "token limit for all attempts of the run" },
	{ "max-wall", 0, OPTION_DURATION, "DUR", "max_wall", NULL, "time limit of the run" },
	{ "review-max-fix-attempts", 0, OPTION_COUNT, "N", "max_fixes", NULL, "maximum number of fix rounds" },
	{ "timeout", 0, OPTION_DURATION, "DUR", "timeout", NULL, "time limit of each later attempt" },
	{ "idle-timeout", 0, OPTION_DURATION, "DUR", "idle_timeout", NULL,
	    "time limit of each later attempt without progress" },
	{ "disk-floor", 0, OPTION_TEXT, "SIZE", "disk_floor", NULL,
	    "free space below which no attempt starts (500M, 1G)" },
	{ "stories", 0, OPTION_CONTENT, "FILE", "stories_path", NULL,
	    "add the new stories of a JSON PRD to the tasks" },
	{ .name = NULL },
};

static const struct option_row retry_options[] = {
	{ "new-judge", 0, OPTION_TRUE, NULL, "new_judge", NULL,
	    "read the reviewer's prompt, guidelines, conventions and program again" },
	{ "new-setup", 0, OPTION_TRUE, NULL, "new_setup", NULL,
	    "read run.setup, run.copy, run.setup_inputs and review.workspace again" },
	{ "from-scratch", 0, OPTION_TRUE, NULL, "from_scratch", NULL,
	    "implement everything again, instead of continuing with what failed" },
	{ .name = NULL },
};

static const struct option_row review_options[] = {
	{ "reviewer-agent", 0, OPTION_TEXT, "NAME", "reviewer_agent", NULL,
	    "again: agent that reviews (default: the reviewer of the run)" },
	{ .name = NULL },
};

static const struct option_row events_options[] = {
	{ "follow", 'f', OPTION_TRUE, NULL, NULL, NULL, "follow: print new events as they happen" },
	{ "since", 0, OPTION_COUNT, "SEQ", NULL, NULL, "only events after this number" },
	{ "run", 0, OPTION_TEXT, "RUN", NULL, NULL, "only events of this run" },
	{ .name = NULL },
};

static const struct option_row doctor_options[] = {
	{ "deep", 0, OPTION_TRUE, NULL, NULL, NULL,
	    "also run the slow checks: the whole database, the review logs" },
	{ "timeout", 0, OPTION_DURATION, "DUR", NULL, NULL,
	    "time limit for each program's --version (default 20s)" },
	{ .name = NULL },
};

static const struct option_row init_options[] = {
	{ "workdir", 'C', OPTION_DIRECTORY, "DIR", NULL, NULL, "directory of the project (default: the current one)" },
	{ "project", 0, OPTION_TRUE, NULL, NULL, NULL,
	    "also write .rld.toml there: setup, files to copy and checks, as its files suggest" },
	{ "agent", 'a', OPTION_TEXT, "NAME", NULL, NULL,
	    "agent for implementing: one that rld knows, or the path of a program" },
	{ "reviewer-agent", 0, OPTION_TEXT, "NAME", NULL, NULL,
	    "agent for reviewing (default: a second one, if there is one)" },
	{ "yes", 'y', OPTION_TRUE, NULL, NULL, NULL, "do not ask before writing" },
	{ "force", 0, OPTION_TRUE, NULL, NULL, NULL,
	    "replace files that exist; the old ones stay as FILE.old, FILE.old.2, ..." },
	{ "dry-run", 0, OPTION_TRUE, NULL, NULL, NULL, "print everything, write nothing" },
	{ .name = NULL },
};

static const struct option_row prune_options[] = {
	{ "dry-run", 'n', OPTION_TRUE, NULL, "check", NULL, "only say what would go" },
	{ "older", 0, OPTION_DURATION, "AGE", "older", NULL,
	    "runs that succeeded so long ago (30d, 12h; default: keep.age)" },
	{ "failures", 0, OPTION_DURATION, "AGE", "failures", NULL,
	    "runs that failed or were cancelled so long ago (default: keep.failures)" },
	{ "number", 0, OPTION_COUNT, "N", "number", NULL, "keep the newest N ended runs (default: keep.number)" },
	{ "size", 0, OPTION_TEXT, "SIZE", "size", NULL, "keep at most SIZE (500M, 2G; default: keep.size)" },
	{ "unmerged", 0, OPTION_TRUE, NULL, "unmerged", NULL,
	    "also runs whose results are on no branch but rld's; these branches stay" },
	{ .name = NULL },
};

static const struct option_row stop_options[] = {
	{ "drain", 0, OPTION_TRUE, NULL, NULL, NULL,
	    "accept no new work and wait for running agents" },
	{ .name = NULL },
};

static const struct option_row web_options[] = {
	{ "port", 0, OPTION_COUNT, "N", NULL, NULL, "port of 127.0.0.1 (default: a free one)" },
	{ .name = NULL },
};

#define ANY_NUMBER 1000000

static const struct command commands[] = {
	{ "init", init_command, "[options]", "find the agents on this host, and write the first settings",
	    init_options, 0, 0, true },
	{ "run", run_command, "[options] [TASK...]",
	    "submit a run, follow it and print the final answer",
	    options_submit, 0, ANY_NUMBER, false },
	{ "submit", submit_command, "[options] [TASK...]", "queue a run and print its number",
	    options_submit, 0, ANY_NUMBER, false },
	{ "list", list_command, "[options]", "list runs, newest first", list_options, 0, 0, false },
	{ "show", show_command, "RUN[/ATTEMPT]", "show a run or an attempt in detail", NULL, 1, 1, false },
	{ "wait", wait_command, "[options] RUN...", "wait until runs end or are held",
	    wait_options, 1, ANY_NUMBER, false },
	{ "watch", watch_command, "[RUN]", "watch one run, or all unfinished runs", NULL, 0, 1, false },
	{ "logs", logs_command, "[options] RUN[/ATTEMPT]", "show the output of agents", logs_options, 1, 1, false },
	{ "diff", diff_command, "[options] RUN[/TASK]", "show the changes of a run or a task",
	    diff_options, 1, 1, false },
	{ "review", review_command, "show|export|verify RUN | again RUN[/TASK]",
	    "show a run's reviews, verify the record, or have the work judged again", review_options, 2, 2, false },
	{ "evidence", evidence_command, "RUN[/TASK]",
	    "show the products of a run, and what judged them", NULL, 1, 1, false },
	{ "attest", attest_command, "RUN",
	    "sign what passed in a run, as notes of its commits", NULL, 1, 1, false },
	{ "verify", verify_command, "[options] COMMIT",
	    "check the attestation of a commit, without a daemon", verify_options, 1, 1, false },
	{ "finding", finding_command, "list RUN[/TASK] | dismiss RUN[/TASK] FINDING",
	    "list open findings, or decide that one need not be fixed", finding_options, 2, 3, false },
	{ "hold", hold_command, "list | show|approve|reject|rework ID | answer RUN[/TASK]",
	    "list and decide holds", hold_options, 1, 2, false },
	{ "report", report_command, "[options] RUN", "print a full report of a run", report_options, 1, 1, false },
	{ "cancel", cancel_command, "RUN...", "cancel runs and end their agents", NULL, 1, ANY_NUMBER, false },
	{ "pause", pause_command, "RUN...", "finish running attempts, start no new ones", NULL, 1, ANY_NUMBER, false },
	{ "resume", resume_command, "RUN...", "continue paused runs", NULL, 1, ANY_NUMBER, false },
	{ "change", change_command, "[options] RUN...", "change limits, slots or tasks of unfinished runs",
	    change_options, 1, ANY_NUMBER, false },
	{ "retry", retry_command, "[options] RUN...", "continue what did not pass, as new runs",
	    retry_options, 1, ANY_NUMBER, false },
	{ "group", group_command, "list | set|pause|resume NAME",
	    "show and change groups of runs", group_options, 1, 2, false },
	{ "cooldown", cooldown_command, "list | set|clear NAME [WHEN]",
	    "show and set account cooldowns", cooldown_options, 1, 3, false },
	{ "salvage", salvage_command, "list [RUN] | restore ID DIR",
	    "list or restore work saved from removed work trees", salvage_options, 1, 3, false },
	{ "web", web_command, "[options]", "show runs and decide holds in a browser of this host", web_options,
	    0, 0, false },
	{ "events", events_command, "[options]", "show past events, or follow new ones", events_options, 0, 0, false },
	{ "status", status_command, "", "show the state of the daemon", NULL, 0, 0, false },
	{ "doctor", doctor_command, "[options]",
	    "check this host, and say how to fix what is wrong", doctor_options, 0, 0, false },
	{ "metrics", metrics_command, "", "print what the daemon counts, for Prometheus", NULL, 0, 0, false },
	{ "backup", backup_command, "FILE", "copy the database to a file while work continues", NULL, 1, 1, false },
	{ "prune", prune_command, "[options]", "remove outputs and refs of old runs; their records stay",
	    prune_options, 0, 0, false },
	{ "stop", stop_command, "[options]", "stop the daemon; agents keep running", stop_options, 0, 0, true },
	{ "config", config_command, "show [KEY] | check [FILE]",
	    "show the daemon's settings, or validate a file", options_config, 1, 2, false },
	{ "prompt", prompt_command, "show [options] ROLE [TASK]",
	    "show what a role would be given, before anything is paid", options_prompt, 2, 3, false },
	{ "rpc", rpc_command, "METHOD [key=value ...|JSON]", "call a method of the daemon", NULL,
	    1, ANY_NUMBER, false },
	{ "mcp", mcp_command, "", "serve agents and editors by the Model Context Protocol, on stdin and stdout",
	    NULL, 0, 0, false },
	{ "relay", relay_command, "", "connect stdin and stdout to the daemon; --host runs it on the other machine",
	    NULL, 0, 0, false },
	{ "completion", completion_command, "bash|zsh|fish | words [WORD...]",
	    "print a completion script for a shell", NULL, 1, ANY_NUMBER, true },
	{ "help", help_command, "[COMMAND]", "show help", NULL, 0, 1, false },
	{ .name = NULL },
};

/* Options for some actions of their command only: an option that is silently ignored would be
 * misleading. */
static const struct {
	const char *command, *option, *actions;
} particular[] = {
	{ "finding", "reason", "dismiss" },
	{ "hold", "message", "approve|reject|rework|answer" }, { "hold", "state", "list" },
	{ "hold", "run", "list" }, { "hold", "limit", "list" },
	{ "hold", "before", "list" }, { "group", "slots", "set" }, { "cooldown", "message", "set" },
	{ "salvage", "limit", "list" },
	{ "salvage", "before", "list" },
};

/* Commands that work with files of the daemon's machine, or are about the machine they run on.
 * action NULL: any. */
static const struct {
	const char *command, *action;
} local[] = {
	{ "init", NULL }, { "attest", NULL }, { "config", "check" }, { "salvage", "restore" },
};

/* Short names, as other programs have them. */
static const struct {
	const char *word, *command;
} aliases[] = { { "ps", "list" }, { "ls", "list" }, { "log", "logs" } };

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (strcmp(aliases[i].word, name) == 0)
			name = aliases[i].command;
	for (const struct command *command = commands; command->name != NULL; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

/* What other programs call it. */
static const struct {
	const char *word, *command;
} elsewhere[] = {
	{ "tail", "logs -f" }, { "follow", "logs -f" }, { "output", "logs" }, { "info", "show" },
	{ "add", "submit" }, { "start", "run" }, { "kill", "cancel" }, { "abort", "cancel" },
	{ "restart", "retry" }, { "continue", "retry" }, { "edit", "change" }, { "approve", "hold approve" },
	{ "reject", "hold reject" }, { "rework", "hold rework" }, { "answer", "hold answer" },
	{ "dismiss", "finding dismiss" }, { "version", "--version" },
};

static int refuse_command(const char *word)
{
	struct near near = { .word = word };

	for (const struct command *command = commands; command->name != NULL; command++)
		near_offer(&near, command->name);
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (strcmp(elsewhere[i].word, word) == 0)
			near.best = elsewhere[i].command;
	if (near.best != NULL)
		message_error("unknown command %s; did you mean \"rlctl %s\"?", word, near.best);
	else
		message_error("unknown command %s; \"rlctl help\" lists the commands", word);
	return EXIT_USAGE;
}

static void print_overview(FILE *file)
{
	fputs("usage: rlctl [options] COMMAND ...\n\n", file);
	for (const struct command *command = commands; command->name != NULL; command++) {
		fprintf(file, "  %-10s ", command->name);
		options_print_row(file, 13, command->usage, 28, command->help);
	}
	fputs("\nCommon options:\n", file);
	options_print(file, options_common);
	fputs("\nOptions of a command: rlctl help COMMAND\n", file);
}

static void print_help(FILE *file, const struct command *command)
{
	fprintf(file, "usage: rlctl %s%s%s\n\n%c%s.\n", command->name,
	    *command->usage != '\0' ? " " : "", command->usage, command->help[0] - 'a' + 'A',
	    command->help + 1);
	if (command->options != NULL) {
		fputs("\nOptions:\n", file);
		options_print(file, command->options);
	}
	fputs("\nCommon options:\n", file);
	options_print(file, options_common);
}

/* {name, usage, help}; options: also its options, {name, argument, help}. */
static json_t *help_document(const struct command *command, bool options)
{
	json_t *document = json_pack("{s:s,s:s,s:s}", "name", command->name, "usage", command->usage, "help",
	    command->help), *list = json_array();

	for (const struct option_row *row = command->options; options && row != NULL && row->name != NULL; row++)
		json_array_append_new(list, json_pack("{s:s,s:s?,s:s}", "name", row->name, "argument", row->argument,
		    "help", row->help));
	if (options)
		json_object_set(document, "options", list);
	json_decref(list);
	return document;
}

static int help_json(const struct client *c, const struct command *command)
{
	json_t *list = json_array(), *document;

	for (const struct command *one = commands; command == NULL && one->name != NULL; one++)
		json_array_append_new(list, help_document(one, false));
	document = command != NULL ? help_document(command, true) : json_pack("{s:O}", "commands", list);
	print_json(&c->out, document);
	json_decref(document);
	json_decref(list);
	return EXIT_DONE;
}

int help_command(struct client *c)
{
	const struct command *command;

	if (c->options.count == 0 && c->json)
		return help_json(c, NULL);
	if (c->options.count == 0) {
		print_overview(c->out.file);
		return EXIT_DONE;
	}
	command = find_command(c->options.arguments[0]);
	if (command == NULL)
		return refuse_command(c->options.arguments[0]);
	if (c->json)
		return help_json(c, command);
	print_help(c->out.file, command);
	return EXIT_DONE;
}

/* Handle --help and --version. Returns whether that was all. */
static bool main_has_answered(const struct client *c)
{
	if (options_given(&c->options, "version"))
		puts(options_given(&c->options, "json") ? "{\"version\":\"" RLD_VERSION "\"}" : "rlctl " RLD_VERSION);
	else if (!options_given(&c->options, "help"))
		return false;
	else if (c->command != NULL)
		print_help(stdout, c->command);
	else
		print_overview(stdout);
	return true;
}

/* Returns 0, or an exit code after a message. */
static int check_particular(const struct client *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(particular); i++) {
		if (strcmp(particular[i].command, c->command->name) != 0 ||
		    !options_given(&c->options, particular[i].option) ||
		    options_is_choice(particular[i].actions, c->options.arguments[0]))
			continue;
		message_error("--%s is an option of \"rlctl %s %s\"", particular[i].option,
		    c->command->name, particular[i].actions);
		return EXIT_USAGE;
	}
	return 0;
}

/* Returns 0, or an exit code after a message. */
static int check_local(const struct client *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(local) && c->host != NULL; i++) {
		const char *action = local[i].action;

		if (strcmp(local[i].command, c->command->name) != 0 ||
		    (action != NULL && strcmp(action, c->options.arguments[0]) != 0))
			continue;
		message_error("\"rlctl %s%s%s\" works only on the machine of the daemon", c->command->name,
		    action != NULL ? " " : "", action != NULL ? action : "");
		message_hint("run it there, with ssh %s", c->host->target);
		return EXIT_USAGE;
	}
	return 0;
}

static int run_client(struct client *c)
{
	const char *color = options_text(&c->options, "color");
	int status;

	if (c->options.count < c->command->least || c->options.count > c->command->most) {
		message_error("usage: rlctl %s %s", c->command->name, c->command->usage);
		if (c->options.count > c->command->most)
			message_hint("too many arguments");
		return EXIT_USAGE;
	}
	if (check_particular(c) != 0)
		return EXIT_USAGE;
	if (options_given(&c->options, "start") && options_given(&c->options, "no-start")) {
		message_error("--start and --no-start exclude each other");
		return EXIT_USAGE;
	}
	if (options_given(&c->options, "socket") && *options_text(&c->options, "socket") == '\0') {
		message_error("--socket must not be empty");
		return EXIT_USAGE;
	}
	/* relay is what the other machine runs */
	status = strcmp(c->command->name, "relay") == 0 ? 0 : client_set_host(c);
	if (status == 0)
		status = silence_init();
	if (status == 0)
		status = check_local(c);
	if (status != 0)
		return status;
	print_init(&c->out, stdout, color == NULL ? "auto" : color);
	print_init(&c->talk, stderr, color == NULL ? "auto" : color);
	c->json = options_given(&c->options, "json");
	return c->command->run(c);
}

static int parse_and_run(struct client *c, int argc, char **argv)
{
	int status = options_parse(&c->options, argc, argv, NULL, true);

	if (status != 0)
		return status;
	if (main_has_answered(c))
		return EXIT_DONE;
	if (c->options.count == 0) {
		if (options_given(&c->options, "json"))
			message_error("missing command; \"rlctl help\" lists the commands");
		else
			print_overview(stderr);
		return EXIT_USAGE;
	}
	argc = c->options.count;
	argv = c->options.arguments;
	c->command = find_command(argv[0]);
	if (c->command == NULL)
		return refuse_command(argv[0]);
	argv[0] = (char *)"rlctl";	/* the name in getopt's messages */
	status = options_parse(&c->options, argc, argv, c->command->options, false);
	if (status != 0)
		return status;
	return main_has_answered(c) ? EXIT_DONE : run_client(c);
}

/* Before the options are parsed, which may fail. */
static bool asks_for_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct client c = { .commands = commands };
	int status;

	std_fds_reserve();
	json_memory_begin();
	if (asks_for_json(argc, argv))
		message_json();
	if (argc > 0)
		argv[0] = (char *)"rlctl";
	options_init(&c.options);
	status = parse_and_run(&c, argc, argv);
	call_close(c.conn);
	json_decref(c.hello);
	free(c.socket);
	host_free(c.host);
	options_release(&c.options);
	if (fflush(stdout) == EOF || ferror(stdout)) {
		message_errno("standard output");
		status = status == EXIT_DONE ? EXIT_REFUSED : status;
	}
	message_end(status);
	return status;
}
