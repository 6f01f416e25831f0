/* SPDX-License-Identifier: MIT */
#include "keep/run_usage.h"

#include <stdlib.h>
#include <string.h>

#include "core/run.h"
#include "keep/keeper_work.h"
#include "keep/leavings.h"
#include "proto/memory.h"

#define BATCH 32		/* runs whose sizes are recorded at once */

/* Some runs, one after the other. */
struct run_usage {
	struct keeper *keeper;
	struct decision *d;
	int64_t ids[BATCH];
	size_t count, at;
	struct run_row *row;		/* of the current one */
	struct leavings leavings;
	int64_t runs, bytes;		/* of what is in d */
};

static void run_usage_next(struct run_usage *m);

static void recorded(void *arg, bool ok)
{
	struct run_usage *m = arg;
	struct keeper *keeper = m->keeper;

	if (ok) {
		keeper->runs += m->runs;
		keeper->bytes += m->bytes;
	}
	free(m);
	keeper->measuring = false;
	keeper_next(keeper);
}

static void leave(struct run_usage *m)
{
	row_free(ROW_RUN, m->row);
	m->row = NULL;
	free(m->leavings.ids);
	m->leavings = (struct leavings){ 0 };
	m->at++;
	run_usage_next(m);
}

static void measured(void *arg)
{
	struct run_usage *m = arg;

	m->row->bytes = m->leavings.bytes;
	decision_put(m->d, ROW_RUN, m->row);
	m->runs += m->row->bytes > 0;
	m->bytes += m->row->bytes;
	leave(m);
}

static void measure_run(void *arg)
{
	leavings_measure(&((struct run_usage *)arg)->leavings);
}

static void directories_cb(void *arg, struct rowset *set)
{
	struct run_usage *m = arg;
	struct leavings *l = &m->leavings;

	*l = (struct leavings){
		.state_dir = m->keeper->options.state_dir, .run = m->row->id, .nids = set->count,
	};
	l->ids = xcalloc(set->count + 1, sizeof(*l->ids));
	for (size_t i = 0; i < set->count; i++)
		l->ids[i] = ((const struct step_row *)set->rows[i])->id;
	rowset_release(set);
	keeper_offload(m->keeper, measure_run, measured, m);
}

static void row_cb(void *arg, struct rowset *set)
{
	struct run_usage *m = arg;
	const struct run_row *row = set->count > 0 ? set->rows[0] : NULL;
	/* it has ended, and the engine may still write its log */
	bool at_work = row != NULL && view_run(engine_view(m->keeper->options.engine), row->id) != NULL;
	bool wanted = row != NULL && !at_work && run_state_is_end((enum run_state)row->state) &&
	    row->bytes == ROW_NONE && row->pruned_at == ROW_NONE;

	if (at_work) {
		keeper_ended(m->keeper, row->id);
		m->keeper->stalled = true;
	}
	if (wanted)
		m->row = row_copy(ROW_RUN, row);
	rowset_release(set);
	if (wanted)
		keeper_read(m->keeper, "prune.directories", ROW_STEP, m->row->id, directories_cb, m);
	else
		leave(m);
}

static void read_row(struct run_usage *m, int64_t run)
{
	keeper_read(m->keeper, "prune.run", ROW_RUN, run, row_cb, m);
}

static void run_usage_next(struct run_usage *m)
{
	if (m->at < m->count && !m->keeper->closing) {
		read_row(m, m->ids[m->at]);
	} else if (m->d->count > 0) {
		keeper_commit(m->keeper, m->d, false, recorded, m);
	} else {
		free(m->d);
		recorded(m, true);
	}
}

void run_usage_begin(struct keeper *keeper)
{
	struct run_usage *m = xcalloc(1, sizeof(*m));

	m->keeper = keeper;
	m->d = xcalloc(1, sizeof(*m->d));
	m->count = keeper->nended < BATCH ? keeper->nended : BATCH;
	memcpy(m->ids, keeper->ended, m->count * sizeof(*m->ids));
	keeper->nended -= m->count;
	memmove(keeper->ended, keeper->ended + m->count, keeper->nended * sizeof(*m->ids));
	keeper->measuring = true;
	run_usage_next(m);
}
