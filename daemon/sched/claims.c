/* SPDX-License-Identifier: MIT */
/* Owners of tasks in shared sources: an index of claim rows that includes transactions in
 * progress. */
#include "sched/claims.h"

#include <stdlib.h>
#include <string.h>
#include <sys/tree.h>

#include "core/order.h"
#include "core/row.h"
#include "core/state.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/view.h"
#include "proto/memory.h"
#include "task/task_op.h"
#include "txn/txn.h"

struct claim {
	RB_ENTRY(claim) entry;
	struct claim_row *row;	/* owned */
};

static int compare(struct claim *a, struct claim *b)
{
	int order = strcmp(a->row->source, b->row->source);

	return order != 0 ? order : strcmp(a->row->task, b->row->task);
}

RB_HEAD(claim_tree, claim);
TREE(claim_tree, claim, entry, compare)

struct claims {
	struct claim_tree tree;
};

struct claims *claims_new(void)
{
	struct claims *claims = xcalloc(1, sizeof(*claims));

	RB_INIT(&claims->tree);
	return claims;
}

void claims_free(struct claims *claims)
{
	struct claim *claim;

	while ((claim = RB_MIN(claim_tree, &claims->tree)) != NULL) {
		RB_REMOVE(claim_tree, &claims->tree, claim);
		row_free(ROW_CLAIM, claim->row);
		free(claim);
	}
	free(claims);
}

void claims_load(struct claims *claims, struct claim_row *row)
{
	struct claim *claim = xcalloc(1, sizeof(*claim));

	claim->row = row;
	RB_INSERT(claim_tree, &claims->tree, claim);
}

static struct claim *find(const struct claims *claims, const char *source, const char *task)
{
	struct claim_row row = { .source = (char *)source, .task = (char *)task };
	struct claim key = { .row = &row };

	return RB_FIND(claim_tree, (struct claim_tree *)&claims->tree, &key);
}

const struct claim_row *claims_find(const struct claims *claims, const char *source, const char *task)
{
	const struct claim *claim = find(claims, source, task);

	return claim != NULL ? claim->row : NULL;
}

/* Put the row into the transaction; the index changes now. */
static void put(struct txn *txn, struct claims *claims, const char *source, const char *task,
    int64_t run, enum claim_state state)
{
	struct claim *claim = find(claims, source, task);
	struct claim_row *row;

	if (claim == NULL) {
		row = row_new(ROW_CLAIM);
		row->source = xstrdup(source);
		row->task = xstrdup(task);
		claims_load(claims, row);
	} else {
		row = claim->row;
	}
	row->run = run;
	row->state = (int)state;
	row->at = txn_now(txn);
	txn_put(txn, ROW_CLAIM, row);
}

char *claim_source(enum source_kind kind, const char *path)
{
	return sources[kind].claims && path != NULL ? xasprintf("%s:%s", sources[kind].name, path) : NULL;
}

char *run_claim_source(const struct run *run)
{
	return claim_source(run_source(run), run->rows->run.source_path);
}

/* Time of the last answer of the source: an iteration begins with one. */
static int64_t loaded_at(const struct run *run)
{
	const struct run_rows *rows = run->rows;

	if (run->plan.rolls && run->asked_at != ROW_NONE)
		return run->asked_at;
	return rows->niterations > 0 ? rows->iterations[rows->niterations - 1]->started_at : 0;
}

bool run_is_claimed_elsewhere(const struct run *run, const char *task)
{
	char *source = run_claim_source(run);
	const struct claim_row *claim = source != NULL ? claims_find(run->engine->claims, source, task) : NULL;

	free(source);
	return claim != NULL && claim->run != run->rows->run.id &&
	    (claim->state == CLAIM_S_HELD || (claim->state == CLAIM_S_DONE && claim->at >= loaded_at(run)));
}

void run_claim(struct txn *txn, struct run *run, const char *task, enum claim_state state)
{
	char *source = run_claim_source(run);

	if (source != NULL)
		put(txn, run->engine->claims, source, task, run->rows->run.id, state);
	free(source);
}
