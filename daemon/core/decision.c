/* SPDX-License-Identifier: MIT */
#include "core/decision.h"

#include <stdlib.h>

#include "proto/memory.h"

/* Takes ownership of row. */
static void decision_add(struct decision *d, enum row_kind kind, void *row, bool drop)
{
	if (d->count == d->room) {
		d->room = d->room > 0 ? d->room * 2 : 8;
		d->changes = xreallocarray(d->changes, d->room, sizeof(*d->changes));
	}
	d->changes[d->count++] = (struct change){ kind, row, drop };
}

void decision_put(struct decision *d, enum row_kind kind, const void *row)
{
	decision_add(d, kind, row_copy(kind, row), false);
}

void decision_drop(struct decision *d, enum row_kind kind, const void *row)
{
	decision_add(d, kind, row_copy(kind, row), true);
}

void decision_tell(struct decision *d, int64_t time, const char *type, int64_t run, const char *body)
{
	struct event_row *event = row_new(ROW_EVENT);

	event->time = time;
	event->type = xstrdup(type);
	event->run = run;
	event->body = xstrdup(body);
	decision_add(d, ROW_EVENT, event, false);
}

void decision_release(struct decision *d)
{
	for (size_t i = 0; i < d->count; i++)
		row_free(d->changes[i].kind, d->changes[i].row);
	free(d->changes);
	*d = (struct decision){ 0 };
}
