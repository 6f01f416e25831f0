/* SPDX-License-Identifier: MIT */
#include "model/job.h"

#include <stdlib.h>

#include "record/host_fault.h"

void job_run(struct job *job)
{
	host_noted();
	job->type->run(job);
	job->fault = host_noted();
}

void job_free(struct job *job)
{
	if (job == NULL)
		return;
	job->type->release(job);
	free(job);
}
