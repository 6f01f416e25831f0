/* SPDX-License-Identifier: MIT */
/* Events of runs and slots, and warnings of runs. */
#ifndef TXN_EMIT_H
#define TXN_EMIT_H

#include <stdbool.h>

#include "core/state.h"

struct run;
struct slot;
struct txn;

/* Add a warning, unless the run has given it before, also before a restart. */
void run_warn(struct txn *txn, struct run *run, const char *text);
/* The same about the task of a slot: "task ID: TEXT". */
void slot_warn(struct txn *txn, const struct slot *slot, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same as run_warn(), unless the run has given a warning of that kind. True: it has now. */
bool run_warn_once(struct txn *txn, struct run *run, enum warning_kind kind, const char *text);
/* Findings left open under the policy of the run, all in one call, because each call copies the
 * whole row. NULL-terminated. */
void run_known_issues(struct txn *txn, struct run *run, char *const *texts);
/* The run waits for a command of its task source, "bd ready"; NULL: it waits no longer. */
void run_waits_for(struct txn *txn, struct run *run, const char *what);
void run_emit_state(struct txn *txn, const struct run *run);
/* The phase of the slot, or the reason why it waits, has changed. */
void slot_emit_phase(struct txn *txn, const struct slot *slot);

#endif
