/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/offload.h"
#include "job/run_report.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/page.h"
#include "rpc/pruned.h"
#include "rpc/record_check.h"
#include "rpc/run_load.h"
#include "rpc/text_check.h"

static void list_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;
	const char *task = call_text(call, "task");
	struct page page;

	if (rows == NULL) {
		call_no_run(call, "run", call_int(call, "run", 0));
		return;
	}
	page = page_begin(call);
	for (size_t i = 0; i < rows->nreviews; i++)
		if ((task == NULL || strcmp(rows->reviews[i]->task_id, task) == 0) && page_takes(&page, i))
			page_add(&page, review_document(rows, i));
	page_answer(&page, call, "reviews");
}

static struct reply review_list(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), LOAD_TASKS | LOAD_REVIEWS | LOAD_FINDINGS, list_cb, call);
	return reply_later(call);
}

/* What an earlier version has not recorded; NULL: all is covered. */
static const char *not_covered(const struct run_row *run)
{
	if (run->entry_count == ROW_NONE)
		return "run, tasks, attempts, holds, files and the judge: the run began with an earlier version";
	return run->judge_hash == NULL ? "the judge: the run began with an earlier version" : NULL;
}

/* A call of review.verify: its rows are examined on a worker, with files and refs. */
struct verification {
	struct rpc *rpc;
	struct call *call;
	struct run_rows *rows;
	struct record_check check;
};

static void verify_run(void *arg)
{
	struct verification *v = arg;

	record_check(&v->check);
}

static void verify_texts(void *arg, char *fault)
{
	struct verification *v = arg;
	const struct record_check *check = &v->check;
	const struct run_rows *rows = v->rows;
	bool asked = check->entry != ROW_NONE;

	if (fault != NULL) {
		v->check.fault = fault;
		v->check.chain = v->check.kept = false;
	}
	call_ok(v->call, json_pack("{s:I,s:b,s:b,s:b,s:o,s:I,s:o,s:I,s:I,s:I,s:o,s:I,s:o,s:o,s:o}", "run",
	    (json_int_t)rows->run.id, "ok", check->fault == NULL, "chain", check->chain, "kept", check->kept,
	    "attested", asked ? json_boolean(check->attested) : json_null(),
	    "reviews", (json_int_t)rows->nreviews,
	    "head", json_text(rows->run.review_head), "products", (json_int_t)rows->nproducts,
	    "evidence", (json_int_t)rows->nevidence, "entries", (json_int_t)rows->nentries,
	    "record", json_text(rows->run.entry_head), "files", (json_int_t)check->files,
	    "pruned", pruned_json(rows), "not_covered", json_text(not_covered(&rows->run)),
	    "message", json_text(check->fault)));
	run_rows_free(v->rows);
	free(v->check.fault);
	free(v);
}

static void verify_done(void *arg)
{
	struct verification *v = arg;

	if (v->check.fault != NULL)
		verify_texts(v, NULL);
	else
		text_check(v->rpc, v->rows, verify_texts, v);
}

static void verify_cb(void *arg, const struct run_rows *rows)
{
	struct verification *v = arg;

	if (rows == NULL) {
		call_no_run(v->call, "run", call_int(v->call, "run", 0));
		free(v);
		return;
	}
	v->rows = run_rows_copy(rows);
	v->check = (struct record_check){
		.rows = v->rows, .state_dir = v->rpc->state_dir,
		.entry = call_int(v->call, "entry", ROW_NONE), .entry_hash = call_text(v->call, "entry_hash"),
	};
	offload(v->rpc->options.loop, verify_run, verify_done, v);
}

static struct reply review_verify(struct rpc *rpc, struct call *call)
{
	struct verification *v;

	if ((call_param(call, "entry") == NULL) != (call_param(call, "entry_hash") == NULL))
		return reply_error(call, RPC_INVALID_PARAMS, "entry", "give both, as an attestation has them",
		    "entry and entry_hash belong together");
	v = xcalloc(1, sizeof(*v));
	v->rpc = rpc;
	v->call = call;
	load_run(rpc, call_int(call, "run", 0), LOAD_CHAINS, verify_cb, v);
	return reply_later(call);
}

/* What the logs have no room for: the tree and the hashes of each review, and what judged it. */
static json_t *review_proof(const struct run_rows *rows, const struct review_row *review)
{
	const struct attempt_row *a = review->attempt != ROW_NONE ? run_rows_attempt(rows, review->attempt) : NULL;

	return json_pack("{s:I,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "number", (json_int_t)review->number,
	    "task_id", json_text(review->task_id), "iteration", (json_int_t)review->iteration,
	    "tree", json_text(review->tree), "previous_hash", json_text(review->previous_hash),
	    "hash", json_text(review->hash), "prompt_hash", json_text(a != NULL ? a->prompt_hash : NULL),
	    "diff_hash", json_text(a != NULL ? a->diff_hash : NULL),
	    "output_hash", json_text(a != NULL ? a->output_hash : NULL),
	    "program", json_text(a != NULL ? a->program : NULL),
	    "program_hash", json_text(a != NULL ? a->program_hash : NULL),
	    "program_version", json_text(a != NULL ? a->program_version : NULL),
	    "answered_by", json_text(a != NULL ? a->answered_by : NULL));
}

static void export_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;
	json_t *logs, *proofs, *log;

	if (rows == NULL) {
		call_no_run(call, "run", call_int(call, "run", 0));
		return;
	}
	logs = json_array();
	proofs = json_array();
	for (size_t i = 0; i < rows->nreviews; i++) {
		const char *task = rows->reviews[i]->task_id;
		size_t first = 0;

		/* one log per task, in the order of their first reviews */
		while (strcmp(rows->reviews[first]->task_id, task) != 0)
			first++;
		log = first == i ? review_log_make(rows, task) : NULL;
		if (log != NULL)
			json_array_append_new(logs, log);
		json_array_append_new(proofs, review_proof(rows, rows->reviews[i]));
	}
	call_ok(call, json_pack("{s:o,s:o,s:o,s:o}", "logs", logs, "proofs", proofs,
	    "head", json_text(rows->run.review_head), "record", json_text(rows->run.entry_head)));
}

static struct reply review_export(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), LOAD_TASKS | LOAD_REVIEWS | LOAD_ATTEMPTS, export_cb, call);
	return reply_later(call);
}

#define RUN_PARAM { "run", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "id of the run" }

static const struct schema list_params[] = {
	RUN_PARAM,
	{ "task", SCHEMA_TEXT, .min = 1, .max = 256, .help = "only reviews of this task" },
	PAGE_OF_RUN("reviews"),
	{ 0 },
};
static const struct schema export_params[] = { RUN_PARAM, { 0 } };
static const struct schema verify_params[] = {
	RUN_PARAM,
	{ "entry", SCHEMA_INT, .min = 1, .max = INT64_MAX,
	    .help = "number of an entry that an attestation names; with entry_hash" },
	{ "entry_hash", SCHEMA_TEXT, .min = 1, .max = 128, .help = "the hash of that entry, by the attestation" },
	{ 0 },
};
static const struct result_field list_results[] = {
	{ "reviews", "[Review]", "in order" },
	PAGE_NEXT,
	{ 0 },
};
static const struct result_field export_results[] = {
	{ "logs", "[ReviewLog]", "one per task" },
	{ "proofs", "[ReviewProof]", "one per review, in order" },
	{ "head", "string|null", "hash of the newest review" },
	{ "record", "string|null", "hash of the newest entry of the record" },
	{ 0 },
};
static const struct result_field verify_results[] = {
	{ "run", "integer", "id of the run" },
	{ "ok", "boolean", "whether log, products, evidence and record are intact, and the files of the attempts and "
	    "the refs of the results are as recorded" },
	{ "chain", "boolean", "whether log, products, evidence and record are intact, and each row that has ended "
	    "is as it entered the record; and the attested entry is in it" },
	{ "attested", "boolean|null", "whether the record has that entry; null: none was given" },
	{ "kept", "boolean", "... and the files of the attempts are as recorded" },
	{ "reviews", "integer", "number of rows in the log" },
	{ "head", "string|null", "hash of the newest row" },
	{ "products", "integer", "number of products" },
	{ "evidence", "integer", "number of rows of evidence" },
	{ "entries", "integer", "number of entries of the record" },
	{ "record", "string|null", "hash of the newest entry: it covers all others, and when the run has ended, the "
	    "heads of the other chains" },
	{ "files", "integer", "number of files that were hashed again" },
	{ "pruned", "Pruned|null", "files and refs that are gone because prune has removed them; null: none" },
	{ "not_covered", "string|null", "what an earlier version has not recorded" },
	{ "message", "string|null", "the first difference: a row, a file of an attempt, or the refs that were moved or "
	    "removed" },
	{ 0 },
};
static const int errors[] = { RPC_NOT_FOUND, 0 };

const struct method review_methods[] = {
	{ "review.list", ACCESS_READ, true, list_params, list_results, errors, review_list,
	    "return the review log of a run" },
	{ "review.export", ACCESS_READ, true, export_params, export_results, errors, review_export,
	    "export the review logs of a run" },
	{ "review.verify", ACCESS_READ, false, verify_params, verify_results, errors, review_verify,
	    "verify that the record of a run was not altered: rows, files, refs" },
	{ 0 },
};
