/* SPDX-License-Identifier: MIT */
#include "job/review_file.h"

#include <stdlib.h>
#include <string.h>

#include "job/carrier_copy.h"
#include "proto/memory.h"
#include "record/host_fault.h"

static void review_file_run(struct job *job)
{
	struct review_file_job *w = (struct review_file_job *)job;
	int rv = carrier_put(job->state_dir, w->workspace, w->path, w->text, w->text != NULL ? strlen(w->text) : 0);

	/* what a user has put in its place is theirs */
	if (rv == 0 || !host_fault(-rv))
		return;
	job->fault = -rv;
	w->error = xasprintf("%s: %s", w->path, strerror(-rv));
}

static void review_file_release(struct job *job)
{
	struct review_file_job *w = (struct review_file_job *)job;

	free(w->workspace);
	free(w->path);
	free(w->text);
	free(w->error);
}

const struct job_type review_file_type = { "review_file", review_file_run, review_file_release };
