/* SPDX-License-Identifier: MIT */
#include "txn/emit.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "txn/txn.h"

void run_emit_state(struct txn *txn, const struct run *run)
{
	const struct run_row *row = &run->rows->run;

	bool held_up = row->wait != WAIT_NOTHING;

	txn_emit(txn, "run.state", row->id, json_pack("{s:s, s:s*, s:s*, s:s*, s:s*}",
	    "state", state_name(&run_state_names, row->state),
	    "reason", held_up ? row->wait_reason : row->reason,
	    "wait_kind", state_name(&wait_kind_names, held_up ? row->wait : row->wait_kind),
	    "cause", row->cause, "end_kind", state_name(&end_kind_names, row->end_kind)));
}

/* Append texts to a JSON array of strings. */
static void append_texts(char **list, const char *const *texts)
{
	json_t *array = *list != NULL ? json_loads(*list, 0, NULL) : NULL;

	if (array == NULL)
		array = json_array();
	for (; *texts != NULL; texts++)
		json_array_append_new(array, json_string(*texts));
	free(*list);
	*list = json_dumps(array, JSON_COMPACT);
	json_decref(array);
}

/* The warnings of a run are few. */
static bool has_warning(const struct run_row *row, const char *text)
{
	json_t *list = row->warnings != NULL ? json_loads(row->warnings, 0, NULL) : NULL, *known;
	bool found = false;
	size_t i;

	json_array_foreach(list, i, known)
		found = found || strcmp(json_string_value(known), text) == 0;
	json_decref(list);
	return found;
}

void run_warn(struct txn *txn, struct run *run, const char *text)
{
	const char *const texts[] = { text, NULL };
	struct run_row *row;

	if (has_warning(&run->rows->run, text))
		return;
	row = txn_edit_run(txn, run);
	append_texts(&row->warnings, texts);
	log_about(LOG_LEVEL_WARN, row->id, 0, "run %lld: %s", (long long)row->id, text);
}

void slot_warn(struct txn *txn, const struct slot *slot, const char *fmt, ...)
{
	char *what, *text;
	va_list ap;

	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	text = xasprintf("task %s: %s", slot_task_id(slot), what);
	run_warn(txn, slot->run, text);
	free(text);
	free(what);
}

bool run_warn_once(struct txn *txn, struct run *run, enum warning_kind kind, const char *text)
{
	if ((run->rows->run.warned & kind) != 0)
		return false;
	txn_edit_run(txn, run)->warned |= kind;
	run_warn(txn, run, text);
	return true;
}

void run_waits_for(struct txn *txn, struct run *run, const char *what)
{
	struct run_row *row;
	char *text;

	if (run->rows->run.state != RUN_S_RUNNING || run_cancelling(run) ||
	    (what == NULL && run->rows->run.reason == NULL))
		return;
	row = txn_edit_run(txn, run);
	text = what != NULL ? xasprintf("waits for %s", what) : NULL;
	run_set_reason(row, text != NULL ? REASON(WAIT_LOADING, text) : NO_REASON);
	free(text);
}

void run_known_issues(struct txn *txn, struct run *run, char *const *texts)
{
	struct run_row *row = txn_edit_run(txn, run);

	append_texts(&row->known_issues, (const char *const *)texts);
}

void slot_emit_phase(struct txn *txn, const struct slot *slot)
{
	const struct slot_row *row = slot->row;
	bool held_up = row->wait != WAIT_NOTHING;
	bool fixes_it = row->stage == SLOT_S_FIXING && row->failed_check == ROW_NONE && row->message == NULL;

	/* the slot that it judges has its phase */
	if (slot_is_voter(slot))
		return;

	txn_emit(txn, "slot.phase", row->run, json_pack("{s:I, s:s, s:s*, s:I, s:I, s:I, s:s*, s:s*, s:s*, s:s*, s:s*}",
	    "slot", (json_int_t)row->slot,
	    "phase", state_name(&slot_phase_names, (int)slot_row_phase(row)),
	    "task", row->task,
	    "round", (json_int_t)row->round,
	    "fix", (json_int_t)row->fix,
	    "max_reviews", (json_int_t)(row->fixes + 1),
	    "reason", held_up ? row->wait_reason : row->reason,
	    "wait_kind", state_name(&wait_kind_names, held_up ? row->wait : row->wait_kind),
	    "cause", row->cause,
	    "end_kind", state_name(&end_kind_names, row->end_kind),
	    "obstacle", fixes_it ? row->obstacle : NULL));
}
