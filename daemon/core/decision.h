/* SPDX-License-Identifier: MIT */
/* A decision: the rows that change. The store records it in one transaction; then it is installed
 * in the view, and its effects are carried out. */
#ifndef CORE_DECISION_H
#define CORE_DECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"

struct change {
	enum row_kind kind;
	void *row;		/* owned by the decision */
	bool drop;		/* delete the row with this key */
};

struct decision {
	struct change *changes;
	size_t count, room;
};

/* Append a deep copy of row. */
void decision_put(struct decision *d, enum row_kind kind, const void *row);

/* Delete the row of something that never started: an attempt, a step or a hook. */
void decision_drop(struct decision *d, enum row_kind kind, const void *row);

/* Append an event. body is a JSON object as text, copied; run may be ROW_NONE. seq is assigned when
 * the event is recorded. */
void decision_tell(struct decision *d, int64_t time, const char *type, int64_t run, const char *body);

/* Free the rows and the list, and clear the struct; the struct itself is the caller's. */
void decision_release(struct decision *d);

#endif
