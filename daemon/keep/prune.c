/* SPDX-License-Identifier: MIT */
#include "keep/prune.h"

#include <stdlib.h>
#include <string.h>

#include "engine/needs.h"
#include "keep/evidence_dirs.h"
#include "keep/keeper_work.h"
#include "keep/leavings.h"
#include "keep/prune_piece.h"
#include "keep/repository.h"
#include "proto/clock.h"
#include "proto/error.h"
#include "proto/memory.h"

/* Facts about a run, beside those in struct retention_run. */
struct fact {
	struct run_row *row;
	char *detail;
};

struct prune {
	struct keeper *keeper;
	struct prune_request request;
	prune_cb *cb;
	void *arg;
	int64_t now;
	struct retention_run *runs;
	struct fact *facts;
	size_t count;
	/* prepared rooms: their size, and whether they go to keep the size of [keep] */
	int64_t prepared, freed;
	bool drop;
	/* the run whose repository is asked: index, its branches and commits */
	size_t asked;
	char **branches, **commits;
	enum retention_merged merged;
	char *detail;
	size_t at;			/* runs before it are removed, or stay */
	size_t gone;
	int64_t bytes;
	char **left;
	int code;
	const char *fault;
};

static void decide(struct prune *p);
static void next_piece(struct prune *p);

/* ---- the end ---- */

static void prune_end(struct prune *p)
{
	struct keeper *keeper = p->keeper;
	struct prune_run *of = xcalloc(p->count + 1, sizeof(*of));
	struct prune_result result = {
		.code = p->code, .fault = p->fault, .runs = p->runs, .of = of, .count = p->count, .gone = p->gone,
		.bytes = p->bytes, .prepared = p->freed, .left = p->left,
	};

	for (size_t i = 0; i < p->count; i++)
		of[i] = (struct prune_run){ p->facts[i].row, p->facts[i].detail };
	p->cb(p->arg, &result);
	for (size_t i = 0; i < p->count; i++) {
		row_free(ROW_RUN, p->facts[i].row);
		free(p->facts[i].detail);
	}
	if (!p->request.unasked)
		keeper->pruning = false;
	strings_free(p->left);
	free(p->facts);
	free(p->runs);
	free(of);
	free(p);
	keeper_next(keeper);
	keeper_release(keeper);
}

static void stop(struct prune *p, int code, const char *fault)
{
	p->code = code;
	p->fault = fault;
	prune_end(p);
}

static void evidence_done(void *arg)
{
	prune_end(arg);
}

/* ---- removal ---- */

static void piece_done(void *arg, bool marked, int64_t bytes, char *const *left)
{
	struct prune *p = arg;

	if (!marked) {
		stop(p, RPC_NO_SPACE, "the disk is full, so nothing can be marked as removed");
		return;
	}
	p->bytes += bytes;
	for (; left != NULL && *left != NULL; left++)
		strings_append(&p->left, *left);
	next_piece(p);
}

static void next_piece(struct prune *p)
{
	struct piece_run piece[PIECE_RUNS];
	size_t count = 0;

	if (p->keeper->closing) {
		stop(p, RPC_UNAVAILABLE, "the daemon is stopping");
		return;
	}
	for (; p->at < p->count && count < PIECE_RUNS; p->at++) {
		struct retention_run *run = &p->runs[p->at];

		if (!retention_goes(run))
			continue;
		/* a retry may have been submitted since */
		if (engine_needs_run(p->keeper->options.engine, run->id)) {
			run->need = RETENTION_NEEDED;
			continue;
		}
		piece[count++] = (struct piece_run){ .run = run->id, .why = (int)run->limit };
	}
	p->gone += count;
	if (count > 0)
		piece_remove(p->keeper, piece, count, p->request.by_uid, piece_done, p);
	else
		evidence_dirs_remove(p->keeper, evidence_done, p);
}

static void prepared_run(void *arg)
{
	struct prune *p = arg;

	p->freed = prepared_free(p->keeper->options.state_dir, p->drop);
}

static void prepared_done(void *arg)
{
	next_piece(arg);
}

static void decided(struct prune *p)
{
	if (p->request.check) {
		for (size_t i = 0; i < p->count; i++) {
			p->gone += retention_goes(&p->runs[i]);
			if (retention_goes(&p->runs[i]) && p->runs[i].bytes != ROW_NONE)
				p->bytes += p->runs[i].bytes;
		}
		p->freed = p->drop ? p->prepared : 0;
		prune_end(p);
	} else {
		keeper_offload(p->keeper, prepared_run, prepared_done, p);
	}
}

/* ---- whether results are merged ---- */

static void asked(void *arg)
{
	struct prune *p = arg;

	p->runs[p->asked].merged = p->merged;
	p->facts[p->asked].detail = p->detail;
	p->detail = NULL;
	strings_free(p->branches);
	strings_free(p->commits);
	p->branches = p->commits = NULL;
	decide(p);
}

static void ask_run(void *arg)
{
	struct prune *p = arg;
	const struct run_results results = {
		.workspace = p->facts[p->asked].row->workspace, .branches = (const char *const *)p->branches,
		.commits = (const char *const *)p->commits,
	};

	p->merged = repository_has(&results, &p->detail);
}

/* A branch says where the commits of a slot are; if the user has removed it, the result of the run
 * says it. */
static void slots_cb(void *arg, struct rowset *set)
{
	struct prune *p = arg;
	const struct run_row *row = p->facts[p->asked].row;

	p->branches = xcalloc(1, sizeof(*p->branches));
	p->commits = xcalloc(1, sizeof(*p->commits));
	if (row->result_branch != NULL)
		strings_append(&p->branches, row->result_branch);
	if (row->result_commit != NULL)
		strings_append(&p->commits, row->result_commit);
	for (size_t i = 0; i < set->count; i++) {
		const struct slot_row *slot = set->rows[i];

		if (slot->branch != NULL && !strings_contain(p->branches, slot->branch))
			strings_append(&p->branches, slot->branch);
		if (slot->stage == SLOT_S_PASSED && slot->commit_id != NULL && row->result_branch == NULL &&
		    !strings_contain(p->commits, slot->commit_id))
			strings_append(&p->commits, slot->commit_id);
	}
	rowset_release(set);
	keeper_offload(p->keeper, ask_run, asked, p);
}

/* The next run that would go and was not asked for. False: there is none. */
static bool ask(struct prune *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (!retention_goes(&p->runs[i]) || p->runs[i].merged != RETENTION_NOT_ASKED)
			continue;
		if (p->request.unmerged || p->request.unasked || p->facts[i].row->has_git != 1) {
			p->runs[i].merged = RETENTION_IS_MERGED;
			continue;
		}
		p->asked = i;
		keeper_read(p->keeper, "prune.slots", ROW_SLOT, p->runs[i].id, slots_cb, p);
		return true;
	}
	return false;
}

/* ---- the decision ---- */

static void decide(struct prune *p)
{
	if (p->keeper->closing) {
		stop(p, RPC_UNAVAILABLE, "the daemon is stopping");
		return;
	}
	retention_decide(&p->request.policy, p->now, p->drop ? 0 : p->prepared, p->runs, p->count);
	if (!ask(p))
		decided(p);
}

/* Prepared rooms can be made again, so they go before any run does. */
static bool is_too_large(const struct prune *p)
{
	int64_t sum = p->prepared;

	for (size_t i = 0; i < p->count; i++)
		sum += p->runs[i].bytes != ROW_NONE ? p->runs[i].bytes : 0;
	return p->prepared > 0 && p->request.policy.size != ROW_NONE && sum > p->request.policy.size;
}

static void runs_cb(void *arg, struct rowset *set)
{
	struct prune *p = arg;

	p->count = set->count;
	p->runs = xcalloc(set->count + 1, sizeof(*p->runs));
	p->facts = xcalloc(set->count + 1, sizeof(*p->facts));
	for (size_t i = 0; i < set->count; i++) {
		struct run_row *row = set->rows[i];

		p->facts[i].row = row;
		p->runs[i] = (struct retention_run){
			.id = row->id, .state = row->state,
			.since = row->ended_at != ROW_NONE ? row->ended_at : row->created_at, .bytes = row->bytes,
			.retry_of = row->retry_of, .after = row->after_run, .hook = row->warned > 0,
			.at_work = view_run(engine_view(p->keeper->options.engine), row->id) != NULL,
		};
	}
	set->count = 0;
	rowset_release(set);
	p->drop = is_too_large(p);
	decide(p);
}

static void usage_run(void *arg)
{
	struct prune *p = arg;

	p->prepared = prepared_usage(p->keeper->options.state_dir);
}

static void usage_done(void *arg)
{
	struct prune *p = arg;

	keeper_read(p->keeper, "prune.runs", ROW_RUN, ROW_NONE, runs_cb, p);
}

void prune_begin(struct keeper *keeper, const struct keeper_wish *wish)
{
	struct prune *p = xcalloc(1, sizeof(*p));

	*p = (struct prune){ .keeper = keeper, .request = wish->request, .left = wish->left, .cb = wish->cb,
		.arg = wish->arg, .now = clock_wall() };
	keeper_hold(keeper);
	keeper_offload(keeper, usage_run, usage_done, p);
}
