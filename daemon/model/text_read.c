/* SPDX-License-Identifier: MIT */
#include "model/text_read.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/row.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "proto/memory.h"

struct text_read {
	LIST_ENTRY(text_read) entry;
	struct engine *engine;
	struct slot_key key;
	void (*done)(struct slot *slot, const char *text, size_t size);
};

static void text_cb(void *arg, const char *text, size_t size)
{
	struct text_read *read = arg;
	struct slot *slot = slot_at_job(read->engine, read->key);

	if (slot != NULL)
		read->done(slot, text, size);
	LIST_REMOVE(read, entry);
	free(read);
}

void text_read(struct slot *slot, const char *task, void (*done)(struct slot *slot, const char *text, size_t size))
{
	struct run *run = slot->run;
	struct engine *engine = run->engine;
	struct text_read *read = xcalloc(1, sizeof(*read));

	read->engine = engine;
	read->key = slot_key(slot);
	read->done = done;
	LIST_INSERT_HEAD(&engine->text_reads, read, entry);
	engine->ports.task_text(engine->ports.store_ctx, run->rows->run.id, task, text_cb, read);
}

void text_reads_release(struct engine *engine)
{
	struct text_read *read;

	while ((read = LIST_FIRST(&engine->text_reads)) != NULL) {
		LIST_REMOVE(read, entry);
		free(read);
	}
}
