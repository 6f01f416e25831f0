/* SPDX-License-Identifier: MIT */
#include "job/prepare_run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/file.h"
#include "core/plan.h"
#include "core/state.h"
#include "git/exclude.h"
#include "job/review_basis.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/memory.h"
#include "record/host_fault.h"

static int write_file(const char *dir, const char *name, const char *data, size_t size)
{
	char *path = xasprintf("%s/%s", dir, name);
	int rv = file_write(AT_FDCWD, path, data, size, 0600, true);

	if (rv == 0)
		rv = agent_user_give(AT_FDCWD, path, 0640);
	free(path);
	return rv;
}

/* A directory in the place of the review file must be found before the implementer is paid. */
static void check_review_file(struct prepare_run_dir_job *job)
{
	char *path;
	struct stat st;

	if (job->review_plan->review_file == NULL || job->error != NULL)
		return;
	path = xasprintf("%s/%s", job->workdir, job->review_plan->review_file);
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		job->error = xasprintf("%s is a directory, but the reviewer needs to write a file "
		    "there; move it away, or set another review_file", path);
	free(path);
}

/* None of the run's work trees exists yet: move away whatever is there, because it may be all that
 * is left of some work. Returns 0 or -errno. */
static int set_worktrees_aside(struct prepare_run_dir_job *job)
{
	char *path = xasprintf("%s/worktrees/%lld", job->job.state_dir, (long long)job->run), *aside = NULL, *warning;
	struct stat st;
	int rv = 0;

	if (lstat(path, &st) == 0) {
		for (int n = 1; aside == NULL || lstat(aside, &st) == 0; n++) {
			free(aside);
			aside = xasprintf("%s.aside-%d", path, n);
		}
		rv = rename(path, aside) == -1 ? -errno : 0;
		warning = xasprintf("%s existed before the run: moved to %s", path, aside);
		if (rv == 0)
			strings_append(&job->warnings, warning);
		free(warning);
		free(aside);
	}
	free(path);
	return rv;
}

/* The run has not begun: reuse nothing of its directory, whether planted by another process or left
 * by an interrupted try. Returns 0 or -errno. */
static int make_dir(struct prepare_run_dir_job *job, const char *dir)
{
	char *runs = xasprintf("%s/runs", job->job.state_dir), *scratch = xasprintf("%s/scratch", dir);
	int rv = file_mkdirs(runs, 0700);

	if (rv == 0)
		rv = file_mkdir_anew(dir, 0700);
	if (rv == 0)
		rv = agent_user_pass(AT_FDCWD, dir, 0771);
	if (rv == 0 && mkdir(scratch, 0700) == -1)
		rv = -errno;
	if (rv == 0)
		rv = agent_user_give(AT_FDCWD, scratch, 01770);
	free(scratch);
	free(runs);
	return rv == 0 ? set_worktrees_aside(job) : rv;
}

static void read_judge(struct prepare_run_dir_job *job)
{
	struct review_basis basis = {
		.plan = job->review_plan,
		.state_dir = job->job.state_dir,
		.config_dir = job->job.config_dir,
		.workspace = job->workspace,
		.workdir = job->workdir,
		.subdir = job->subdir,
		.retry_of = job->retry_of,
		.read_as = job->plan->read_as,
	};

	job->judge = review_basis_read(&basis);
	job->judge->run = job->run;
	for (char **text = basis.warnings; text != NULL && *text != NULL; text++)
		strings_append(&job->warnings, *text);
	strings_free(basis.warnings);
	job->error = basis.error;
}

/* <state>/runs/<id>/: task (RL_TASK_FILE), scratch/. */
static void prepare_run_dir_run(struct job *base)
{
	struct prepare_run_dir_job *job = (struct prepare_run_dir_job *)base;
	char *dir = dirs_run(job->job.state_dir, job->run), *warning = NULL;
	int rv = make_dir(job, dir);

	if (rv == 0 && job->text != NULL)
		rv = write_file(dir, "task", job->text, job->text_size);
	if (rv == 0 && job->reads_judge)
		read_judge(job);
	if (job->review_plan != NULL)
		check_review_file(job);
	if (rv != 0 && job->error == NULL)
		job->error = xasprintf("the run directory %s: %s", dir, host_words(-rv));
	if (job->error == NULL && job->has_git && job->artifacts != NULL)
		git_exclude(job->workspace, job->artifacts, agent_user_may, &warning);
	if (warning == NULL && !job->has_git && job->plan->commit == COMMIT_MODE_AUTO)
		warning = xasprintf("nothing will be committed: %s is not in a git repository", job->workdir);
	if (warning != NULL)
		strings_append(&job->warnings, warning);
	free(warning);
	free(dir);
}

static void prepare_run_dir_release(struct job *base)
{
	struct prepare_run_dir_job *w = (struct prepare_run_dir_job *)base;

	plan_release(&w->task_plan);
	strings_free(w->artifacts);
	free(w->workspace);
	free(w->workdir);
	free(w->text);
	free(w->subdir);
	row_free(ROW_JUDGE, w->judge);
	free(w->error);
	strings_free(w->warnings);
}

const struct job_type prepare_run_dir_type = { "prepare_run_dir", prepare_run_dir_run, prepare_run_dir_release };
