/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "engine/template.h"
#include "engine/work.h"

/* <state>/runs/<id>/: task (RL_TASK_FILE), reviewer.md (the judge's prompt as it was before any coder ran), scratch/. */
void open_run(struct open_work *work)
{
	char *dir = work_run_dir(work->work.state_dir, work->run), *path, *template = NULL;
	size_t size = 0;
	int rv;

	path = xasprintf("%s/scratch", dir);
	rv = file_mkdirs(path, 0700);
	free(path);
	if (rv == 0) {
		path = xasprintf("%s/task", dir);
		rv = file_write(AT_FDCWD, path, work->text, work->text_size, 0600, true);
		free(path);
	}
	if (rv == 0)
		template = template_find(ROLE_REVIEW, work->reviewer_prompt, work->workspace, work->work.config_dir, &size, &work->error);
	if (template != NULL) {
		path = xasprintf("%s/reviewer.md", dir);
		rv = file_write(AT_FDCWD, path, template, size, 0600, true);
		free(path);
	}
	if (rv != 0 && work->error == NULL)
		work->error = xasprintf("the run's directory %s: %s", dir, strerror(-rv));
	free(template);
	free(dir);
}
