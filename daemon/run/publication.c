/* SPDX-License-Identifier: MIT */
/* Files for users outside the database: review logs in the working directory, reports. Each is made
 * from the committed rows when it is requested, and goes through the file queue, which keeps the
 * order. */
#include "run/publication.h"

#include <jansson.h>

#include "core/row.h"
#include "job/run_report.h"
#include "job/write_log.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "run/file_queue.h"

void review_write_log(struct run *run, struct slot *slot)
{
	const struct run_row *row = &run->rows->run;
	const char *dir = slot_plan(slot)->review_log, *task = slot_task_id(slot);
	json_t *log = review_log_make(view_run(run->engine->view, row->id), task);
	struct log_job *w;

	if (log == NULL)
		return;
	w = xcalloc(1, sizeof(*w));
	w->run = row->id;
	w->base = dir[0] != '/' ? xstrdup(row->workdir) : NULL;
	w->dir = xstrdup(dir);
	w->name = review_log_name(task);
	w->text = json_dumps(log, JSON_INDENT(2));
	file_queue_write(run->engine, &w->job, &write_log_type);
	json_decref(log);
}

void run_write_report(struct run *run)
{
	struct report_job *w;

	if (run->plan.report == NULL)
		return;
	w = xcalloc(1, sizeof(*w));
	w->rows = run_rows_copy(view_run(run->engine->view, run->rows->run.id));
	w->path = xstrdup(run->plan.report);
	file_queue_write(run->engine, &w->job, &write_report_type);
}
