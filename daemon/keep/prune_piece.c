/* SPDX-License-Identifier: MIT */
#include "keep/prune_piece.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/entries.h"
#include "engine/needs.h"
#include "keep/keeper_work.h"
#include "keep/leavings.h"
#include "model/row_json.h"
#include "proto/clock.h"
#include "proto/memory.h"

/* A run of the piece, once it is read. */
struct part {
	struct run_row *row;
	struct pruned_row *pruned;
	struct leavings leavings;
};

struct piece {
	struct keeper *keeper;
	struct piece_run runs[PIECE_RUNS];
	size_t count, at;
	struct part parts[PIECE_RUNS];	/* of those that exist */
	size_t nparts;
	bool marks;			/* some of them are not marked yet */
	int64_t by_uid, bytes;
	char **left;
	int64_t stayed[PIECE_RUNS];
	size_t nstayed;
	piece_cb *cb;
	void *arg;
};

static void part_release(struct part *part)
{
	row_free(ROW_RUN, part->row);
	row_free(ROW_PRUNED, part->pruned);
	free(part->leavings.ids);
	free(part->leavings.fault);
}

static void piece_end(struct piece *p, bool marked)
{
	p->cb(p->arg, &(struct piece_result){ marked, p->bytes, p->left, p->stayed, p->nstayed });
	for (size_t i = 0; i < p->count; i++)
		row_free(ROW_PRUNED, p->runs[i].marked);
	for (size_t i = 0; i < p->nparts; i++)
		part_release(&p->parts[i]);
	strings_free(p->left);
	free(p);
}

/* ---- removal ---- */

static void done_cb(void *arg, bool ok)
{
	(void)ok;	/* not refusable */
	piece_end(arg, true);
}

static void remove_run(void *arg)
{
	struct piece *p = arg;

	for (size_t i = 0; i < p->nparts; i++)
		leavings_remove(&p->parts[i].leavings);
}

static void removed(void *arg)
{
	struct piece *p = arg;
	struct decision *d = xcalloc(1, sizeof(*d));

	for (size_t i = 0; i < p->nparts; i++) {
		struct part *part = &p->parts[i];

		if (part->leavings.fault != NULL) {
			p->keeper->faults = true;
			log_warn("%s; the next start or prune tries again", part->leavings.fault);
			strings_append(&p->left, part->leavings.fault);
			continue;
		}
		part->pruned->done = 1;
		decision_put(d, ROW_PRUNED, part->pruned);
	}
	keeper_commit(p->keeper, d, false, done_cb, p);
}

/* ---- the mark ---- */

static void marked_cb(void *arg, bool ok)
{
	struct piece *p = arg;

	if (!ok) {
		for (size_t i = 0; i < p->nparts; i++)
			engine_set_pruned(p->keeper->options.engine, p->parts[i].row->id, false);
		piece_end(p, false);
		return;
	}
	for (size_t i = 0; i < p->nparts; i++) {
		struct part *part = &p->parts[i];

		if (!p->marks || part->pruned->bytes == ROW_NONE)
			continue;
		p->bytes += part->pruned->bytes;
		p->keeper->bytes -= part->pruned->bytes;
		p->keeper->runs -= part->pruned->bytes > 0;
	}
	keeper_offload(p->keeper, remove_run, removed, p);
}

static void tell(struct decision *d, const struct pruned_row *pruned)
{
	json_t *body = json_row(ROW_PRUNED, pruned);
	char *text = json_dumps(body, JSON_COMPACT);

	decision_tell(d, pruned->pruned_at, "run.pruned", pruned->run, text);
	free(text);
	json_decref(body);
}

/* The record of the run says that what is gone was removed by rld. */
static void mark(struct engine *engine, struct decision *d, struct part *part)
{
	struct run_row *row = part->row;
	struct entry_row *entry = row->entry_count == ROW_NONE ? NULL :
	    entry_make(NULL, ROW_PRUNED, part->pruned, row->entry_count, row->entry_head, part->pruned->pruned_at);

	engine_set_pruned(engine, row->id, true);
	row->pruned_at = part->pruned->pruned_at;
	row->bytes = 0;
	if (entry != NULL) {
		row->entry_count = entry->number;
		text_set(&row->entry_head, entry->hash);
	}
	decision_put(d, ROW_RUN, row);
	decision_put(d, ROW_PRUNED, part->pruned);
	if (entry != NULL)
		decision_put(d, ROW_ENTRY, entry);
	row_free(ROW_ENTRY, entry);
	tell(d, part->pruned);
}

/* A run that stays continues it. */
static bool is_continued(const struct piece *p, const struct run_row *row)
{
	for (size_t i = 0; i < p->nparts; i++)
		for (size_t n = 0; n < p->nstayed; n++)
			if (p->parts[i].row->id == p->stayed[n] && p->parts[i].row->retry_of == row->id)
				return true;
	return false;
}

/* While they were read, a retry of one may have come. */
static void leave_needed(struct piece *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nparts; i++)
		if (keeper_needs(p->keeper, p->parts[i].row->id) ||
		    is_continued(p, p->parts[i].row))
			p->stayed[p->nstayed++] = p->parts[i].row->id;
	for (size_t i = 0, n = 0; i < p->nparts; i++) {
		if (n < p->nstayed && p->parts[i].row->id == p->stayed[n]) {
			part_release(&p->parts[i]);
			n++;
		} else {
			p->parts[kept++] = p->parts[i];
		}
	}
	p->nparts = kept;
}

static void mark_all(struct piece *p)
{
	struct decision *d;

	if (!p->marks) {
		marked_cb(p, true);
		return;
	}
	leave_needed(p);
	d = xcalloc(1, sizeof(*d));
	for (size_t i = 0; i < p->nparts; i++)
		mark(p->keeper->options.engine, d, &p->parts[i]);
	keeper_commit(p->keeper, d, true, marked_cb, p);
}

/* ---- reading ---- */

static void read_next(struct piece *p);

static void directories_cb(void *arg, struct rowset *set)
{
	struct piece *p = arg;
	struct part *part = &p->parts[p->nparts - 1];

	part->leavings = (struct leavings){
		.state_dir = p->keeper->options.state_dir, .run = part->row->id, .nids = set->count,
		.workspace = part->row->has_git == 1 ? part->row->workspace : NULL, .instance = part->row->instance,
		.ids = xcalloc(set->count + 1, sizeof(int64_t)),
	};
	for (size_t i = 0; i < set->count; i++)
		part->leavings.ids[i] = ((const struct step_row *)set->rows[i])->id;
	rowset_release(set);
	p->at++;
	read_next(p);
}

static struct pruned_row *pruned_of(const struct piece *p, const struct run_row *row)
{
	const struct piece_run *run = &p->runs[p->at];
	struct pruned_row *pruned;

	if (run->marked != NULL)
		return row_copy(ROW_PRUNED, run->marked);
	pruned = row_new(ROW_PRUNED);
	pruned->run = row->id;
	pruned->pruned_at = clock_wall();
	pruned->why = run->why;
	pruned->by_uid = p->by_uid;
	pruned->bytes = row->bytes;
	return pruned;
}

static void row_cb(void *arg, struct rowset *set)
{
	struct piece *p = arg;
	struct part *part = &p->parts[p->nparts];

	if (set->count == 0) {
		p->at++;
		rowset_release(set);
		read_next(p);
		return;
	}
	part->row = set->rows[0];
	set->count = 0;
	rowset_release(set);
	part->pruned = pruned_of(p, part->row);
	p->marks |= p->runs[p->at].marked == NULL;
	p->nparts++;
	keeper_read(p->keeper, "prune.directories", ROW_STEP, part->row->id, directories_cb, p);
}

static void read_next(struct piece *p)
{
	if (p->at < p->count)
		keeper_read(p->keeper, "prune.run", ROW_RUN, p->runs[p->at].run, row_cb, p);
	else
		mark_all(p);
}

void piece_remove(struct keeper *keeper, const struct piece_run *runs, size_t count, int64_t by_uid, piece_cb *cb,
    void *arg)
{
	struct piece *p = xcalloc(1, sizeof(*p));

	*p = (struct piece){ .keeper = keeper, .count = count, .by_uid = by_uid, .cb = cb, .arg = arg };
	for (size_t i = 0; i < count; i++) {
		p->runs[i] = runs[i];
		if (runs[i].marked != NULL)
			p->runs[i].marked = row_copy(ROW_PRUNED, runs[i].marked);
	}
	read_next(p);
}
