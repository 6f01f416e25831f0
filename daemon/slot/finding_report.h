/* SPDX-License-Identifier: MIT */
/* A finding for people: as a sentence, and as an event. */
#ifndef SLOT_FINDING_REPORT_H
#define SLOT_FINDING_REPORT_H

#include "core/row.h"
#include "core/state.h"

struct txn;

/* "src/foo.ts:42: the comment", malloc'd. */
char *review_issue(const struct finding_row *finding);
/* Report a finding that changes its state between two reviews. reason: of a dispute, NULL. */
void review_emit(struct txn *txn, const struct finding_row *finding, enum finding_state state, const char *by,
    const char *reason);

#endif
