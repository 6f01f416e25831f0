/* SPDX-License-Identifier: MIT */
#include "engine/start.h"

#include "core/cause.h"
#include "core/run.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "run/lifecycle.h"
#include "sched/permits.h"
#include "slot/machine.h"
#include "txn/txn.h"

static void start(struct txn *txn, struct slot *slot)
{
	if (slot->row == NULL)
		run_event(txn, slot->run, slot->run->rows->run.started_at == ROW_NONE ?
		    RUN_E_START : RUN_E_RESUME, NO_CAUSE);
	else
		slot_on_permit(txn, slot);
	queue_update(slot->run);
}

void start_next(struct txn *txn, struct engine *engine)
{
	struct slot *slot;

	if (engine->recovering || engine->stopped)
		return;
	while ((slot = permits_next(engine)) != NULL)
		start(txn, slot);
	permits_tell(txn, engine);
}

void engine_schedule(struct engine *engine)
{
	struct txn *txn = txn_new(engine);

	start_next(txn, engine);
	txn_commit_or_drop(txn);
}
