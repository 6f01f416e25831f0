/* SPDX-License-Identifier: MIT */
/* What the findings that fixers dispute mean for a slot: the next reviewer is given them, and each
 * is answered by its verdict. A dispute alone settles nothing. */
#ifndef SLOT_DISPUTED_H
#define SLOT_DISPUTED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/dispute.h"
#include "core/row.h"

struct slot;
struct txn;

/* The slot's fix attempt disputes these; more: and others, which are not read. Those that are no
 * open finding of the last verdict do not count, and a warning names them. */
void disputed_take(struct txn *txn, struct slot *slot, const struct dispute_line *lines, size_t count, bool more);
/* A verdict has said these. */
void disputed_answer(struct txn *txn, struct slot *slot, const struct finding_row *const *said, size_t count);

/* Whether a finding of the slot's task is disputed, and no verdict has answered that. */
bool disputed_has(const struct slot *slot, const struct finding_row *finding);
/* Whether any is that the last verdict has. */
bool disputed_any(const struct slot *slot);
/* Array of their ids, owned by the caller. */
json_t *disputed_ids(const struct slot *slot);

/* For the reviewer: the same findings with the reasons, as Markdown, malloc'd; NULL: there are
 * none. A profile whose reviewers must not see the task gives no reason: it may speak of it. */
char *disputed_text(const struct slot *slot);
/* For the fixer: what it may dispute, with the ids, likewise. */
char *disputed_offer(const struct slot *slot);

#endif
