/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/offload.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "model/row_json.h"
#include "job/run_report.h"
#include "proto/kinds.h"
#include "proto/memory.h"
#include "record/layout.h"
#include "rpc/context.h"
#include "rpc/pruned.h"
#include "rpc/run_load.h"

/* Clients accept answers of 16 MiB, and a byte may take six of them. */
#define ANSWER_MAX (2 * 1024 * 1024)

/* A report in progress: made from the rows, waiting for the answer text. */
struct reporting {
	struct rpc *rpc;
	struct call *call;
	json_t *report;
	char *dir;		/* directory of the attempt with the answer */
	char *text;
	size_t size;
	int error;		/* -errno */
};

static void reporting_end(struct reporting *r)
{
	call_ok(r->call, r->report);
	free(r->dir);
	free(r->text);
	free(r);
}

static void answer_run(void *arg)
{
	struct reporting *r = arg;
	int dirfd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	r->error = dirfd == -1 ? -errno : file_read(dirfd, RECORD_MASKED, ANSWER_MAX, &r->text, &r->size);
	if (r->error == -ENOENT && dirfd != -1)
		r->error = file_read(dirfd, RECORD_ANSWER, ANSWER_MAX, &r->text, &r->size);
	if (dirfd != -1)
		close(dirfd);
}

/* A report without the answer text is still useful: an unreadable answer is null, with a note. */
static void answer_done(void *arg)
{
	struct reporting *r = arg;
	json_t *result = json_object_get(r->report, "result");
	char *why;

	if (r->error == 0) {
		json_object_set_new(result, "answer", json_text(r->text));
	} else if (r->error != -ENOENT) {
		why = r->error == -EFBIG ?
		    xasprintf("the answer has more than %d MiB; read it in pieces with "
		        "attempt.output",
		    ANSWER_MAX >> 20)
					 : xasprintf("cannot read the answer in %s: %s", r->dir,
					 strerror(-r->error));
		json_array_append_new(json_object_get(r->report, "warnings"), json_text(why));
		free(why);
	}
	reporting_end(r);
}

static json_t *make(struct rpc *rpc, const struct run_rows *rows)
{
	const struct plan *plan = engine_plan(rpc->options.engine, rows->run.id);
	struct plan stored = { 0 };
	json_t *report;

	if (plan == NULL && rows->run.plan != NULL && plan_from_json(rows->run.plan, &stored) == 0)
		plan = &stored;
	report = report_make(rows, plan, NULL, 0);
	plan_release(&stored);
	return report;
}

static void report_cb(void *arg, const struct run_rows *rows)
{
	struct reporting *r = arg;
	char *pruned;

	if (rows == NULL) {
		call_no_run(r->call, "id", call_int(r->call, "id", 0));
		free(r);
		return;
	}
	r->report = make(r->rpc, rows);
	pruned = pruned_text(&rows->run);
	if (pruned != NULL)
		json_array_append_new(json_object_get(r->report, "warnings"), json_sprintf(
		    "%s: its answers, outputs and diffs are gone", pruned));
	free(pruned);
	if (rows->run.result_attempt == ROW_NONE) {
		reporting_end(r);
		return;
	}
	r->dir = xasprintf("%s/attempts/%lld", r->rpc->state_dir, (long long)rows->run.result_attempt);
	offload(r->rpc->options.loop, answer_run, answer_done, r);
}

static struct reply report_call(struct rpc *rpc, struct call *call)
{
	struct reporting *r = xcalloc(1, sizeof(*r));

	r->rpc = rpc;
	r->call = call;
	load_run(rpc, call_int(call, "id", 0), LOAD_ALL, report_cb, r);
	return reply_later(call);
}

static const struct schema report_params[] = {
	{ "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the run" },
	{ 0 },
};
static const struct result_field report_results[] = {
	{ "version", "integer", "version of this format: 1" },
	{ "run", "integer", "id of the run" },
	{ "overview", "Overview", "what passed, what failed, and how to take the result" },
	{ "task", "string|null", "first line of the first task" },
	{ "agent", "string|null", "agent that implements" },
	{ "model", "string|null", "its model; null: the agent's default" },
	{ "reviewer", "string|null", "agent or program that reviews; null: no review" },
	{ "workdir", "string", "as submitted" },
	{ "state", "RunState", "of the run" },
	{ "reason", "string|null", "why the run waits" },
	{ "wait_kind", "WaitKind|null", "kind of the reason, for programs" },
	{ "cause", "string|null", "why the run ended" },
	{ "end_kind", "EndKind|null", "kind of the cause, for programs" },
	{ "created_at", "time", "time of the submit" },
	{ "started_at", "time|null", "time of the start" },
	{ "ended_at", "time|null", "time of the end" },
	{ "settings", "ReportSettings|null", "of the run; null: they cannot be read" },
	{ "result", "ReportResult", "what the run came to" },
	{ "stats", "Stats", "what it took" },
	{ "timeline", "[Turn]", "one per attempt" },
	{ "tasks", "[Task]", "in the order of their source" },
	{ "reviews", "[Review]", "in order" },
	{ "findings", "[Finding]", "each finding once, with its final state" },
	{ "known_issues", "[string]",
	    "findings left open when the run succeeded under on_exhausted = known_issues" },
	{ "warnings", "[string]", "sentences" },
	{ "reused_checks", "[ReusedCheck]", "checks that were not run, because they had been green on the "
	    "same tree" },
	{ "holds", "[HoldSummary]", "holds and their decisions" },
	{ 0 },
};
static const int report_errors[] = { RPC_NOT_FOUND, 0 };

const struct method report_methods[] = {
	{ "run.report", ACCESS_READ, true, report_params, report_results, report_errors,
	    report_call, "return a full report of a run, for programs and archives" },
	{ 0 },
};
