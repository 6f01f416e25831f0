/* SPDX-License-Identifier: MIT */
#include "model/judge_read.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/row.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "proto/memory.h"

struct judge_read {
	LIST_ENTRY(judge_read) entry;
	struct engine *engine;
	struct slot_key key;
	void (*done)(struct slot *slot, struct judge_row *judge);
};

static void row_cb(void *arg, struct judge_row *row)
{
	struct judge_read *read = arg;
	struct slot *slot = slot_at_job(read->engine, read->key);

	if (slot != NULL)
		read->done(slot, row);
	else
		row_free(ROW_JUDGE, row);
	LIST_REMOVE(read, entry);
	free(read);
}

void judge_read(struct slot *slot, void (*done)(struct slot *slot, struct judge_row *judge))
{
	struct engine *engine = slot->run->engine;
	struct judge_read *read = xcalloc(1, sizeof(*read));

	read->engine = engine;
	read->key = slot_key(slot);
	read->done = done;
	LIST_INSERT_HEAD(&engine->judge_reads, read, entry);
	engine->ports.judge(engine->ports.store_ctx, slot->run->rows->run.id, row_cb, read);
}

void judge_reads_release(struct engine *engine)
{
	struct judge_read *read;

	while ((read = LIST_FIRST(&engine->judge_reads)) != NULL) {
		LIST_REMOVE(read, entry);
		free(read);
	}
}
