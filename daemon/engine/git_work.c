/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "engine/work.h"

static bool make_directory(struct git_work *work, const char *path)
{
	int rv = path != NULL ? file_mkdirs(path, 0700) : 0;

	if (rv != 0)
		work->error = xasprintf("%s: %s", path, strerror(-rv));
	return rv == 0;
}

static void set_step_environment(struct git_work *work)
{
	work->env = environment_load(work->work.state_dir, work->environment, NULL, &work->error);
	if (work->env != NULL)
		environment_set_all(&work->env, work->out.env);
}

void git_run(struct git_work *work)
{
	int dirfd = -1;

	work->next = STEP_NEXT_FAILED;
	if (work->step == ROW_NONE) {
		if (!make_directory(work, work->scratch) || !make_directory(work, work->aside))
			return;
	} else {
		char *dir = work_attempt_dir(work->work.state_dir, work->step);

		dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		free(dir);
	}
	work->next = git_op_next(work->op, dirfd, work->ok, &work->out);
	if (work->next == STEP_NEXT_RUN)
		set_step_environment(work);
	if (work->error != NULL)
		work->next = STEP_NEXT_FAILED;
	if (dirfd != -1)
		close(dirfd);
}
