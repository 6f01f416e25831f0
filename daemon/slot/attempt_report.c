/* SPDX-License-Identifier: MIT */
#include "slot/attempt_report.h"


#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "slot/agent_pick.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/notice_watch.h"
#include "slot/result_watch.h"
#include "slot/wait.h"
#include "txn/txn.h"

void attempt_started(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);
	struct attempt_row *a = txn_edit_attempt(txn, run_attempt(slot->run, slot->activity.id));

	a->state = ATTEMPT_S_RUNNING;
	a->started_at = engine_now(slot->run->engine);
	slot_wait_over(txn, slot);
	attempt_emit_started(txn, a);
	txn_commit(txn);
	if (slot->row->task == NULL && a->role == ROLE_IMPLEMENT)
		pick_watch(slot);
	result_watch(slot);
	notice_watch(slot);
}

void attempt_ended(struct slot *slot, const struct exit_record *record, const char *detail)
{
	slot->lost = record == NULL;
	slot->record = record != NULL ? *record : (struct exit_record){ 0 };
	text_set(&slot->lost_detail, detail);
	activity_start_job(&slot->activity);
	if (slot->row->task == NULL && !slot_is_whole(slot) && !slot_is_beside(slot) && !slot_ending(slot))
		pick_last(slot);
	else
		attempt_collect(slot);
}

void attempt_renumber(struct slot *slot)
{
	struct run *run = slot->run;
	struct attempt_row *a = row_copy(ROW_ATTEMPT, run_attempt(run, slot->activity.id));
	struct txn *txn = txn_new(run->engine);

	txn_remove(txn, run, ROW_ATTEMPT, run_attempt(run, slot->activity.id));
	a->id = txn_edit_slot(txn, slot)->attempt = ++run->engine->last_attempt;
	txn_add(txn, run, ROW_ATTEMPT, a);
	txn_effect(txn, EFFECT_BUILD, run, slot, a->id);
	txn_commit(txn);
}

/* A host fault prevents the start: wait for its end as for a service. */
static void wait_to_start(struct slot *slot, int fault, const char *error)
{
	struct txn *txn = txn_new(slot->run->engine);

	activity_end(&slot->activity);
	slot_waits(txn, slot, WAIT_HOST, fault, error);
	txn_edit_slot(txn, slot)->retry_at = slot->row->wait_until;
	txn_effect(txn, EFFECT_BUILD, slot->run, slot, slot->row->attempt);
	txn_commit(txn);
}

void attempt_refused(struct slot *slot, int status, const char *error)
{
	struct exit_record record = { .how = EXIT_NOT_STARTED, .status = status, .tree_empty = true };

	if (host_fault(status) && !slot_ending(slot)) {
		wait_to_start(slot, status, error);
		return;
	}
	snprintf(record.error, sizeof(record.error), "%s", error != NULL ? error : "unknown error");
	attempt_ended(slot, &record, NULL);
}
