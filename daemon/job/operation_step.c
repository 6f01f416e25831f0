/* SPDX-License-Identifier: MIT */
#include "job/operation_step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/digest.h"
#include "base/file.h"
#include "core/row.h"
#include "git/git_op.h"
#include "job/kept_environment.h"
#include "job/kept_files.h"
#include "job/secrets.h"
#include "job/remove_theirs.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"
#include "task/task_op.h"

static bool make_directory(struct step_job *job, const char *path)
{
	int rv = path != NULL ? file_mkdirs(path, 0700) : 0;

	if (rv == 0 && path != NULL)
		rv = agent_user_give(AT_FDCWD, path, 01770);
	if (rv != 0)
		job->error = xasprintf("%s: %s", path, host_words(-rv));
	return rv == 0;
}

/* Input of rl-git: the operation, and the environment of the run's submitter. */
static void set_input(struct step_job *job)
{
	job->input = job->git != NULL ? git_op_text(job->git, &job->input_size) :
	    task_op_text(job->task, &job->input_size);
	job->env = environment_load(job->job.state_dir, job->secrets.environment, NULL, &job->error);
}

static void make_task_op(struct step_job *job)
{
	char **env = environment_load(job->job.state_dir, job->secrets.environment, NULL, &job->error);
	struct task_op_spec spec = {
		.kind = job->source.kind,
		.source = job->source.source,
		.path = job->source.path,
		.task = job->source.task,
		.actor = job->source.actor,
		.reason = job->source.reason,
	};

	for (size_t i = 0; env != NULL && env[i] != NULL; i++)
		if (strncmp(env[i], "PATH=", 5) == 0)
			spec.search = env[i] + 5;
	if (env != NULL)
		job->task = job->made = task_op_new(&spec);
	strings_wipe(env);
}

/* Redact messages of git, its hooks and bd, which users and fixers will see. */
static void mask_words(struct step_job *job)
{
	struct redactor *redactor = secrets_redactor(job->job.state_dir, &job->secrets);

	if (job->git != NULL)
		git_op_redact(job->git, redactor);
	else if (job->task != NULL)
		task_op_redact(job->task, redactor);
	redact_free(redactor);
}

/* rl-git left no result. If the disk could not take it, the operation did not fail and starts
 * again. */
static void no_result(struct step_job *job, const char *dir, int dirfd, int rv)
{
	struct exit_record record;
	int status = exit_record_read(dirfd, &record) == 0 && record.how == EXIT_BY_CODE ? record.status : 0;

	if (status == 0) {
		job->error = xasprintf("cannot read the result of rl-git in %s: %s", dir,
		    rv == -EBADMSG ? "it is incomplete" : strerror(-rv));
		host_words(host_fault(-rv) ? -rv : rv == -EBADMSG || rv == -ENODATA ? ENOSPC : EIO);
	} else if (host_fault(status)) {
		job->error = xasprintf("rl-git could not write its result in %s: %s", dir, host_words(status));
	} else {
		job->error = xasprintf(
		    "rl-git exited with status %d and left no result; see its messages in %s", status, dir);
	}
}

/* The row about the operation refers to its patch, and has its hash. */
static void sync_patch(struct step_job *job, const char *dir, int dirfd)
{
	int rv = output_sync(dirfd, RECORD_STDOUT);
	char hex[DIGEST_HEX];

	if (rv == 0)
		rv = kept_output_hash(dirfd, RECORD_STDOUT, UINT64_MAX, hex);
	if (rv == 0)
		job->patch_hash = xstrdup(hex);
	else
		job->error = xasprintf("the output of rl-git in %s is not on the disk: %s", dir, host_words(-rv));
}

static void read_result(struct step_job *job)
{
	char *dir = dirs_attempt(job->job.state_dir, job->step);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	    rv = dirfd == -1 ? -errno : output_vouched(dirfd, GIT_PATCH_KEEP);

	if (rv == -ENODATA) {
		job->error = xasprintf("the output of rl-git in %s is incomplete", dir);
		host_words(ENOSPC);
	} else if (rv != 0) {
		job->error = xasprintf("cannot read the output of rl-git in %s: %s", dir, strerror(-rv));
		host_words(host_fault(-rv) ? -rv : EIO);
	} else {
		rv = job->git != NULL ? git_op_result(job->git, dirfd) : task_op_result(job->task, dirfd);
		if (rv != 0)
			no_result(job, dir, dirfd, rv);
		else if (job->git != NULL)
			sync_patch(job, dir, dirfd);
	}
	if (dirfd != -1)
		close(dirfd);
	free(dir);
}

static void begin(struct step_job *job)
{
	if (!make_directory(job, job->scratch))
		return;
	if (job->git == NULL && job->task == NULL)
		make_task_op(job);
	if (job->error != NULL)
		return;
	job->next = job->task != NULL ? task_op_begin(job->task) : STEP_NEXT_RUN;
	if (job->next == STEP_NEXT_RUN)
		set_input(job);
}

static const char *op_error(const struct step_job *job)
{
	return job->git != NULL ? git_op_error(job->git) : task_op_error(job->task);
}

/* Only a patch is read again, by its step. A daemon that dies before it records the end repeats the
 * operation, with or without this directory. */
static void forget(const struct step_job *job)
{
	char *dir;

	/* to see what rl-git was told, and said */
	if (getenv("RLD_KEEP_STEPS") != NULL || (job->git != NULL && git_op_writes_patch(job->git)))
		return;
	dir = dirs_attempt(job->job.state_dir, job->step);
	remove_theirs(dir);
	free(dir);
}

static void operation_step_run(struct job *base)
{
	struct step_job *job = (struct step_job *)base;

	job->next = STEP_NEXT_FAILED;
	if (job->step == ROW_NONE)
		begin(job);
	else
		read_result(job);
	if (job->error != NULL) {
		job->next = STEP_NEXT_FAILED;
		return;
	}
	if (job->next == STEP_NEXT_RUN)
		return;
	if (job->step != ROW_NONE)
		job->next = op_error(job) != NULL ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
	if (job->next == STEP_NEXT_FAILED)
		host_words(job->git != NULL ? git_op_fault(job->git) : task_op_fault(job->task));
	mask_words(job);
	if (job->step != ROW_NONE && job->next == STEP_NEXT_DONE)
		forget(job);
}

static void operation_step_release(struct job *base)
{
	struct step_job *w = (struct step_job *)base;

	free(w->source.path);
	free(w->source.task);
	free(w->source.actor);
	free(w->source.reason);
	task_op_free(w->made);
	secrets_release(&w->secrets);
	free(w->scratch);
	free(w->input);
	strings_wipe(w->env);
	free(w->patch_hash);
	free(w->error);
}

const struct job_type operation_step_type = { "operation_step", operation_step_run, operation_step_release };
