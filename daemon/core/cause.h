/* SPDX-License-Identifier: MIT */
/* Why something ended, and why something waits: a kind for programs and a sentence for people. Both
 * are set together, only here: a row has a kind exactly when it has a sentence. Nothing is decided
 * by the words of the sentence. Pure. */
#ifndef CORE_CAUSE_H
#define CORE_CAUSE_H

#include "core/row.h"

/* text is borrowed; NULL exactly when there is no cause. */
struct cause {
	enum end_kind kind;
	const char *text;
};

struct reason {
	enum wait_kind kind;
	const char *text;
};

#define NO_CAUSE	((struct cause){ END_NONE, NULL })
#define NO_REASON	((struct reason){ WAIT_NOTHING, NULL })
#define CAUSE(kind, text)	((struct cause){ (kind), (text) })
#define REASON(kind, text)	((struct reason){ (kind), (text) })

/* For END_NO_CHANGE and SKIP_NO_CHANGE. */
#define NO_CHANGE "the implementer changed nothing and did not declare that no change was needed"

/* The cause in a row; borrowed from it. */
struct cause run_cause(const struct run_row *run);
struct cause slot_cause(const struct slot_row *slot);
/* the task's reason: why it ended, or is not in this run */
struct cause task_cause(const struct task_row *task);
struct cause attempt_row_cause(const struct attempt_row *attempt);

/* Copies the text, which may be the row's own. */
void run_set_cause(struct run_row *run, struct cause cause);
void slot_set_cause(struct slot_row *slot, struct cause cause);
void task_set_cause(struct task_row *task, struct cause cause);
void attempt_set_cause(struct attempt_row *attempt, struct cause cause);

void run_set_reason(struct run_row *run, struct reason reason);
void slot_set_reason(struct slot_row *slot, struct reason reason);

/* The row already has this reason. */
bool run_has_reason(const struct run_row *run, struct reason reason);
bool slot_has_reason(const struct slot_row *slot, struct reason reason);

/* The party that accepts with this end; ACCEPTED_BY_NONE: no acceptance. */
enum accepted end_accepted(enum end_kind kind);

/* The reason of a skipped review as a sentence; NULL for SKIP_NOTHING and SKIP_OTHER. */
const char *skip_text(enum skip_kind kind);

#endif
