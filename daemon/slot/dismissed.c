/* SPDX-License-Identifier: MIT */
#include "slot/dismissed.h"

#include <stdlib.h>
#include <string.h>

#include "core/dismissal.h"
#include "model/runs.h"
#include "model/slots.h"
#include "prompt/markdown.h"
#include "proto/memory.h"

static struct dismissals dismissed_of(const struct slot *slot)
{
	return dismissals_read(slot->run->rows->run.dismissed);
}

bool dismissed_has(const struct slot *slot, const struct finding_row *finding)
{
	struct dismissals d = dismissed_of(slot);
	bool has = dismissals_find(&d, slot_task_id(slot), finding->id) != NULL;

	dismissals_release(&d);
	return has;
}

char *dismissed_text(const struct slot *slot)
{
	struct dismissals d = dismissed_of(slot);
	struct buf out = { 0 };

	for (size_t i = 0; i < d.count; i++) {
		if (strcmp(d.list[i].task, slot_task_id(slot)) != 0)
			continue;
		markdown_item(&out, "- ", d.list[i].text);
		markdown_item(&out, "  Reason: ", d.list[i].reason);
	}
	dismissals_release(&d);
	return out.data;
}
