/* SPDX-License-Identifier: MIT */
#include "record/shim_job.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "record/fields.h"
#include "record/layout.h"

#define ROW(name, kind) { #name, kind, offsetof(struct shim_job, name), 0, NULL }

static const struct fields_row job_rows[] = {
	ROW(argv, FIELDS_LIST),
	ROW(cwd, FIELDS_STRING),
	ROW(input, FIELDS_STRING),
	ROW(uuid, FIELDS_STRING),
	ROW(wall_ms, FIELDS_INT64),
	ROW(idle_ms, FIELDS_INT64),
	ROW(grace_ms, FIELDS_INT64),
	ROW(output_bytes, FIELDS_INT64),
	ROW(nofile, FIELDS_INT64),
	ROW(umask, FIELDS_INT),
	ROW(durable, FIELDS_BOOL),
	ROW(sandbox, FIELDS_OPTION),	/* from here on: unknown to older jobs */
	ROW(writable, FIELDS_LIST),
	ROW(post_result_ms, FIELDS_OPTION),
	ROW(idle_stdout, FIELDS_OPTION),
	ROW(marks_signal, FIELDS_OPTION),
	ROW(names_step, FIELDS_OPTION),
	ROW(syncs_work, FIELDS_OPTION),
	ROW(keeps_group, FIELDS_OPTION),
	ROW(tells_limits, FIELDS_OPTION),
	ROW(far, FIELDS_STRING),
	ROW(cancel, FIELDS_LIST),
	ROW(follows, FIELDS_STRING),
	ROW(copied, FIELDS_OPTION),
	ROW(began_ms, FIELDS_OPTION64),
};

static const struct fields_type job_type = {
	.kind = "job",
	.version = 1,
	.rows = job_rows,
	.count = sizeof(job_rows) / sizeof(job_rows[0]),
	.object_size = sizeof(struct shim_job),
	.file_max = 8 * 1024 * 1024,	/* ARG_MAX is 2 MiB, and escapes at most double it */
};

static bool all_absolute(char *const *paths)
{
	for (; paths != NULL && *paths != NULL; paths++)
		if (**paths != '/')
			return false;
	return true;
}

/* A plain name in the attempt's directory. A cancel command belongs to such a file. */
static bool far_is_plausible(const struct shim_job *job)
{
	if (job->far == NULL)
		return job->cancel == NULL && job->follows == NULL;
	if (job->began_ms < 0)
		return false;
	return job->far[0] != '\0' && strchr(job->far, '/') == NULL && (job->follows == NULL || job->follows[0] == '/');
}

static bool plausible(const struct shim_job *job)
{
	return job->argv != NULL && job->cwd != NULL && job->cwd[0] == '/' && job->uuid != NULL && job->wall_ms >= 0 &&
	    job->idle_ms >= 0 && job->grace_ms >= 0 && job->output_bytes >= 0 && job->nofile >= 0 && job->umask >= 0 &&
	    job->umask <= 0777 && job->post_result_ms >= 0 && job->sandbox >= JOB_OPEN && job->sandbox <= JOB_REQUIRE &&
	    (job->idle_stdout == 0 || job->idle_stdout == 1) &&
	    (job->marks_signal == 0 || job->marks_signal == 1) &&
	    (job->names_step == 0 || job->names_step == 1) &&
	    (job->syncs_work == 0 || job->syncs_work == 1) &&
	    (job->keeps_group == 0 || job->keeps_group == 1) &&
	    (job->tells_limits == 0 || job->tells_limits == 1) &&
	    (job->copied == 0 || job->copied == 1) && far_is_plausible(job) &&
	    all_absolute(job->writable);
}

int shim_job_write(int dirfd, const struct shim_job *job)
{
	if (!plausible(job))
		return -EINVAL;
	return fields_write(dirfd, RECORD_JOB, &job_type, job, job->far != NULL && job->durable);
}

int shim_job_read(int dirfd, struct shim_job *job)
{
	int rv = fields_read(dirfd, RECORD_JOB, &job_type, job);

	if (rv == 0 && !plausible(job)) {
		shim_job_release(job);
		rv = -EBADMSG;
	}
	return rv;
}

void shim_job_release(struct shim_job *job)
{
	fields_release(&job_type, job);
}
