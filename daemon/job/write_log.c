/* SPDX-License-Identifier: MIT */
#include "job/write_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/row.h"
#include "job/run_report.h"
#include "model/dirs.h"
#include "model/job.h"
#include "model/view.h"
#include "proto/memory.h"
#include "record/layout.h"

/* Atomically, with a newline. Returns 0 or -errno. */
static int write_text(int dirfd, const char *path, const char *text)
{
	char *data = xasprintf("%s\n", text);
	int rv = file_write(dirfd, path, data, strlen(data), 0644, true);

	free(data);
	return rv;
}

/* Open its directory, creating it if necessary. Links in a repository are not followed; an absolute
 * path is the user's own. */
static int open_log_dir(const struct log_job *job)
{
	int fd, rv;

	if (job->base != NULL)
		return file_open_below(job->base, job->dir, 0755);
	rv = file_mkdirs(job->dir, 0755);
	if (rv != 0)
		return rv;
	fd = open(job->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd == -1 ? -errno : fd;
}

static void write_log_run(struct job *base)
{
	struct log_job *job = (struct log_job *)base;
	int dirfd = open_log_dir(job), rv = dirfd < 0 ? dirfd : write_text(dirfd, job->name, job->text);

	if (rv != 0)
		job->error = xasprintf("cannot write the review log %s%s%s/%s: %s; the reviews are "
		    "in the database, see rlctl review export",
		    job->base != NULL ? job->base : "", job->base != NULL ? "/" : "", job->dir,
		    job->name, strerror(-rv));
	if (dirfd >= 0)
		close(dirfd);
}

static void write_report_run(struct job *base)
{
	struct report_job *job = (struct report_job *)base;
	static const char *const names[] = { RECORD_MASKED, RECORD_ANSWER };
	const struct run_row *row = &job->rows->run;
	char *dir, *path, *answer = NULL, *text;
	struct plan plan = { 0 };
	size_t size = 0;
	json_t *report;
	int rv;

	if (row->result_attempt != ROW_NONE) {
		dir = dirs_attempt(job->job.state_dir, row->result_attempt);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && answer == NULL; i++) {
			path = xasprintf("%s/%s", dir, names[i]);
			if (file_read(AT_FDCWD, path, AGENT_TEXT_MAX + 1, &answer, &size) != 0)
				answer = NULL;
			free(path);
		}
		free(dir);
	}
	if (plan_from_json(row->plan, &plan) == -1) {
		job->error = xasprintf("run %lld: cannot read its settings", (long long)row->id);
		free(answer);
		return;
	}
	report = report_make(job->rows, &plan, answer, size);
	text = json_dumps(report, JSON_INDENT(2));
	rv = write_text(AT_FDCWD, job->path, text);
	if (rv != 0)
		job->error = xasprintf("run %lld: cannot write the report %s: %s; rlctl report "
		    "%lld writes it again", (long long)row->id,
		    job->path, strerror(-rv), (long long)row->id);
	free(text);
	json_decref(report);
	plan_release(&plan);
	free(answer);
}

static void write_log_release(struct job *base)
{
	struct log_job *w = (struct log_job *)base;

	free(w->base);
	free(w->dir);
	free(w->name);
	free(w->text);
	free(w->error);
}

const struct job_type write_log_type = { "write_log", write_log_run, write_log_release };

static void write_report_release(struct job *base)
{
	struct report_job *w = (struct report_job *)base;

	run_rows_free(w->rows);
	free(w->path);
	free(w->error);
}

const struct job_type write_report_type = { "write_report", write_report_run, write_report_release };
