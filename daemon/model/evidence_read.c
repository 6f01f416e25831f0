/* SPDX-License-Identifier: MIT */
#include "model/evidence_read.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/row.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "proto/memory.h"

struct evidence_read {
	LIST_ENTRY(evidence_read) entry;
	struct engine *engine;
	struct slot_key key;
	void (*done)(struct slot *slot);
};

static void rows_cb(void *arg, void **rows, size_t count)
{
	struct evidence_read *read = arg;
	struct slot *slot = slot_at_job(read->engine, read->key);

	if (slot != NULL) {
		slot_forget_known(slot);
		slot->known = xcalloc(count, sizeof(*slot->known));
		for (size_t i = 0; i < count; i++)
			slot->known[slot->nknown++] = rows[i];
		read->done(slot);
	} else {
		for (size_t i = 0; i < count; i++)
			row_free(ROW_EVIDENCE, rows[i]);
	}
	LIST_REMOVE(read, entry);
	free(read);
}

void evidence_read(struct slot *slot, const char *tree, int64_t since, void (*done)(struct slot *slot))
{
	struct engine *engine = slot->run->engine;
	struct evidence_read *read = xcalloc(1, sizeof(*read));

	read->engine = engine;
	read->key = slot_key(slot);
	read->done = done;
	LIST_INSERT_HEAD(&engine->evidence_reads, read, entry);
	engine->ports.evidence(engine->ports.store_ctx, slot->run->rows->run.id, tree, since, rows_cb, read);
}

void evidence_reads_release(struct engine *engine)
{
	struct evidence_read *read;

	while ((read = LIST_FIRST(&engine->evidence_reads)) != NULL) {
		LIST_REMOVE(read, entry);
		free(read);
	}
}
