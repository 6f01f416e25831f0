/* SPDX-License-Identifier: MIT */
#include "git/git_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "git/command.h"
#include "proto/escape.h"
#include "record/host_fault.h"

#define MESSAGE_MAX 600			/* limit for git's messages in an error */
#define WORDS_KEEP ((size_t)128 * 1024)	/* limit for output of hooks and git, beginning and end */
#define NAMES_SHOWN 3
#define HALF_TRIES 250
#define HALF_PAUSE_NS 20000000	/* 20 ms, so 5 s in total */
/* git has removed what it could not complete */
#define FULL_BYTES ((uint64_t)64 * 1024)
#define FULL_FILES 4

/* ---- what it printed ---- */

const char *git_out(const struct git_op *op)
{
	return op->end.out.data != NULL ? op->end.out.data : "";
}

size_t git_out_size(const struct git_op *op)
{
	return op->end.out.size;
}

char *git_out_line(const struct git_op *op)
{
	return git_out_size(op) > 1 ? xmemdup0(git_out(op), git_out_size(op) - 1) : NULL;
}

/* Stderr of the last git on one line, malloc'd. */
static char *git_said(const struct git_op *op)
{
	size_t size = op->end.err.size < MESSAGE_MAX ? op->end.err.size : MESSAGE_MAX;
	char *said = xmemdup0(op->end.err.data != NULL ? op->end.err.data : "", size), *text;

	while (size > 0 && said[size - 1] == '\n')
		size--;
	for (size_t i = 0; i < size; i++)
		if (said[i] == '\n')
			said[i] = ' ';
	text = text_escape(said, size, false);
	free(said);
	return text;
}

char *git_line(struct git_op *op, const char *what)
{
	char *line = git_out_line(op);

	if (line == NULL)
		git_fail(op, xasprintf("git %s: %s in %s", op->command, what, op->place));
	return line;
}

void names_add(struct names *names, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);

	if (names->count++ < (names->shown != 0 ? names->shown : NAMES_SHOWN))
		buf_addf(&names->text, "%s%s", names->text.size > 0 ? ", " : "", shown);
	free(shown);
}

char *names_take(struct names *names)
{
	size_t shown = names->shown != 0 ? names->shown : NAMES_SHOWN, size;

	if (names->count > shown)
		buf_addf(&names->text, " and %zu more", names->count - shown);
	return names->count > 0 ? buf_take(&names->text, &size) : NULL;
}

/* ---- why it failed ---- */

int git_fail(struct git_op *op, char *error)
{
	free(op->result.error);
	op->result.error = error;
	return -1;
}

int git_fail_moved(struct git_op *op, char *error)
{
	op->moved = true;
	return git_fail(op, error);
}

int git_fail_output(struct git_op *op)
{
	return git_fail(op, xasprintf("git %s: unexpected output in %s; is git 2.39 or newer?",
	    op->command, op->spec.workspace));
}

const char *git_remedy(const struct git_op *op, const char *there)
{
	return op->spec.repository == NULL ? there : GIT_KEPT;
}

#define WRITABLE "make its .git writable for the user of the agents"

static const char *remedy_for(const struct git_op *op, const char *said)
{
	/* kind, command: only there; GIT_OPS, NULL: anywhere */
	static const struct { enum git_op_kind kind; const char *command, *sign, *remedy; } remedies[] = {
		{ GIT_OPS, NULL, ".lock': File exists",
		    "another git process is at work there: wait for it, or remove the file if "
		    "there is none" },
		{ GIT_OPS, "commit", "failed to sign",
		    "make signing work without a prompt, or set commit.gpgsign=false there" },
		{ GIT_OPS, "commit", "", "see what `git commit` says there" },
		{ GIT_OPS, NULL, "cannot run ",
		    "a hook of the repository cannot be run: fix or remove it, then retry the run" },
		{ GIT_OPS, NULL, "died of signal",
		    "a hook of the repository was killed by a signal: find out why, then retry the "
		    "run" },
		{ GIT_BASE, "update-index", " filter '",
		    "make that filter work for the user of the agents, or commit your work without it" },
		{ GIT_OPS, "worktree", " filter '",
		    "make that filter work for the user of the agents, then retry the run" },
		{ GIT_OPS, "worktree", "cannot create",
		    "another branch uses a part of that name as its name: rename it with `git "
		    "branch -m`, then retry the run" },
		{ GIT_OPS, "worktree", "already checked out",
		    "finish the work there, and remove it with `git worktree remove`, then retry "
		    "the run" },
		{ GIT_OPS, "worktree", "already used by worktree",
		    "finish the work there, and remove it with `git worktree remove`, then retry "
		    "the run" },
		{ GIT_OPS, NULL, "insufficient permission", WRITABLE },
		{ GIT_OPS, "worktree", "Permission denied",
		    "make its .git and the directory of the task's work tree writable for the "
		    "user of the agents" },
		{ GIT_OPS, NULL, "Unable to create '", WRITABLE },
		{ GIT_OPS, NULL, "unable to create directory for", WRITABLE },
		{ GIT_OPS, NULL, "Read-only file system", WRITABLE },
		{ GIT_OPS, NULL, "Permission denied",
		    "make it readable for the user of the agents, or add it to .gitignore" },
		{ GIT_OPS, NULL, "could not open", "make it readable, or add it to .gitignore" },
		{ GIT_OPS, NULL, "index file", "see what `git status` says there" },
		{ GIT_OPS, NULL, "", "run `git status` there to see what git needs" },
	};
	size_t i = 0;

	if ((op->flags & GIT_OWN_INDEX) != 0)
		return "the commit was made, but your index was not updated: run `git reset -q` "
		    "there";
	while ((remedies[i].kind != GIT_OPS && remedies[i].kind != op->spec.kind) ||
	    (remedies[i].command != NULL && strcmp(remedies[i].command, op->command) != 0) ||
	    strstr(said, remedies[i].sign) == NULL)
		i++;
	return remedies[i].remedy;
}

static bool is_full(const char *path)
{
	struct statvfs fs;

	if (path == NULL || statvfs(path, &fs) == -1)
		return false;
	return (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES || (fs.f_files > 0 && fs.f_favail < FULL_FILES);
}

/* What git's stderr tells about the host. If hooks may have written there, too, only git's last
 * line counts. */
static int fault_said(const struct git_op *op)
{
	return op->end.err.data != NULL ? host_fault_said(op->end.err.data, (op->flags & GIT_HOOKED) != 0) : 0;
}

/* A git without output: how it ended. */
static char *silent(const struct git_op *op)
{
	int status = op->end.status;

	return xasprintf("git %s in %s %s %d without output; run it manually to diagnose",
	    op->command, op->spec.workspace,
	    WIFEXITED(status) ? "exited with status" : "was killed by signal",
	    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static bool is_in_evidence(const struct git_op *op, unsigned flags)
{
	return (flags & GIT_EVIDENCE) != 0 && op->objects != NULL;
}

int git_fail_process(struct git_op *op)
{
	char *said = git_said(op), *error;
	bool commit = strcmp(op->command, "commit") == 0;

	op->result.fault = fault_said(op);
	if (op->result.fault == 0 && (is_full(op->spec.scratch) || is_full(op->place) || is_full(op->spec.repository)))
		op->result.fault = ENOSPC;
	if (op->result.fault != 0)
		error = xasprintf("git %s in %s: %s", op->command, op->spec.workspace,
		    said[0] != '\0' ? said : host_words(op->result.fault));
	else if (said[0] == '\0')
		error = silent(op);
	else
		error = xasprintf("git %s in %s: %s; %s%s%s", op->command,
		    is_in_evidence(op, op->flags) && (op->flags & GIT_FILES) == 0 ? op->objects : op->spec.workspace,
		    said, remedy_for(op, said), commit ? "; " : "",
		    commit ? git_remedy(op, "the work is in the work tree") : "");
	free(said);
	return git_fail(op, error);
}

static int not_started(struct git_op *op)
{
	op->result.fault = host_fault(op->end.error) ? op->end.error : 0;
	return git_fail(op, xasprintf("%s git: %s", op->end.what, strerror(op->end.error)));
}

/* ls-files skips what it cannot open, with a warning and exit status 0. */
static bool missed_something(const struct git_op *op)
{
	return (op->flags & GIT_FILES) != 0 && strcmp(op->command, "ls-files") == 0 && op->end.err.data != NULL &&
	    strstr(op->end.err.data, "could not open directory") != NULL;
}

/* ---- running it ---- */

static void add_words(struct git_command *command, const char *word, va_list ap)
{
	for (; word != NULL; word = va_arg(ap, const char *))
		git_command_add(command, word);
}

/* The name of the command among words that may begin with "-c NAME=VALUE". */
static const char *command_name(const char *word, va_list ap)
{
	while (word != NULL && strcmp(word, "-c") == 0) {
		(void)va_arg(ap, const char *);
		word = va_arg(ap, const char *);
	}
	return word;
}

/* What the environment could still say against it. */
static void set_evidence(const struct git_op *op, const struct git_call *call, struct git_command *command)
{
	bool staged = (call->flags & GIT_STAGED) != 0;
	char *objects = staged ? xasprintf("GIT_OBJECT_DIRECTORY=%s/" GIT_STAGING, op->spec.scratch) :
	    xasprintf("GIT_OBJECT_DIRECTORY=%s/objects", op->objects);
	char *alternates = staged ? xasprintf("GIT_ALTERNATE_OBJECT_DIRECTORIES=%s/objects", op->objects) :
	    xstrdup("GIT_ALTERNATE_OBJECT_DIRECTORIES=");

	git_command_set_alone(command);
	strings_append(&command->env, objects);
	strings_append(&command->env, alternates);
	free(alternates);
	free(objects);
	if (staged) {
		git_command_add(command, "-c");
		git_command_add(command, "core.fsync=none");
	}
	if ((call->flags & GIT_FILES) != 0) {
		char *word = xasprintf("core.excludesFile=%s/" GIT_EXCLUDES, op->objects);

		git_command_add(command, "-c");
		git_command_add(command, word);
		free(word);
	}
}

/* Name the git directory, so that git does not search the parent directories. */
static void set_command(const struct git_op *op, const struct git_call *call, const char *index,
    struct git_command *command)
{
	const char *place = call->place != NULL ? call->place : op->place;
	const char *words[3] = { NULL };
	bool evidence = is_in_evidence(op, call->flags);
	const char *git_dir = evidence ? op->objects : call->git_dir != NULL ? call->git_dir : op->git_dir;
	char *dir = git_dir != NULL ? xasprintf("--git-dir=%s", git_dir) : NULL, *tree = NULL;

	if (evidence ? (call->flags & GIT_FILES) != 0 : call->git_dir == NULL && op->git_dir != NULL)
		tree = xasprintf("--work-tree=%s", place);
	if (dir != NULL) {
		words[0] = dir;
		words[1] = tree;
	} else if ((call->flags & GIT_FILES) != 0) {
		words[0] = "--work-tree=.";
	}
	if ((call->flags & GIT_HOOKED) != 0)
		git_command_set_hooked(command, place, index, words);
	else if ((call->flags & GIT_FILTERED) != 0)
		git_command_set_filtered(command, place, index, words);
	else
		git_command_set(command, place, call->inside, index, words);
	free(dir);
	free(tree);
	if (evidence)
		set_evidence(op, call, command);
	else if ((call->flags & GIT_ALONE) != 0)
		git_command_set_alone(command);
	if (op->anonymous)
		git_command_set_ident(command);
}

/* Only what runs in the evidence repository, or makes it: agents of another user can change any
 * other, and so what runs there. */
static bool keeps_group(const struct git_op *op, unsigned flags)
{
	return is_in_evidence(op, flags) || (flags & GIT_INIT) != 0;
}

/* Another git is making a work tree, which is not done at once: one that looks at all of them dies
 * before it has done anything. Where hooks run, they may have said it. */
static bool met_half_a_tree(const struct git_op *op)
{
	const char *said = op->end.err.data;

	return op->end.error == 0 && op->end.status != 0 && (op->flags & GIT_HOOKED) == 0 && said != NULL &&
	    strstr(said, "failed to read ") != NULL && strstr(said, "/commondir: ") != NULL;
}

static void run_patiently(struct git_op *op, const struct child *child)
{
	const struct timespec pause = { .tv_nsec = HALF_PAUSE_NS };
	int tries = 0;

	do {
		child_end_release(&op->end);
		child_run(child, &op->end);
	} while (child->reader == NULL && met_half_a_tree(op) && ++tries < HALF_TRIES && nanosleep(&pause, NULL) == 0);
}

/* index: for GIT_INDEX. */
static int run_call(struct git_op *op, const struct git_call *call, const char *index, const char *word, va_list words)
{
	struct git_command command = { 0 };
	struct child child = {
		.input = call->input, .input_size = call->input_size,
		.output = (call->flags & GIT_PATCH) != 0 ? STDOUT_FILENO : call->output != 0 ? call->output : -1,
		.keep = (call->flags & GIT_HOOKED) != 0 ? WORDS_KEEP : 0,
		.reader = call->reader, .arg = call->arg,
		.keeps_group = keeps_group(op, call->flags),
	};
	bool failed;
	va_list ap;

	op->flags = call->flags;
	set_command(op, call, (call->flags & GIT_INDEX) != 0 ? index : NULL, &command);
	va_copy(ap, words);
	op->command = command_name(word, ap);
	va_end(ap);
	add_words(&command, word, words);
	for (size_t i = 0; call->more != NULL && call->more[i] != NULL; i++)
		git_command_add(&command, call->more[i]);
	child.argv = command.argv;
	child.env = child_environment((const char *const *)command.env);
	child.name = op->command;
	run_patiently(op, &child);
	strings_free(child.env);
	git_command_release(&command);
	if (op->end.error != 0)
		return not_started(op);
	failed = !WIFEXITED(op->end.status) || WEXITSTATUS(op->end.status) != 0;
	/* a failure caused by the host is no answer */
	if ((failed && ((call->flags & GIT_MAY_FAIL) == 0 || fault_said(op) != 0)) || missed_something(op)) {
		git_fail_process(op);
		op->moved = op->result.fault == 0 && (call->flags & GIT_MOVING) != 0;
		return -1;
	}
	return failed ? 1 : 0;
}

/* With its time, by which git tells what may have changed since. A missing one goes, too. */
static int copy_index(const char *from, const char *to)
{
	struct timespec times[2];
	char *data = NULL;
	struct stat st;
	size_t size;
	int rv = lstat(from, &st) == -1 ? -errno : file_read(AT_FDCWD, from, SIZE_MAX - 1, &data, &size);

	if (rv == -ENOENT)
		return unlink(to) == -1 && errno != ENOENT ? -errno : 0;
	if (rv == 0)
		rv = file_write(AT_FDCWD, to, data, size, 0600, false);
	times[0] = times[1] = st.st_mtim;
	if (rv == 0 && utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) == -1)
		rv = -errno;
	free(data);
	return rv;
}

/* git writes an index through a link. Agents of another user can put one into scratch, so what
 * reaches the evidence has its index in the directory of the step. malloc'd; NULL: the usual
 * one. */
static char *index_apart(const struct git_op *op, unsigned flags)
{
	char *cwd = (flags & GIT_INDEX) != 0 && child_has_agents() && keeps_group(op, flags) ? getcwd(NULL, 0) : NULL;
	char *index = cwd != NULL ? xasprintf("%s/index", cwd) : NULL;

	free(cwd);
	return index;
}

static int fail_index(struct git_op *op, int rv)
{
	return git_fail(op, xasprintf("%s: %s", op->index, host_words(-rv)));
}

int git_run_call(struct git_op *op, const struct git_call *call, const char *word, ...)
{
	char *apart = index_apart(op, call->flags);
	int rv = apart != NULL ? copy_index(op->index, apart) : 0;
	va_list ap;

	if (rv == 0) {
		va_start(ap, word);
		rv = run_call(op, call, apart != NULL ? apart : op->index, word, ap);
		va_end(ap);
	} else {
		rv = fail_index(op, rv);
	}
	if (rv == 0 && apart != NULL && (rv = copy_index(apart, op->index)) != 0)
		rv = fail_index(op, rv);
	free(apart);
	return rv;
}

/* ---- questions that many ask ---- */

int git_update_index(struct git_op *op, unsigned flags, struct buf *lines)
{
	int rv = lines->size > 0 ? git_run_input(op, flags, lines, "update-index", "-z", "--index-info") : 0;

	buf_release(lines);
	return rv;
}

void git_fresh_index(const struct git_op *op)
{
	char *lock = xasprintf("%s.lock", op->index);

	unlink(op->index);
	unlink(lock);		/* left by a git that was killed */
	free(lock);
}

int git_find_common(struct git_op *op)
{
	const char *data, *path;

	if (git_run(op, 0, "rev-parse", "--is-bare-repository", "--path-format=absolute", "--git-common-dir") != 0)
		return -1;
	/* "true" or "false", then the path, which may contain a newline */
	data = git_out(op);
	path = strchr(data, '\n');
	if (path == NULL || path[1] != '/' || data[git_out_size(op) - 1] != '\n')
		return git_fail_output(op);
	op->bare = strncmp(data, "true", 4) == 0;
	op->common = xmemdup0(path + 1, git_out_size(op) - (size_t)(path + 1 - data) - 1);
	return 0;
}

int git_resolve(struct git_op *op, const char *name, char **id)
{
	int rv = git_run(op, GIT_MAY_FAIL, "rev-parse", "--verify", "-q", "--end-of-options", name);

	*id = rv == 0 ? git_out_line(op) : NULL;
	return rv == -1 ? -1 : 0;
}

int git_list_tree(struct git_op *op, const char *tree, struct changes *files)
{
	if (git_run(op, GIT_EVIDENCE, "ls-tree", "-r", "-z", "--full-tree", tree) != 0)
		return -1;
	changes_release(files);
	return changes_read_tree(files, git_out(op), git_out_size(op)) ? 0 : git_fail_output(op);
}

int git_diff(struct git_op *op, unsigned flags, const char *from, const char *to,
    char *const *artifacts, struct changes *changes)
{
	int rv = git_run(op, flags, "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none", from, to);

	if (rv != 0)
		return rv;
	changes_release(changes);
	return changes_read(changes, git_out(op), git_out_size(op), artifacts) ? 0 : git_fail_output(op);
}
