/* SPDX-License-Identifier: MIT */
#include "job/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/agent_user.h"
#include "base/credentials.h"
#include "base/digest.h"
#include "base/file.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/state.h"
#include "git/gitdir.h"
#include "git/toplevel.h"
#include "job/host_refusal.h"
#include "job/kept_environment.h"
#include "job/review_basis.h"
#include "job/review_program.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proc/inspect.h"
#include "proto/error.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "task/task_op.h"

#define TASK_MAX (16 * 1024 * 1024)

static void intake_refuse(struct intake *item, int code, const char *field, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* The first refusal counts. */
static void intake_refuse(struct intake *item, int code, const char *field, const char *hint, const char *fmt, ...)
{
	va_list ap;

	if (item->code != RPC_OK)
		return;
	item->code = code;
	item->field = field;
	item->hint = hint != NULL ? xstrdup(hint) : NULL;
	va_start(ap, fmt);
	item->message = xvasprintf(fmt, ap);
	va_end(ap);
}

/* A path of the submit could not be used because of this errno: an error of the submit, or a
 * temporary one of the host. */
static void intake_refuse_path(struct intake *item, int error, const char *field, const char *hint, const char *path)
{
	intake_refuse(item, host_refusal_code(error, RPC_INVALID_PARAMS), field,
	    host_refusal_hint(error, hint), "%s: %s", path, strerror(error));
}

/* The workdir relative to the workspace. */
static void set_subdir(struct intake *item)
{
	char *real = item->workspace != NULL ? realpath(item->workdir, NULL) : NULL;
	size_t n = item->workspace != NULL ? strlen(item->workspace) : 0;

	item->subdir = xstrdup(real != NULL && strncmp(real, item->workspace,
	    n) == 0 && real[n] == '/' ? real + n + 1 : "");
	free(real);
}

/* Whether git would take the directory for a git directory. */
static bool is_bare(const char *dir)
{
	static const char *const parts[] = { "HEAD", "objects", "refs" };
	bool all = true;

	for (size_t i = 0; all && i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *path = xasprintf("%s/%s", dir, parts[i]);

		all = access(path, F_OK) == 0;
		free(path);
	}
	return all;
}

/* The daemon of its owner could work there. */
static void refuse_closed(struct intake *item, uid_t owner, int error)
{
	char *name = owner != geteuid() ? user_name_of(owner) : NULL, *hint;

	hint = xasprintf("the user of the agents needs read, write and search permission on it%s%s%s%s",
	    name != NULL ? "; or submit to a daemon of its owner, " : "", name != NULL ? name : "",
	    name != NULL ? ": rlctl --start as that user, or the unit rld@" : "", name != NULL ? name : "");
	intake_refuse(item, RPC_INVALID_PARAMS, "workdir", hint,
	    "workdir %s cannot be used by uid %u: %s", item->workdir, (unsigned)agent_user()->is.uid, strerror(error));
	free(hint);
	free(name);
}

/* Agents work there, and we read. 0 or -errno. */
static int usable(const char *workdir)
{
	const struct agent_user *agents = agent_user();
	int rv = agents->apart ? peer_access(&agents->is, workdir, R_OK | W_OK | X_OK) : 0;

	if (rv == 0 && access(workdir, R_OK | X_OK | (agents->apart ? 0 : W_OK)) == -1)
		rv = -errno;
	return rv;
}

static void check_workdir(struct intake *item)
{
	struct stat st;
	char *top, *real;
	int rv;

	if (item->workdir[0] != '/') {
		intake_refuse(item, RPC_INVALID_PARAMS, "workdir", "use an absolute path",
		    "workdir '%s' is not absolute", item->workdir);
		return;
	}
	if (stat(item->workdir, &st) == -1) {
		intake_refuse_path(item, errno, "workdir", "create it, or name another with -C", item->workdir);
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		intake_refuse(item, RPC_INVALID_PARAMS, "workdir", "name a directory with -C",
		    "workdir %s is not a directory", item->workdir);
		return;
	}
	rv = usable(item->workdir);
	if (rv != 0) {
		errno = -rv;
		if (host_fault(errno))
			intake_refuse_path(item, errno, "workdir", NULL, item->workdir);
		refuse_closed(item, st.st_uid, errno);
		return;
	}
	rv = git_toplevel(item->workdir, &top);
	if (rv != 0) {
		intake_refuse_path(item, -rv, "workdir",
		    "let the daemon's user search it for a repository", item->workdir);
		return;
	}
	item->has_git = top != NULL;
	real = realpath(top != NULL ? top : item->workdir, NULL);
	if (real == NULL)
		intake_refuse_path(item, errno, "workdir", "name another with -C", item->workdir);
	item->workspace = real;
	item->evidence = real != NULL && item->has_git ? git_dir_id(real) : NULL;
	free(top);
	set_subdir(item);
	if (item->has_git && real != NULL)
		item->in_progress = git_dir_in_progress(real, &item->finish);
	if (!item->has_git && is_bare(item->workdir))
		intake_refuse(item, RPC_INVALID_PARAMS, "workdir",
		    "make a work tree with 'git worktree add DIR' there, and name that with -C",
		    "workdir %s is a bare repository, which has no files to work on", item->workdir);
	if (!item->has_git && item->review_plan != NULL && item->review_plan->profile->carrier != CARRIER_EXIT)
		intake_refuse(item, RPC_INVALID_PARAMS, "workdir", item->review_plan == &item->task_plan ?
		    "run 'git init' there, or remove agentic_review from the workflow" :
		    "run 'git init' there, review with a program (--reviewer CMD), or do not "
		    "review (--no-review)",
		    "workdir %s is not in a git repository, and a review needs one to find the "
		    "changes",
		    item->workdir);
	else if (!item->has_git && item->review_plan != NULL && strings_count(item->review_plan->protect) > 0)
		intake_refuse(item, RPC_INVALID_PARAMS, "workdir",
		    "run 'git init' there, or choose a profile with protect = []",
		    "workdir %s is not in a git repository, and review.protect needs one to find what the "
		    "work touches", item->workdir);
}

static void check_prompt_file(struct intake *item, const char *path, const char *field)
{
	if (path != NULL && access(path, R_OK) == -1)
		intake_refuse_path(item, errno, field,
		    "name an existing file, or remove the option", path);
}

/* Check it before anything is paid for. The report is put in place by a rename, which would replace
 * a device or pipe of this name. */
static void check_report(struct intake *item)
{
	const char *path = item->plan->report;
	char *directory;
	struct stat st;

	if (path == NULL)
		return;
	directory = xmemdup0(path, (size_t)(strrchr(path, '/') - path) + 1);
	if (access(directory, W_OK | X_OK) == -1)
		intake_refuse_path(item, errno, "report",
		    "name a file in an existing directory that the daemon's user may write to",
		    directory);
	else if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		intake_refuse(item, RPC_INVALID_PARAMS, "report", "name another file",
		    "report %s is not a regular file", path);
	free(directory);
}

/* Profile "exit": check the program before anything is paid for, and record what it is. */
static void check_reviewer(struct intake *item)
{
	const char *reviewer = item->review_plan != NULL ? item->review_plan->reviewer : NULL;
	char hex[DIGEST_HEX], *path;
	int error;

	if (reviewer == NULL || item->review_plan->profile->carrier != CARRIER_EXIT)
		return;
	error = review_program_find(reviewer, item->environment, &path);
	if (error != 0 && !host_fault(error)) {
		intake_refuse(item, RPC_INVALID_PARAMS, "reviewer",
		    "name an existing program, and make it executable (chmod +x)",
		    "reviewer %s does not exist or is not an executable file", reviewer);
		return;
	}
	if (error == 0)
		error = digest_file(path, hex);
	if (error == 0)
		item->reviewer_sha256 = xstrdup(hex);
	else
		intake_refuse_path(item, error, "reviewer",
		    "make it readable: a change of it during the run must be noticed", reviewer);
	free(path);
}

/* Read what judges, before any coder of the run can change it. */
static void read_judge(struct intake *item, const char *state_dir, const char *config_dir)
{
	struct review_basis basis = {
		.plan = item->review_plan,
		.state_dir = state_dir,
		.config_dir = config_dir,
		.workspace = item->workspace,
		.workdir = item->workdir,
		.subdir = item->subdir,
		.retry_of = item->retry_of,
		.read_as = item->plan->read_as,
		.anew = item->new_judge,
		.kept = item->kept,
	};
	int error;

	if (item->code != RPC_OK)
		return;
	host_noted();
	item->judge = review_basis_read(&basis);
	item->warnings = basis.warnings;
	error = host_noted();
	if (basis.error != NULL)
		intake_refuse(item, host_refusal_code(error, RPC_INVALID_PARAMS), basis.field,
		    host_refusal_hint(error, "correct the file, or name another"), "%s", basis.error);
	free(basis.error);
}

/* Without bd, the exported file must be readable. */
static void check_export(struct intake *item)
{
	const char *path = environment_get(item->environment, "PATH");
	const struct task_op_spec spec = { .kind = TASK_OP_LOAD, .source = SOURCE_BEADS,
	    .path = item->source_path, .search = path };
	struct task_op *op = task_op_new(&spec);

	/* with bd there is nothing to do yet */
	if (task_op_begin(op) == STEP_NEXT_FAILED)
		intake_refuse(item, RPC_INVALID_PARAMS, "beads", NULL, "%s", task_op_error(op));
	task_op_free(op);
}

/* The directory of the beads must exist; it is read again before each iteration. */
static void check_beads(struct intake *item)
{
	char *dir = xasprintf("%s/.beads", item->source_path);
	struct stat st;
	int error = stat(dir, &st) == -1 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;

	if (host_fault(error))
		intake_refuse_path(item, error, "beads", NULL, dir);
	if (error != 0)
		intake_refuse(item, RPC_INVALID_PARAMS, "beads",
		    "name the directory that contains .beads, or run 'bd init' there",
		    "no beads in %s", item->source_path);
	else
		check_export(item);
	free(dir);
}

static void take_task(struct intake *item, const char *state_dir)
{
	char *path = NULL, *name;
	int rv;

	if (item->task_blob == NULL) {
		if (item->task_size > TASK_MAX) {
			intake_refuse(item, RPC_INVALID_PARAMS, "task", "split the task",
			    "the task is larger than 16 MiB");
			return;
		}
		item->text = xmemdup0(item->task, item->task_size);
		item->text_size = item->task_size;
	} else {
		name = dirs_blob_name((uid_t)item->owner, item->task_blob);
		path = xasprintf("%s/blobs/%s", state_dir, name);
		free(name);
		rv = file_read(AT_FDCWD, path, TASK_MAX, &item->text, &item->text_size);
		free(path);
		if (rv == -ENOENT)
			intake_refuse(item, RPC_NOT_FOUND, "task_blob",
			    "upload it with blob.put first", "no such blob: '%s'", item->task_blob);
		else if (rv == -EFBIG)
			intake_refuse(item, RPC_INVALID_PARAMS, "task_blob", "split the task",
			    "the task is larger than 16 MiB");
		else if (rv != 0)
			intake_refuse(item, host_refusal_code(-rv, RPC_UNAVAILABLE), "task_blob",
			    NULL, "blob '%s': %s", item->task_blob, strerror(-rv));
	}
	if (item->text == NULL)
		return;
	if (item->text[strspn(item->text, " \t\r\n")] == '\0' && strlen(item->text) == item->text_size)
		intake_refuse(item, RPC_INVALID_PARAMS, "task", "describe the task", "the task is empty");
	else if (memchr(item->text, '\0', item->text_size) != NULL)
		intake_refuse(item, RPC_INVALID_PARAMS, "task",
		    "remove the NUL bytes", "the task contains a NUL byte");
	else if (!text_is_utf8(item->text, item->text_size))
		intake_refuse(item, RPC_INVALID_PARAMS, "task",
		    "convert it, for example with iconv -t UTF-8", "the task is not valid UTF-8");
}

static void check_argument(struct intake *item)
{
	if (item->plan->agents[ROLE_IMPLEMENT].prompt == PROMPT_ARG && item->text_size > AGENT_ARG_MAX)
		intake_refuse(item, RPC_INVALID_PARAMS, "task", "set prompt = \"stdin\" or \"file\" for this agent",
		    "agent '%s' takes its prompt as an argument, which is limited to %d bytes; the task has %zu",
		    item->plan->agents[ROLE_IMPLEMENT].name, AGENT_ARG_MAX, item->text_size);
}

/* Save the environment as a file of NUL-terminated entries, named by its hash: runs with the same
 * environment share it. */
static void keep_environment(struct intake *item, const char *state_dir)
{
	struct buf b = { 0 };
	char hex[DIGEST_HEX], *path, *kept = NULL;
	size_t size = 0;
	int rv = 0;

	if (item->environment == NULL)
		return;
	for (size_t i = 0; item->environment[i] != NULL; i++)
		buf_add(&b, item->environment[i], strlen(item->environment[i]) + 1);
	digest_hex(b.data != NULL ? b.data : "", b.size, hex);
	path = xasprintf("%s/env/%s", state_dir, hex);
	/* also over one that was changed */
	if (file_read_recorded(AT_FDCWD, path, b.size, hex, &kept, &size) != 0)
		rv = file_write(AT_FDCWD, path, b.data, b.size, 0600, true);
	if (rv == -ENOSPC || rv == -EDQUOT)
		intake_refuse(item, RPC_NO_SPACE, NULL, "make room on the disk of the state directory",
		    "no space left to save the environment in %s", path);
	else if (rv != 0)
		intake_refuse(item, host_refusal_code(-rv, RPC_UNAVAILABLE), NULL, NULL,
		    "cannot save the environment in %s: %s", path, strerror(-rv));
	else
		item->environment_hash = xstrdup(hex);
	free(path);
	if (kept != NULL)
		explicit_bzero(kept, size);
	free(kept);
	if (b.data != NULL)
		explicit_bzero(b.data, b.size);
	buf_release(&b);
}

static void intake_run(struct job *base)
{
	struct intake_job *job = (struct intake_job *)base;
	const char *state_dir = job->job.state_dir;

	for (size_t i = 0; i < job->count; i++) {
		struct intake *item = job->items[i];

		check_workdir(item);
		check_prompt_file(item, item->plan->developer_prompt, "developer_prompt");
		if (item->review_plan != NULL)
			check_prompt_file(item, item->review_plan->reviewer_prompt, "reviewer_prompt");
		check_reviewer(item);
		check_report(item);
		read_judge(item, state_dir, job->job.config_dir);
		if (item->source == SOURCE_PROMPT) {
			take_task(item, state_dir);
			check_argument(item);
		} else if (item->source == SOURCE_BEADS) {
			check_beads(item);
		}
		if (item->code == RPC_OK && !item->check)
			keep_environment(item, state_dir);
	}
}

static void intake_release(struct job *base)
{
	struct intake_job *w = (struct intake_job *)base;

	for (size_t i = 0; i < w->count; i++) {
		struct intake *item = w->items[i];

		plan_release(&item->task_plan);
		free(item->message);
		free(item->hint);
		free(item->workspace);
		free(item->subdir);
		free(item->evidence);
		free(item->text);
		free(item->environment_hash);
		free(item->reviewer_sha256);
		row_free(ROW_JUDGE, item->judge);
		strings_free(item->warnings);
		free(item);
	}
	free(w->items);
}

const struct job_type intake_type = { "intake", intake_run, intake_release };
