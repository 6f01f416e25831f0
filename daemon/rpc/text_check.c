/* SPDX-License-Identifier: MIT */
#include "rpc/text_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/offload.h"
#include "core/chain.h"
#include "core/row.h"
#include "proto/memory.h"

struct check {
	struct rpc *rpc;
	const struct run_rows *rows;
	text_check_cb *done;
	void *arg;
	size_t at;			/* task whose text is read */
	struct judge_row *judge;	/* NULL: it is gone */
	char *text;			/* NULL: it is gone */
	char *fault;
};

static void go_on(struct check *check);

/* ---- what judges ---- */

static void judge_run(void *arg)
{
	struct check *check = arg;
	const struct run_row *run = &check->rows->run;
	char hex[DIGEST_HEX];

	if (check->judge == NULL) {
		check->fault = xasprintf("the judge of run %lld was removed", (long long)run->id);
		return;
	}
	record_hash(ROW_JUDGE, check->judge, hex);
	if (strcmp(hex, run->judge_hash) != 0)
		check->fault = xasprintf("the judge of run %lld was changed: its hash is %.12s, the record has %.12s",
		    (long long)run->id, hex, run->judge_hash);
}

static void judge_done(void *arg)
{
	struct check *check = arg;

	row_free(ROW_JUDGE, check->judge);
	go_on(check);
}

static void judge_cb(void *arg, struct rowset *set)
{
	struct check *check = arg;

	check->judge = set->count > 0 ? row_copy(ROW_JUDGE, set->rows[0]) : NULL;
	rowset_release(set);
	offload(check->rpc->options.loop, judge_run, judge_done, check);
}

/* ---- texts of tasks ---- */

static void hash_run(void *arg)
{
	struct check *check = arg;
	const struct task_row *task = check->rows->tasks[check->at];
	char hex[DIGEST_HEX];

	if (check->text == NULL) {
		check->fault = xasprintf("the text of task %s was removed", task->id);
		return;
	}
	digest_hex(check->text, strlen(check->text), hex);
	if (strcmp(hex, task->text_hash) != 0)
		check->fault = xasprintf("the text of task %s was changed: its hash is %.12s, the record has %.12s",
		    task->id, hex, task->text_hash);
}

static void hash_done(void *arg)
{
	struct check *check = arg;

	free(check->text);
	check->at++;
	go_on(check);
}

static void text_cb(void *arg, struct rowset *set)
{
	struct check *check = arg;
	const struct task_row *row = set->count > 0 ? set->rows[0] : NULL;

	check->text = row != NULL ? xstrdup(row->text) : NULL;
	rowset_release(set);
	offload(check->rpc->options.loop, hash_run, hash_done, check);
}

static void go_on(struct check *check)
{
	const struct run_rows *rows = check->rows;

	while (check->at < rows->ntasks && rows->tasks[check->at]->text_hash == NULL)
		check->at++;
	if (check->fault != NULL || check->at == rows->ntasks) {
		check->done(check->arg, check->fault);
		free(check);
		return;
	}
	rpc_read(check->rpc, "task.text", ROW_TASK, (struct query_bind[]){
	    { ":run", rows->run.id, NULL },
	    { ":id", 0, rows->tasks[check->at]->id },
	    { NULL, 0, NULL } }, text_cb, check);
}

void text_check(struct rpc *rpc, const struct run_rows *rows, text_check_cb *done, void *arg)
{
	struct check *check = xcalloc(1, sizeof(*check));

	*check = (struct check){ .rpc = rpc, .rows = rows, .done = done, .arg = arg };
	if (rows->run.judge_hash == NULL) {
		go_on(check);
		return;
	}
	rpc_read(rpc, "judge.get", ROW_JUDGE, (struct query_bind[]){ { ":run", rows->run.id, NULL },
	    { NULL, 0, NULL } }, judge_cb, check);
}
