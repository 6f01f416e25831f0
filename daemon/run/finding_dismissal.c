/* SPDX-License-Identifier: MIT */
#include "run/finding_dismissal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/dismissal.h"
#include "core/review.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/view.h"
#include "prompt/prompt.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "run/run_refusal.h"
#include "slot/finding_report.h"
#include "slot/hold.h"
#include "txn/txn.h"

enum {
	DISMISSALS_MAX = 200,	/* of a run and those that it retries */
	TEXT_KEPT = 1000,	/* code points of a finding */
	NAMED_MAX = 20		/* open findings in a refusal */
};

/* ---- the open findings ---- */

static bool is_newest_verdict(const struct run_rows *rows, size_t at)
{
	for (size_t i = at + 1; i < rows->nreviews; i++)
		if (review_is_verdict(rows->reviews[i]) &&
		    strcmp(rows->reviews[i]->task_id, rows->reviews[at]->task_id) == 0)
			return false;
	return review_is_verdict(rows->reviews[at]);
}

const struct finding_row **open_findings(const struct run_rows *rows, size_t *count)
{
	const struct finding_row **open = xcalloc(rows->nfindings + 1, sizeof(*open));
	struct dismissals dismissed = dismissals_read(rows->run.dismissed);

	*count = 0;
	for (size_t i = 0; i < rows->nreviews; i++) {
		const struct review_row *review = rows->reviews[i];
		size_t n = 0;
		const struct finding_row **said = is_newest_verdict(rows, i) ?
		    run_rows_findings(rows, review->number, &n) : NULL;

		for (size_t f = 0; f < n; f++)
			if (finding_is_open(said[f]) &&
			    dismissals_find(&dismissed, review->task_id, said[f]->id) == NULL)
				open[(*count)++] = said[f];
	}
	dismissals_release(&dismissed);
	return open;
}

const char *finding_task(const struct run_rows *rows, const struct finding_row *finding)
{
	for (size_t i = 0; i < rows->nreviews; i++)
		if (rows->reviews[i]->number == finding->review)
			return rows->reviews[i]->task_id;
	return "";
}

/* ---- whether it is possible ---- */

/* "0123456789abcdef (t1), ...": of what can be dismissed. */
static char *name_open(const struct run_rows *rows, const struct finding_row *const *open, size_t count)
{
	struct buf names = { 0 };

	if (count == 0)
		return xstrdup("no finding is open; rlctl review show has the reviews");
	buf_adds(&names, "open findings: ");
	for (size_t i = 0; i < count && i < NAMED_MAX; i++)
		buf_addf(&names, "%s%s (%s)", i > 0 ? ", " : "", open[i]->id, finding_task(rows, open[i]));
	if (count > NAMED_MAX)
		buf_addf(&names, " and %zu more; see rlctl finding list", count - NAMED_MAX);
	return buf_take(&names, NULL);
}

/* Who dismissed it already, malloc'd; NULL: it is not dismissed. */
static char *dismissed_before(const struct run_rows *rows, const struct finding_dismissal *d)
{
	struct dismissals all = dismissals_read(rows->run.dismissed);
	char *text = NULL;

	for (size_t i = 0; i < all.count && text == NULL; i++)
		if (strcmp(all.list[i].finding, d->finding) == 0 &&
		    (d->task == NULL || strcmp(all.list[i].task, d->task) == 0))
			text = xasprintf("finding %s was dismissed already by %s: %s", d->finding, all.list[i].by,
			    all.list[i].reason);
	dismissals_release(&all);
	return text;
}

static size_t count_dismissed(const struct run_rows *rows)
{
	struct dismissals all = dismissals_read(rows->run.dismissed);
	size_t count = all.count;

	dismissals_release(&all);
	return count;
}

/* The finding that it is about, NULL: none or several, and *several tasks have it. */
static const struct finding_row *find(const struct run_rows *rows, const struct finding_dismissal *d,
    const struct finding_row *const *open, size_t count, bool *several)
{
	const struct finding_row *found = NULL;

	*several = false;
	for (size_t i = 0; i < count; i++) {
		const char *task = finding_task(rows, open[i]);

		if (strcmp(open[i]->id, d->finding) != 0 || (d->task != NULL && strcmp(task, d->task) != 0))
			continue;
		*several |= found != NULL && strcmp(finding_task(rows, found), task) != 0;
		found = open[i];
	}
	return *several ? NULL : found;
}

/* Texts of a refusal, which its reply borrows. */
struct refusal {
	char *message, *hint;
};

/* Sets *found on RPC_OK. */
static int refuse_finding(const struct run_rows *rows, const struct finding_dismissal *d, struct engine_reply *reply,
    struct refusal *texts, const struct finding_row **found)
{
	size_t count;
	const struct finding_row **open = open_findings(rows, &count);
	bool several;
	int code = RPC_OK;

	*found = find(rows, d, open, count, &several);
	reply->field = "finding";
	if (hold_is_silent(d->reason)) {
		reply->message = "a dismissal needs a reason";
		reply->hint = "say with --reason TEXT why the finding need not be fixed";
		reply->field = "reason";
		code = RPC_INVALID_PARAMS;
	} else if (several) {
		reply->message = "several tasks have this finding";
		reply->hint = "name the task: RUN/TASK";
		reply->field = "task";
		code = RPC_INVALID_PARAMS;
	} else if (*found == NULL && (texts->message = dismissed_before(rows, d)) != NULL) {
		reply->message = texts->message;
		reply->hint = "nothing to do: the next verdict does not count it";
		code = RPC_WRONG_STATE;
	} else if (*found == NULL) {
		reply->message = texts->message = xasprintf("%s has no open finding %s",
		    d->task != NULL ? d->task : "the run", d->finding);
		reply->hint = texts->hint = name_open(rows, open, count);
		code = RPC_NOT_FOUND;
	} else if (count_dismissed(rows) >= DISMISSALS_MAX) {
		reply->message = "the run has too many dismissed findings";
		reply->hint = "change the task or the reviewer's guidelines, and submit it again";
		code = RPC_WRONG_STATE;
	}
	free(open);
	return code;
}

/* ---- the decision ---- */

static void dismiss(struct txn *txn, struct run *run, const struct finding_dismissal *d,
    const struct finding_row *finding)
{
	struct run_row *row = txn_edit_run(txn, run);
	char *human = xasprintf("human:%s", d->by->name), *issue = review_issue(finding), at[40], *list;
	size_t size;
	/* both in valid UTF-8 */
	char *text = prompt_cap((struct span){ issue, strlen(issue) }, TEXT_KEPT, &size),
	     *by = prompt_cap((struct span){ human, strlen(human) }, TEXT_KEPT, &size);
	const struct dismissal one = {
		.task = finding_task(run->rows, finding), .finding = finding->id, .text = text, .by = by,
		.reason = d->reason, .at = at, .by_uid = d->by->uid, .by_pid = d->by->pid,
		.run = row->id, .review = row->review_count,
	};

	time_format(txn_now(txn), at, sizeof(at));
	list = dismissals_add(row->dismissed, &one);
	free(row->dismissed);
	row->dismissed = list;
	txn_emit(txn, "finding.dismissed", row->id, json_pack("{s:s, s:s, s:s, s:s, s:s}", "task", one.task,
	    "finding", one.finding, "text", one.text, "by", one.by, "reason", one.reason));
	log_about(LOG_LEVEL_INFO, row->id, 0, "run %lld: finding %s of %s dismissed by %s", (long long)row->id,
	    one.finding, one.task, by);
	free(human);
	free(issue);
	free(text);
	free(by);
}

void engine_dismiss(struct engine *engine, const struct finding_dismissal *d, engine_reply_cb *cb, void *arg)
{
	struct run *run = run_find(engine, d->run);
	struct engine_reply reply = { .id = d->run, .rows = view_run(engine->view, d->run) };
	const struct finding_row *finding = NULL;
	struct refusal texts = { NULL, NULL };
	struct txn *txn;

	reply.code = run_refuse_ending(engine, run,
	    "rlctl retry continues its work as a new run; dismiss the finding there", &reply);
	if (reply.code == RPC_OK)
		reply.code = refuse_finding(run->rows, d, &reply, &texts, &finding);
	if (reply.code != RPC_OK || d->check) {
		cb(arg, &reply);
	} else {
		txn = txn_new(engine);
		dismiss(txn, run, d, finding);
		txn_reply(txn, cb, arg, d->run);
		txn_commit(txn);
	}
	free(texts.message);
	free(texts.hint);
}
