/* SPDX-License-Identifier: MIT */
/* What a client signs: one statement for each commit whose tree has passed. */
#include <stdlib.h>
#include <string.h>

#include "base/offload.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/record_check.h"
#include "rpc/run_load.h"

#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define PREDICATE_TYPE "urn:rld:pass:v1"
#define KEY_NAME "attest_key"	/* in the state directory */

/* A call of run.attest: the record is compared on a worker before anything of it is attested. */
struct attestation {
	struct rpc *rpc;
	struct call *call;
	struct run_rows *rows;
	struct record_check check;
};

/* A product that passed, and the commit that has it. */
struct passed {
	const struct product_row *product;
	const char *commit;
};

/* The row, and what users call its attempt. Takes json. */
static json_t *with_attempt(json_t *json, const struct run_rows *rows, int64_t attempt)
{
	const struct attempt_row *a = attempt != ROW_NONE ? run_rows_attempt(rows, attempt) : NULL;

	json_object_set_new(json, "attempt_number", a != NULL ? json_integer(a->number) : json_null());
	return json;
}

static bool judges(const struct evidence_row *row, const struct product_row *product)
{
	return row->tree != NULL && strcmp(row->tree, product->tree) == 0;
}

/* Everything that judged its tree, in the order of the record. */
static json_t *judgements(const struct run_rows *rows, const struct product_row *product, const char **policy)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->nevidence; i++) {
		const struct evidence_row *row = rows->evidence[i];

		if (!judges(row, product))
			continue;
		*policy = row->policy_hash;
		json_array_append_new(list, with_attempt(json_row(ROW_EVIDENCE, row), rows, row->attempt));
	}
	return list;
}

/* It, and what it was made of, to the base. */
static json_t *line_of(const struct run_rows *rows, const struct product_row *product)
{
	json_t *list = json_array();

	while (product != NULL && json_array_size(list) < rows->nproducts) {
		json_array_append_new(list, with_attempt(json_row(ROW_PRODUCT, product), rows, product->attempt));
		product = product->parent != ROW_NONE ? run_rows_product(rows, product->parent) : NULL;
	}
	return list;
}

static json_t *statement(const struct attestation *a, const struct passed *passed)
{
	const struct run_rows *rows = a->rows;
	const struct run_row *run = &rows->run;
	const struct entry_row *last = rows->entries[rows->nentries - 1];
	const char *policy = NULL;
	json_t *judged = judgements(rows, passed->product, &policy), *predicate;

	predicate = json_pack("{s:o,s:I,s:o,s:s,s:o,s:o,s:o,s:o,s:I,s:o,s:{s:I,s:s},s:{s:o,s:o,s:o}}",
	    "instance", json_text(a->rpc->instance), "run", (json_int_t)run->id,
	    "task", json_text(passed->product->task_id), "tree", passed->product->tree,
	    "products", line_of(rows, passed->product), "evidence", judged,
	    "policy_hash", json_text(policy), "daemon", json_text(a->rpc->version),
	    "submitter", (json_int_t)run->owner, "ended_at", json_time(run->ended_at),
	    "record", "entry", (json_int_t)last->number, "hash", last->hash,
	    "heads", "reviews", json_text(run->review_head), "products", json_text(run->product_head),
	    "evidence", json_text(run->evidence_head));
	return json_pack("{s:s,s:[{s:s,s:{s:s}}],s:s,s:o}", "_type", STATEMENT_TYPE,
	    "subject", "name", "commit", "digest", "gitCommit", passed->commit,
	    "predicateType", PREDICATE_TYPE, "predicate", predicate);
}

static bool has_evidence(const struct run_rows *rows, const struct product_row *product)
{
	for (size_t i = 0; i < rows->nevidence; i++)
		/* the panel's decision counts, not its votes */
		if (judges(rows->evidence[i], product) && rows->evidence[i]->kind != EVIDENCE_VOTE &&
		    rows->evidence[i]->result == EVIDENCE_GREEN)
			return true;
	return false;
}

/* The commit of the slot is the merge of its work with that of others. */
static bool is_merge(const struct slot_row *slot)
{
	return slot->merge == MERGE_CHECKED || slot->merge == MERGE_TOGETHER;
}

/* The work that the slot has committed; the merge of it with others is another product. */
static const struct product_row *committed(const struct run_rows *rows, const struct slot_row *slot)
{
	const struct product_row *p = slot->product != ROW_NONE ? run_rows_product(rows, slot->product) : NULL;

	while (p != NULL && p->kind == PRODUCT_MERGED && !is_merge(slot))
		p = p->parent != ROW_NONE ? run_rows_product(rows, p->parent) : NULL;
	return p != NULL && p->kind != PRODUCT_BASE ? p : NULL;
}

/* What all merges came to. One that was held back need not be on the branch. */
static const struct product_row *merged(const struct run_rows *rows)
{
	bool named = rows->run.result_ref != NULL && strncmp(rows->run.result_ref, "refs/heads/", 11) == 0;

	for (size_t i = rows->nproducts; i > 0; i--) {
		const struct product_row *p = rows->products[i - 1];

		if (p->kind == PRODUCT_MERGED && (!named || text_equal(p->tree, rows->run.result_tree)))
			return p;
	}
	return NULL;
}

static void add(const struct attestation *a, json_t *statements, json_t *left_out, const struct passed *passed)
{
	if (passed->product == NULL)
		json_array_append_new(left_out, json_pack("{s:s,s:s}", "commit", passed->commit, "reason",
		    "the record has no product for it"));
	else if (!has_evidence(a->rows, passed->product))
		json_array_append_new(left_out, json_pack("{s:s,s:s}", "commit", passed->commit, "reason",
		    "no check, no review and no human passed exactly its tree"));
	else
		json_array_append_new(statements, statement(a, passed));
}

static json_t *attest(const struct attestation *a)
{
	const struct run_rows *rows = a->rows;
	const char *result = rows->run.result_commit;
	json_t *statements = json_array(), *left_out = json_array();
	char *key = config_attest_key(rpc_config(a->rpc));
	bool told = key != NULL, covered = result == NULL;

	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];

		/* a slot without changes has the commit that it began with */
		if (slot_row_is_beside(slot) || slot->stage != SLOT_S_PASSED || slot->commit_id == NULL ||
		    text_equal(slot->commit_id, slot->base_commit))
			continue;
		covered = covered || strcmp(slot->commit_id, result) == 0;
		add(a, statements, left_out, &(struct passed){ committed(rows, slot), slot->commit_id });
	}
	if (!covered && !text_equal(result, rows->run.base_commit))
		add(a, statements, left_out, &(struct passed){ merged(rows), result });
	if (key == NULL)
		key = xasprintf("%s/" KEY_NAME, a->rpc->state_dir);
	result = rows->run.workspace;
	statements = json_pack("{s:I,s:o,s:o,s:b,s:o,s:o}", "run", (json_int_t)rows->run.id,
	    "workspace", json_text(result), "key", json_text(key), "key_is_set", told,
	    "statements", statements, "left_out", left_out);
	free(key);
	return statements;
}

static void attest_run(void *arg)
{
	struct attestation *a = arg;

	record_check(&a->check);
}

static void attest_done(void *arg)
{
	struct attestation *a = arg;

	if (a->check.fault != NULL)
		call_error(a->call, RPC_CONFLICT, "id", "see `rlctl review verify`; nothing of it is attested",
		    "the record of run %lld is not as it was: %s", (long long)a->rows->run.id, a->check.fault);
	else
		call_ok(a->call, attest(a));
	run_rows_free(a->rows);
	free(a->check.fault);
	free(a);
}

/* Why there is nothing to attest, NULL: there may be. */
static const char *unfit(const struct run_row *run)
{
	if (!run_state_is_end((enum run_state)run->state))
		return "has not ended";
	if (run->entry_count == ROW_NONE || run->entry_count == 0)
		return "has no record, because it began with an earlier version";
	if (run->pruned_at != ROW_NONE)
		return "was pruned: what judged it is gone, so it can no longer be compared with the record";
	return run->has_git != 1 ? "did not work in a git repository" : NULL;
}

static void attest_cb(void *arg, const struct run_rows *rows)
{
	struct attestation *a = arg;
	const char *why = rows != NULL ? unfit(&rows->run) : NULL, *hint;

	hint = rows != NULL && rows->run.pruned_at != ROW_NONE ? "attest a run before it is pruned" :
	    "an attestation is about commits of a run that has ended";
	if (rows == NULL || why != NULL) {
		if (rows == NULL)
			call_no_run(a->call, "id", call_int(a->call, "id", 0));
		else
			call_error(a->call, RPC_WRONG_STATE, "id", hint, "run %lld %s", (long long)rows->run.id, why);
		free(a);
		return;
	}
	a->rows = run_rows_copy(rows);
	a->check = (struct record_check){
		.rows = a->rows, .state_dir = a->rpc->state_dir, .entry = ROW_NONE,
	};
	offload(a->rpc->options.loop, attest_run, attest_done, a);
}

static struct reply run_attest(struct rpc *rpc, struct call *call)
{
	struct attestation *a = xcalloc(1, sizeof(*a));

	a->rpc = rpc;
	a->call = call;
	load_run(rpc, call_int(call, "id", 0), LOAD_ALL, attest_cb, a);
	return reply_later(call);
}

static const struct schema params[] = {
	{ "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "id of the run" },
	{ 0 },
};
static const struct result_field results[] = {
	{ "run", "integer", "id of the run" },
	{ "workspace", "string", "top of its repository" },
	{ "key", "string", "file of the key that signs; it may not exist yet" },
	{ "key_is_set", "boolean", "whether attest_key of rld.toml names it" },
	{ "statements", "[Statement]", "one per commit whose tree has passed" },
	{ "left_out", "[NotAttested]", "commits of the run that nothing proves" },
	{ 0 },
};
static const int errors[] = { RPC_NOT_FOUND, RPC_WRONG_STATE, RPC_CONFLICT, 0 };

const struct method attest_methods[] = {
	{ "run.attest", ACCESS_READ, true, params, results, errors, run_attest,
	    "return what rlctl attest signs: a statement for each commit that passed" },
	{ 0 },
};
