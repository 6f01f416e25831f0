/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "job/work.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "record/output.h"

static bool make_directory(struct step_work *work, const char *path)
{
	int rv = path != NULL ? file_mkdirs(path, 0700) : 0;

	if (rv != 0)
		work->error = xasprintf("%s: %s", path, host_words(-rv));
	return rv == 0;
}

static void set_step_environment(struct step_work *work)
{
	work->env = environment_load(work->work.state_dir, work->secrets.environment, NULL, &work->error);
	if (work->env != NULL)
		environment_set_all(&work->env, work->out.env);
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

/* The directory of the step that has ended, whose output is all there. -1 with an error: it has no result, and is run again. */
static int open_result(struct step_work *work)
{
	char *dir = work_attempt_dir(work->work.state_dir, work->step);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv = dirfd == -1 ? -errno : output_vouched(dirfd, work->keep);

	if (rv == -ENODATA)
		work->error = xasprintf("what %s printed was not all kept in %s", work->name, dir);
	else if (rv != 0)
		work->error = xasprintf("what %s printed cannot be read in %s: %s", work->name, dir, strerror(-rv));
	if (rv != 0)
		host_words(host_fault(-rv) ? -rv : rv == -ENODATA ? ENOSPC : EIO);
	free(dir);
	if (rv == 0 || dirfd == -1)
		return dirfd;
	close(dirfd);
	return -1;
}

/* What the operation says of the host, where it heard of it from a program. */
static int op_fault(const struct step_work *work)
{
	if (work->error != NULL)
		return 0;
	return work->git != NULL ? git_op_fault(work->git) : task_op_fault(work->task);
}

void step_run(struct step_work *work)
{
	int dirfd = -1;

	work->next = STEP_NEXT_FAILED;
	if (work->step == ROW_NONE) {
		if (!make_directory(work, work->scratch))
			return;
		if (work->git == NULL && work->task == NULL)
			make_task_op(work);
		if (work->error != NULL)
			return;
	} else if ((dirfd = open_result(work)) == -1) {
		return;
	}
	work->next = work->git != NULL ? git_op_next(work->git, dirfd, work->ok, &work->out) : task_op_next(work->task, dirfd, work->ok, &work->out);
	if (work->next == STEP_NEXT_FAILED)
		host_words(op_fault(work));
	if (work->next == STEP_NEXT_RUN)
		set_step_environment(work);
	else
		mask_words(work);
	if (work->error != NULL)
		work->next = STEP_NEXT_FAILED;
	if (dirfd != -1)
		close(dirfd);
}
