/* SPDX-License-Identifier: MIT */
/* rlctl init: the first settings of a user and of a project. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/check_list.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/connect.h"
#include "client/field.h"
#include "client/init/choice.h"
#include "client/init/survey.h"
#include "client/message.h"
#include "client/new_file.h"
#include "client/next_command.h"
#include "client/program_check.h"
#include "client/sockets.h"
#include "client/spawn_program.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/program.h"

#define VERSION_MS 5000		/* a slow program is found nevertheless */
#define GIT_MS 5000		/* a repository may contain a FIFO that git would wait for */
#define OWN_MAX 2
#define SHOWN_LINES 12		/* of a file that is there already */

/* What becomes of a file. */
enum file_state { FILE_WRITTEN, FILE_REPLACED, FILE_KEPT, FILE_NOT_ASKED };

static const char *const file_states[] = { "written", "replaced", "kept", "not written" };

/* What a running daemon does with the settings. */
enum reload { RELOAD_NONE, RELOAD_DONE, RELOAD_OTHER, RELOAD_FAILED };

static const char *const reload_words[] = { NULL, "reloaded", "reads another file", "not reloaded" };
static const char *const reload_results[] = {
	NULL, "The running daemon has read the settings.",
	"The running daemon reads another file, which \"rlctl status\" names: these settings have no effect on it.",
	"The running daemon has not read the settings: \"rlctl rpc daemon.reload\" lets it.",
};

/* A file that may be written. */
struct init_file {
	char *path;	/* NULL: there is nothing to write */
	char *old;	/* the next name of one that is there; NULL: none is */
	struct buf text;
	enum file_state state;
};

struct own_program {
	char *name, *path;
};

struct init {
	struct client *client;
	bool dry, force, ask;
	bool wants_project;	/* --project */
	char *directory;	/* of the project, absolute */
	json_t *checks, *agents;
	struct candidate *candidates;	/* those that rld knows, then the user's own */
	size_t count;
	struct own_program own[OWN_MAX];
	size_t nown;
	struct choice choice;
	struct signs signs;
	struct proposal proposals[PROPOSALS_MAX];
	bool missing[PROPOSALS_MAX];
	bool git_failed;
	size_t nproposals;
	struct init_file settings, project;
	enum reload reload;
};

/* ---- agents ---- */

/* A name for a program of the user: letters, digits, "-", "_" up to the first dot. */
static char *own_name(const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	char *name = xasprintf("%.*s", (int)strcspn(base, "."), base);

	for (char *p = name; *p != '\0'; p++)
		if (strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == 0)
			*p = '-';
	if (*name == '\0')
		text_set(&name, "program");
	return name;
}

/* An agent that the user gave: a name, or the path of a program, which gets one. *name is borrowed;
 * NULL: not given. Returns 0, or an exit code after a message. */
static int init_own(struct init *in, const char *option, const char **name)
{
	const char *given = options_text(&in->client->options, option);
	char real[PATH_MAX];
	struct own_program *own;

	*name = given;
	if (given == NULL || strchr(given, '/') == NULL)
		return 0;
	if (realpath(given, real) == NULL || access(real, X_OK) == -1) {
		message_errno("--%s: %s", option, given);
		return EXIT_REFUSED;
	}
	if (!text_is_utf8(real, strlen(real))) {
		message_error("--%s: the path is not UTF-8", option);
		return EXIT_REFUSED;
	}
	for (size_t i = 0; i < in->nown; i++)
		if (strcmp(in->own[i].path, real) == 0) {
			*name = in->own[i].name;
			return 0;
		}
	own = &in->own[in->nown++];
	own->path = xstrdup(real);
	own->name = own_name(real);
	for (size_t i = 0; i < json_array_size(in->agents); i++)
		if (field_is(json_array_get(in->agents, i), "name", own->name)) {
			char *longer = xasprintf("%s-program", own->name);

			free(own->name);
			own->name = longer;
		}
	*name = own->name;
	return 0;
}

static struct candidate candidate_of(const json_t *agent)
{
	const char *path = field_text(agent, "path");

	return (struct candidate){ .name = field_text(agent, "name"),
		.found = *path != '\0' && access(path, X_OK) == 0,
		.answers = *field_text(agent, "version") != '\0', .login = field_true(agent, "logged_in") };
}

/* The agents that rld knows, with what is found of them on our PATH. Returns 0, or an exit code. */
static int init_find_agents(struct init *in)
{
	struct buf text = { 0 };
	json_t *known;
	int status = start_rld((const char *const[]){ "--print-agents", NULL }, &text, false);

	known = status == 0 ? json_loadb(text.data, text.size, 0, NULL) : NULL;
	buf_release(&text);
	if (known == NULL) {
		if (status >= 0)
			message_error("rld --print-agents failed; make sure that rld and rlctl have the same version");
		return EXIT_REFUSED;
	}
	/* nothing names an agent yet */
	for (size_t i = 0; i < json_array_size(field_array(known, "agents")); i++)
		json_object_set_new(json_array_get(field_array(known, "agents"), i), "used_by", json_array());
	in->agents = program_check_agents(field_array(known, "agents"), VERSION_MS);
	for (size_t i = 0; i < json_array_size(in->agents); i++)
		json_object_set(json_array_get(in->agents, i), "package",
		    json_object_get(json_array_get(field_array(known, "agents"), i), "package"));
	json_decref(known);
	return 0;
}

static void print_packages(const struct init *in)
{
	message_hint("install one, such as:");
	for (size_t i = 0; i < json_array_size(in->agents); i++) {
		const json_t *agent = json_array_get(in->agents, i);

		message_hint("  %-10s npm install -g %s", field_text(agent, "name"), field_text(agent, "package"));
	}
	message_hint("or name a program of your own, which reads a prompt from standard input: "
	    "rlctl init --agent ./PROGRAM");
}

/* Returns 0, or an exit code after a message. */
static int init_choose(struct init *in)
{
	const char *agent, *reviewer;
	char *message, *hint;
	int status = init_own(in, "agent", &agent);
	bool chosen;

	if (status == 0)
		status = init_own(in, "reviewer-agent", &reviewer);
	if (status != 0)
		return status;
	in->candidates = xcalloc(in->nown + json_array_size(in->agents) + 1, sizeof(*in->candidates));
	for (size_t i = 0; i < json_array_size(in->agents); i++)
		in->candidates[in->count++] = candidate_of(json_array_get(in->agents, i));
	for (size_t i = 0; i < in->nown; i++)
		in->candidates[in->count++] = (struct candidate){ .name = in->own[i].name,
			.program = in->own[i].path, .found = true };
	chosen = choice_make(in->candidates, in->count, agent, reviewer, &in->choice, &message, &hint);
	if (!chosen) {
		message_error("%s", message);
		message_hint("%s", hint);
		if (agent == NULL && reviewer == NULL)
			print_packages(in);
	}
	free(message);
	free(hint);
	return chosen ? 0 : EXIT_REFUSED;
}

/* ---- the project ---- */

/* Whether git ignores this file of the directory. Not in a repository, or git fails: false. */
static bool is_ignored(struct init *in, const char *path)
{
	const char *const argv[] = { "git", "-C", in->directory, "-c", "core.fsmonitor=false", "check-ignore", "-q",
		"--", path, NULL };
	struct buf output = { 0 };
	int status = in->git_failed ? -1 : start_program(&(struct program){ .argv = argv, .output = &output,
		.quiet = true, .ms = GIT_MS });

	/* it would hang again */
	in->git_failed = status == -1;
	buf_release(&output);
	return status == 0;
}

static int init_survey(struct init *in)
{
	struct proposal all[PROPOSALS_MAX];
	size_t count;
	int failure = survey_make(in->directory, &in->signs);

	if (failure != 0) {
		message_error("%s: %s", in->directory, strerror(-failure));
		return EXIT_REFUSED;
	}
	count = proposal_make(&in->signs, all);
	for (size_t i = 0; i < count; i++) {
		char *program = NULL;

		if (all[i].key == PROPOSAL_COPY && !is_ignored(in, all[i].where))
			continue;
		if (all[i].program != NULL)
			program = program_find(getenv("PATH"), all[i].program);
		in->missing[in->nproposals] = all[i].program != NULL && program == NULL;
		in->proposals[in->nproposals++] = all[i];
		free(program);
	}
	return 0;
}

/* ---- files ---- */

/* Takes ownership of path. */
static void file_init(struct init_file *file, char *path)
{
	struct stat st;

	file->path = path;
	file->old = lstat(path, &st) == 0 ? new_file_old(path) : NULL;
}

static void file_release(struct init_file *file)
{
	free(file->path);
	free(file->old);
	buf_release(&file->text);
}

/* The lines of a text, indented. settings: the first ones that set something. */
static void print_lines(const struct print *p, const char *text, bool settings)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	size_t count = 0;

	while ((line = strsep(&rest, "\n")) != NULL && (!settings || count < SHOWN_LINES)) {
		if ((settings && line[strspn(line, " \t\r")] == '#') || (*line == '\0' && (settings || rest == NULL)))
			continue;
		if (*line != '\0')
			fputs("    ", p->file);
		print_painted(p, PAINT_DIM, line);
		fputc('\n', p->file);
		count++;
	}
	if (settings && line != NULL)
		fputs("    ...\n", p->file);
	free(copy);
}

/* Show the text and ask on the terminal. Enter alone means yes. */
static bool init_agrees(const struct init *in, const struct init_file *file)
{
	const struct print *p = &in->client->talk;
	char *answer = NULL;
	size_t room = 0;
	bool yes;

	if (!in->ask)
		return true;
	fflush(in->client->out.file);
	fputc('\n', p->file);
	print_lines(p, file->text.data, false);
	if (file->old != NULL)
		print_paintedf(p, PAINT_BOLD, "Replace %s by this, and keep the old one as %s? [Y/n]",
		    file->path, file->old);
	else
		print_paintedf(p, PAINT_BOLD, "Write %s? [Y/n]", file->path);
	fputc(' ', p->file);
	fflush(p->file);
	yes = getline(&answer, &room, stdin) > 0 && (answer[0] == '\n' || answer[0] == 'y' || answer[0] == 'Y');
	free(answer);
	return yes;
}

/* Returns 0, or an exit code after a message. */
static int init_write(const struct init *in, struct init_file *file, mode_t mode)
{
	file->state = file->old == NULL ? FILE_WRITTEN : in->force ? FILE_REPLACED : FILE_KEPT;
	if (file->state == FILE_KEPT || in->dry)
		return 0;
	if (!init_agrees(in, file)) {
		file->state = FILE_NOT_ASKED;
		return 0;
	}
	return new_file(file->path, file->text.data, file->text.size, mode, file->old) == 0 ? 0 : EXIT_REFUSED;
}

static int init_write_settings(struct init *in)
{
	struct init_file *file = &in->settings;
	char *directory = xmemdup0(file->path, (size_t)(strrchr(file->path, '/') - file->path));
	int status = 0;

	choice_settings(&file->text, &in->choice);
	if (!in->dry && file->old == NULL && new_directory(directory) == -1)
		status = EXIT_REFUSED;
	if (status == 0)
		status = init_write(in, file, 0600);
	free(directory);
	return status;
}

static int init_write_project(struct init *in)
{
	if (in->nproposals == 0)
		return 0;
	choice_project(&in->project.text, in->proposals, in->missing, in->nproposals);
	file_init(&in->project, xasprintf("%s/.rld.toml", strcmp(in->directory, "/") == 0 ? "" : in->directory));
	in->project.state = in->project.old != NULL ? FILE_KEPT : FILE_NOT_ASKED;
	if (!in->wants_project && !in->ask)
		return 0;
	return init_write(in, &in->project, 0666);
}

/* ---- the running daemon ---- */

/* Let a running daemon read what was written. */
static void init_reload(struct init *in)
{
	struct client *c = in->client;
	json_t *state, *result = NULL;
	const char *config;
	int status;

	if (in->dry || (in->settings.state != FILE_WRITTEN && in->settings.state != FILE_REPLACED) ||
	    !client_running(c))
		return;
	state = client_call(c, "daemon.status", NULL, &status);
	config = field_text(state, "config");
	if (state != NULL && (*config == '\0' || strcmp(config, in->settings.path) == 0))
		result = client_call(c, "daemon.reload", NULL, &status);
	in->reload = field_is(result, "config", in->settings.path) ? RELOAD_DONE
	    : state != NULL && (result != NULL || *config != '\0') ? RELOAD_OTHER : RELOAD_FAILED;
	json_decref(state);
	json_decref(result);
}

/* ---- what is printed ---- */

static json_t *file_document(const struct init *in, const struct init_file *file)
{
	return json_pack("{s:s,s:s,s:s?,s:b,s:s}", "path", file->path, "state", file_states[file->state], "old",
	    file->state == FILE_REPLACED ? file->old : NULL, "dry_run", in->dry, "text", file->text.data);
}

static json_t *init_document(const struct init *in, const char *next)
{
	static const char *const keys[] = { "run.setup", "run.copy", "review.checks" };
	json_t *proposals = json_array();

	for (size_t i = 0; i < in->nproposals; i++)
		json_array_append_new(proposals, json_pack("{s:s,s:s,s:s,s:s?}", "key", keys[in->proposals[i].key],
		    "value", in->proposals[i].value, "file", in->proposals[i].where, "missing",
		    in->missing[i] ? in->proposals[i].program : NULL));
	return json_pack("{s:s,s:s,s:O,s:O,s:o,s:o,s:o,s:s?,s:s}", "default_agent", in->choice.agent->name,
	    "reviewer_agent", in->choice.reviewer->name, "checks", in->checks, "agents", in->agents, "settings",
	    file_document(in, &in->settings), "project",
	    in->project.path == NULL ? json_null() : file_document(in, &in->project),
	    "proposals", proposals, "daemon", reload_words[in->reload], "next", next);
}

/* The file that stays, and what would take its place. */
static void print_kept(const struct print *p, const struct init_file *file)
{
	const struct buf *text = &file->text;
	struct buf there = { 0 };
	int failure = survey_text(AT_FDCWD, file->path, &there);
	bool same = failure == 0 && there.size == text->size && memcmp(there.data, text->data, text->size) == 0;

	print_paintedf(p, PAINT_BOLD, "%s is there, and stays as it is%s", file->path, same ? "." : ":");
	fputc('\n', p->file);
	if (failure == 0 && !same && there.size > 0)
		print_lines(p, there.data, true);
	if (!same) {
		print_paintedf(p, PAINT_NONE, "With --force, rlctl init renames it to %s and writes:", file->old);
		fputc('\n', p->file);
		print_lines(p, text->data, false);
	}
	buf_release(&there);
}

static void print_file(const struct init *in, const struct init_file *file)
{
	const struct print *p = &in->client->out;

	fputc('\n', p->file);
	switch (file->state) {
	case FILE_KEPT:
		print_kept(p, file);
		return;
	case FILE_NOT_ASKED:
		print_paintedf(p, PAINT_BOLD, "%s was not written.%s", file->path,
		    in->ask ? "" : " \"rlctl init --project\" would write:");
		break;
	case FILE_WRITTEN:
	case FILE_REPLACED:
		print_paintedf(p, PAINT_BOLD, "%s %s written%s%s%s", file->path, in->dry ? "would be" : "is",
		    file->old != NULL ? ", and the old one is kept as " : "", file->old != NULL ? file->old : "",
		    in->ask ? "." : ":");
		break;
	}
	fputc('\n', p->file);
	/* who was asked has seen it */
	if (!in->ask)
		print_lines(p, file->text.data, false);
}

static void print_checks(const struct init *in)
{
	const struct print *p = &in->client->out;
	size_t width = check_widest(in->checks, 0);

	for (size_t i = 0; i < json_array_size(in->agents); i++)
		width = check_widest(field_array(json_array_get(in->agents, i), "checks"), width);
	check_print_section(p, "This host", in->checks, width);
	check_print_agents(p, in->agents, width);
}

static void print_report(const struct init *in, const char *next)
{
	const struct print *p = &in->client->out;

	if (!in->ask)
		print_checks(in);
	print_file(in, &in->settings);
	if (in->project.path != NULL)
		print_file(in, &in->project);
	else if (in->wants_project)
		fputs("\nNo file of the project suggests a setup or a check, so .rld.toml was not written.\n", p->file);
	if (in->reload != RELOAD_NONE)
		fprintf(p->file, "\n%s\n", reload_results[in->reload]);
	fputs("\nNext:\n    ", p->file);
	/* a run warns of criteria that are not committed */
	if (in->project.path != NULL && !in->dry && next_in_repository(in->directory) &&
	    (in->project.state == FILE_WRITTEN || in->project.state == FILE_REPLACED)) {
		char *commit = next_commit(in->directory);

		print_painted(p, PAINT_BOLD, commit);
		fputs("\n    ", p->file);
		free(commit);
	}
	print_painted(p, PAINT_BOLD, next);
	fputc('\n', p->file);
}

static int init_take(struct init *in)
{
	const struct options *o = &in->client->options;
	const char *directory = options_text(o, "workdir");
	char here[PATH_MAX];

	in->dry = options_given(o, "dry-run");
	in->force = options_given(o, "force");
	in->wants_project = options_given(o, "project");
	in->ask = !in->dry && !in->client->json && !options_given(o, "yes") && isatty(STDIN_FILENO) == 1 &&
	    isatty(STDERR_FILENO) == 1;
	if (directory == NULL)
		directory = ".";
	if (realpath(directory, here) == NULL) {
		message_errno("%s", directory);
		return EXIT_REFUSED;
	}
	if (!text_is_utf8(here, strlen(here))) {
		message_error("the path of the directory is not UTF-8; name another with --workdir");
		return EXIT_REFUSED;
	}
	in->directory = xstrdup(here);
	file_init(&in->settings, sockets_config_file());
	return 0;
}

static void init_release(struct init *in)
{
	for (size_t i = 0; i < in->nown; i++) {
		free(in->own[i].name);
		free(in->own[i].path);
	}
	json_decref(in->checks);
	json_decref(in->agents);
	free(in->candidates);
	free(in->directory);
	file_release(&in->settings);
	file_release(&in->project);
}

static int init_all(struct init *in)
{
	int status = init_take(in);

	if (status == 0)
		status = init_find_agents(in);
	if (status == 0)
		status = init_choose(in);
	if (status == 0)
		status = init_survey(in);
	if (status != 0)
		return status;
	in->checks = json_array();
	program_check_tools(in->checks, VERSION_MS);
	if (in->ask)
		print_checks(in);
	status = init_write_settings(in);
	if (status == 0)
		status = init_write_project(in);
	if (status == 0)
		init_reload(in);
	return status;
}

int init_command(struct client *c)
{
	struct init in = { .client = c };
	int status = init_all(&in);

	if (status == 0) {
		bool start = !client_running(c) && connect_needs_start();
		/* a file of the user may not switch reviews on */
		char *next = next_run(in.directory, start,
		    in.settings.state == FILE_KEPT || in.settings.state == FILE_NOT_ASKED);

		if (c->json) {
			json_t *document = init_document(&in, next);

			print_json(&c->out, document);
			json_decref(document);
		} else {
			print_report(&in, next);
		}
		free(next);
	}
	init_release(&in);
	return status;
}
