/* SPDX-License-Identifier: MIT */
/* A decision: the rows that change. Recorded by the store in one transaction, then installed in the
 * view, then acted on. */
#ifndef CORE_DECISION_H
#define CORE_DECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"

struct change {
	enum row_kind kind;
	void *row;		/* owned by the decision */
	bool drop;		/* the row with this key goes */
};

struct decision {
	struct change *changes;
	size_t count, room;
};

/* Append a deep copy of row. */
void decision_put(struct decision *d, enum row_kind kind, const void *row);

/* The row of this key was of something that never began, and goes: an attempt, a step or a hook. */
void decision_drop(struct decision *d, enum row_kind kind, const void *row);

/* Append an event. body is a JSON object as text, copied; run may be ROW_NONE. seq is assigned
 * when it is recorded. */
void decision_tell(struct decision *d, int64_t time, const char *type, int64_t run, const char *body);

/* Free the rows and the list; the struct itself is left empty. */
void decision_release(struct decision *d);

#endif
