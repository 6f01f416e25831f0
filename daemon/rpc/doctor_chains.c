/* SPDX-License-Identifier: MIT */
/* The hash chains of the newest runs and the refs of what passed, one run after another: rows from
 * the store, hashes and files of refs on a worker. */
#include <stdlib.h>
#include <string.h>

#include "base/offload.h"
#include "job/kept_files.h"
#include "job/recorded_refs.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/doctor.h"
#include "rpc/run_load.h"
#include "rpc/text_check.h"

#define RUNS_MAX 1000
#define REFS_SHOWN 3		/* runs whose refs are told */
#define FAULTS_SHOWN 3

struct chains {
	struct rpc *rpc;
	doctor_chains_cb *done;
	void *arg;
	int64_t *ids;			/* runs with chains still to be checked, from index at on */
	size_t count, at;
	int64_t before;			/* runs older than this one follow; ROW_NONE: none */
	size_t seen, reviews;
	struct run_rows *rows;		/* copy of the current run's rows */
	char *fault;			/* of the current run */
	size_t faulty;			/* runs that are not as recorded */
	struct buf faults;
	char *newest;			/* a ref of the newest run that has one */
	char *moved;			/* refs of the current run */
	size_t refs;			/* runs with such refs */
	struct buf moves;
};

static void go_on(struct chains *c);

static void doctor_chains_end(struct chains *c)
{
	char *text = c->faulty > 0 ? xasprintf("%s%s", c->faults.data, c->faulty > FAULTS_SHOWN ? "; and more" : "") :
	    xasprintf("%zu reviews of the newest %zu runs are unaltered", c->reviews, c->seen);

	c->done(c->arg, c->faulty > 0 ? DOCTOR_FAILED : DOCTOR_OK, text,
	    c->moves.size > 0 ? c->moves.data : NULL, c->newest);
	buf_release(&c->moves);
	buf_release(&c->faults);
	free(c->newest);
	free(text);
	free(c->ids);
	free(c);
}

static void note_newest(struct chains *c)
{
	char **refs = c->newest == NULL ? recorded_refs(c->rows) : NULL;

	if (refs != NULL && refs[0] != NULL && c->rows->npruned == 0)
		c->newest = xmemdup0(refs[0], strcspn(refs[0], " "));
	strings_free(refs);
}

static void verify_run(void *arg)
{
	struct chains *c = arg;

	c->fault = run_rows_verify(c->rows);
	if (c->fault == NULL)
		c->fault = kept_files_changed(c->rpc->state_dir, c->rows, NULL);
	c->moved = recorded_refs_moved(c->rpc->state_dir, c->rows);
	note_newest(c);
}

static void verify_texts(void *arg, char *fault)
{
	struct chains *c = arg;

	c->fault = fault != NULL ? fault : c->fault;
	c->reviews += c->rows->nreviews;
	if (c->moved != NULL && c->refs++ < REFS_SHOWN)
		buf_addf(&c->moves, "%srun %lld: %s", c->moves.size > 0 ? "; " : "", (long long)c->rows->run.id,
		    c->moved);
	free(c->moved);
	c->moved = NULL;
	if (c->fault != NULL && c->faulty++ < FAULTS_SHOWN)
		buf_addf(&c->faults, "%srun %lld: %s", c->faults.size > 0 ? "; " : "", (long long)c->rows->run.id,
		    c->fault);
	free(c->fault);
	c->fault = NULL;
	run_rows_free(c->rows);
	c->at++;
	go_on(c);
}

static void verify_done(void *arg)
{
	struct chains *c = arg;

	if (c->fault != NULL)
		verify_texts(c, NULL);
	else
		text_check(c->rpc, c->rows, verify_texts, c);
}

static void rows_cb(void *arg, const struct run_rows *rows)
{
	struct chains *c = arg;

	if (rows == NULL) {
		c->at++;
		go_on(c);
		return;
	}
	c->rows = run_rows_copy(rows);
	offload(c->rpc->options.loop, verify_run, verify_done, c);
}

static void page_cb(void *arg, struct rowset *set)
{
	struct chains *c = arg;

	c->count = c->at = 0;
	c->before = ROW_NONE;
	free(c->ids);
	c->ids = xcalloc(set->count, sizeof(*c->ids));
	for (size_t i = 0; i < set->count && c->seen < RUNS_MAX; i++) {
		const struct run_row *run = set->rows[i];

		c->seen++;
		c->before = run->id;
		if (run->entry_count > 0 || run->review_count > 0 || run->product_count > 0 ||
		    run->result_ref != NULL || run->result_commit != NULL)
			c->ids[c->count++] = run->id;
	}
	rowset_release(set);
	go_on(c);
}

static void read_page(struct chains *c)
{
	const struct query_bind binds[] = {
		{ ":state", ROW_NONE, NULL }, { ":owner", ROW_NONE, NULL },
		{ ":before", c->before, NULL }, { ":limit", STORE_PAGE, NULL }, { NULL, 0, NULL },
	};

	rpc_read(c->rpc, "run.list", ROW_RUN, binds, page_cb, c);
}

/* Continue with the next run of the page, the next page, or the end. */
static void go_on(struct chains *c)
{
	if (c->at < c->count)
		load_run(c->rpc, c->ids[c->at], LOAD_CHAINS, rows_cb, c);
	else if (c->before != ROW_NONE && c->seen < RUNS_MAX)
		read_page(c);
	else
		doctor_chains_end(c);
}

void doctor_chains(struct rpc *rpc, doctor_chains_cb *done, void *arg)
{
	struct chains *c = xcalloc(1, sizeof(*c));

	*c = (struct chains){ .rpc = rpc, .done = done, .arg = arg, .before = ROW_NONE };
	read_page(c);
}
