/* SPDX-License-Identifier: MIT */
#include "job/next_step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "core/row.h"
#include "git/git_op.h"
#include "job/kept_environment.h"
#include "job/secrets.h"
#include "model/dirs.h"
#include "model/work.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/output.h"
#include "task/task_op.h"

static bool make_directory(struct step_work *work, const char *path)
{
	int rv = path != NULL ? file_mkdirs(path, 0700) : 0;

	if (rv != 0)
		work->error = xasprintf("%s: %s", path, host_words(-rv));
	return rv == 0;
}

/* What rl-git needs: the operation, and the environment of the run's submitter. */
static void set_input(struct step_work *work)
{
	work->input = work->git != NULL ? git_op_text(work->git, &work->input_size) : task_op_text(work->task, &work->input_size);
	work->env = environment_load(work->work.state_dir, work->secrets.environment, NULL, &work->error);
}

static void make_task_op(struct step_work *work)
{
	char **env = environment_load(work->work.state_dir, work->secrets.environment, NULL, &work->error);
	struct task_op_spec spec = {
		.kind = work->source.kind,
		.source = work->source.source,
		.path = work->source.path,
		.task = work->source.task,
		.actor = work->source.actor,
		.reason = work->source.reason,
	};

	for (size_t i = 0; env != NULL && env[i] != NULL; i++)
		if (strncmp(env[i], "PATH=", 5) == 0)
			spec.search = env[i] + 5;
	if (env != NULL)
		work->task = work->made = task_op_new(&spec);
	strings_wipe(env);
}

/* What git, its hooks or bd say is told to people and fixers. */
static void mask_words(struct step_work *work)
{
	struct redactor *redactor = secrets_redactor(work->work.state_dir, &work->secrets);

	if (work->git != NULL)
		git_op_redact(work->git, redactor);
	else if (work->task != NULL)
		task_op_redact(work->task, redactor);
	redact_free(redactor);
}

/* How rl-git ended that left no result. A disk that could not take it is no failure of the operation, which begins again. */
static void no_result(struct step_work *work, const char *dir, int dirfd, int rv)
{
	struct exit_record record;
	int status = exit_record_read(dirfd, &record) == 0 && record.how == EXIT_BY_CODE ? record.status : 0;

	if (status == 0) {
		work->error = xasprintf("the result of rl-git in %s cannot be read: %s", dir, rv == -EBADMSG ? "it is not all there" : strerror(-rv));
		host_words(host_fault(-rv) ? -rv : rv == -EBADMSG || rv == -ENODATA ? ENOSPC : EIO);
	} else if (host_fault(status)) {
		work->error = xasprintf("rl-git could not write its result in %s: %s", dir, host_words(status));
	} else {
		work->error = xasprintf("rl-git ended with status %d and left no result; see what it says in %s", status, dir);
	}
}

static void read_result(struct step_work *work)
{
	char *dir = work_attempt_dir(work->work.state_dir, work->step);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv = dirfd == -1 ? -errno : output_vouched(dirfd, GIT_PATCH_KEEP);

	if (rv == -ENODATA) {
		work->error = xasprintf("what rl-git printed was not all kept in %s", dir);
		host_words(ENOSPC);
	} else if (rv != 0) {
		work->error = xasprintf("what rl-git printed cannot be read in %s: %s", dir, strerror(-rv));
		host_words(host_fault(-rv) ? -rv : EIO);
	} else {
		rv = work->git != NULL ? git_op_result(work->git, dirfd) : task_op_result(work->task, dirfd);
		if (rv != 0)
			no_result(work, dir, dirfd, rv);
	}
	if (dirfd != -1)
		close(dirfd);
	free(dir);
}

static void begin(struct step_work *work)
{
	if (!make_directory(work, work->scratch))
		return;
	if (work->git == NULL && work->task == NULL)
		make_task_op(work);
	if (work->error != NULL)
		return;
	work->next = work->task != NULL ? task_op_begin(work->task) : STEP_NEXT_RUN;
	if (work->next == STEP_NEXT_RUN)
		set_input(work);
}

static const char *op_error(const struct step_work *work)
{
	return work->git != NULL ? git_op_error(work->git) : task_op_error(work->task);
}

static void next_step_run(struct work *base)
{
	struct step_work *work = (struct step_work *)base;

	work->next = STEP_NEXT_FAILED;
	if (work->step == ROW_NONE)
		begin(work);
	else
		read_result(work);
	if (work->error != NULL) {
		work->next = STEP_NEXT_FAILED;
		return;
	}
	if (work->next == STEP_NEXT_RUN)
		return;
	if (work->step != ROW_NONE)
		work->next = op_error(work) != NULL ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
	if (work->next == STEP_NEXT_FAILED)
		host_words(work->git != NULL ? git_op_fault(work->git) : task_op_fault(work->task));
	mask_words(work);
}

static void next_step_release(struct work *base)
{
	struct step_work *w = (struct step_work *)base;

	free(w->source.path);
	free(w->source.task);
	free(w->source.actor);
	free(w->source.reason);
	task_op_free(w->made);
	secrets_release(&w->secrets);
	free(w->scratch);
	free(w->input);
	strings_wipe(w->env);
	free(w->error);
}

const struct work_type next_step_type = { "next_step", next_step_run, next_step_release };
