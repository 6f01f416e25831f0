/* SPDX-License-Identifier: MIT */
#include "keep/prune.h"

#include <stdlib.h>
#include <string.h>

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
	/* the run whose repository is asked: index, its branches and commits, and saved commits */
	size_t asked;
	char **branches, **commits, **saved;
	enum retention_merged merged;
	char *detail;
	size_t at;			/* runs from it on are removed, or stay */
	size_t gone, asked_to_go;	/* asked_to_go: of the current piece */
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

static void evidence_done(void *arg, char *const *left)
{
	struct prune *p = arg;

	for (; left != NULL && *left != NULL; left++)
		strings_append(&p->left, *left);
	p->keeper->confirmed |= p->request.by_uid != ROW_NONE;
	prune_end(p);
}

/* ---- removal ---- */

/* The run and what it continues stay. */
static void stay(struct prune *p, size_t i)
{
	int64_t by = ROW_NONE, id = p->runs[i].id;

	for (i++; i > 0; i--) {
		struct retention_run *run = &p->runs[i - 1];

		if (run->id != id)
			continue;
		if (retention_goes(run)) {
			run->need = RETENTION_NEEDED;
			run->by = by;
		}
		by = run->id;
		id = run->retry_of;
	}
}

static void piece_done(void *arg, const struct piece_result *result)
{
	struct prune *p = arg;

	if (!result->marked) {
		p->gone -= p->asked_to_go;
		stop(p, RPC_NO_SPACE, "the disk is full, so nothing can be marked as removed");
		return;
	}
	p->bytes += result->bytes;
	p->gone -= result->nstayed;
	for (size_t i = 0; i < p->count; i++)
		for (size_t n = 0; n < result->nstayed; n++)
			if (p->runs[i].id == result->stayed[n])
				stay(p, i);
	for (char *const *left = result->left; left != NULL && *left != NULL; left++)
		strings_append(&p->left, *left);
	next_piece(p);
}

/* Newer ones go first: a retry of one that comes meanwhile finds all that it continues. */
static void next_piece(struct prune *p)
{
	struct piece_run piece[PIECE_RUNS];
	size_t count = 0;

	if (p->keeper->closing) {
		stop(p, RPC_UNAVAILABLE, "the daemon is stopping");
		return;
	}
	for (; p->at > 0 && count < PIECE_RUNS; p->at--) {
		struct retention_run *run = &p->runs[p->at - 1];

		if (!retention_goes(run))
			continue;
		/* a retry may have been submitted since */
		if (keeper_needs(p->keeper, run->id)) {
			stay(p, p->at - 1);
			continue;
		}
		piece[count++] = (struct piece_run){ .run = run->id, .why = (int)run->limit };
	}
	p->gone += count;
	p->asked_to_go = count;
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
	strings_free(p->saved);
	p->branches = p->commits = p->saved = NULL;
	decide(p);
}

static void ask_run(void *arg)
{
	struct prune *p = arg;
	const struct run_results results = {
		.run = p->facts[p->asked].row->id, .workspace = p->facts[p->asked].row->workspace,
		.instance = p->facts[p->asked].row->instance,
		.branches = (const char *const *)p->branches, .commits = (const char *const *)p->commits,
		.saved = (const char *const *)p->saved,
	};

	p->merged = repository_has(&results, &p->detail);
}

static void salvage_cb(void *arg, struct rowset *set)
{
	struct prune *p = arg;

	p->saved = xcalloc(1, sizeof(*p->saved));
	for (size_t i = 0; i < set->count; i++)
		strings_append(&p->saved, ((const struct salvage_row *)set->rows[i])->commit_id);
	rowset_release(set);
	keeper_offload(p->keeper, ask_run, asked, p);
}

static void want(char ***list, const char *text)
{
	if (text != NULL && !strings_contain(*list, text))
		strings_append(list, text);
}

/* A branch says where the commits of a slot are; if the user has removed it, the result of the run
 * says it. What passed its rounds and was not merged, is its own. */
static void slots_cb(void *arg, struct rowset *set)
{
	struct prune *p = arg;
	const struct run_row *row = p->facts[p->asked].row;

	p->branches = xcalloc(1, sizeof(*p->branches));
	p->commits = xcalloc(1, sizeof(*p->commits));
	want(&p->branches, row->result_branch);
	want(&p->commits, row->result_commit);
	for (size_t i = 0; i < set->count; i++) {
		const struct slot_row *slot = set->rows[i];

		want(&p->branches, slot->branch);
		if (slot->stage != SLOT_S_PASSED || row->result_branch == NULL)
			want(&p->commits, slot->commit_id);
		if (slot->stage != SLOT_S_PASSED)
			want(&p->commits, slot->own_commit);
	}
	rowset_release(set);
	keeper_read(p->keeper, "prune.salvage", ROW_SALVAGE, row->id, salvage_cb, p);
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

	p->count = p->at = set->count;
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
