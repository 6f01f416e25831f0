/* SPDX-License-Identifier: MIT */
/* Events of runs and slots, and what a run warns of. */
#ifndef TXN_EMIT_H
#define TXN_EMIT_H

struct run;
struct slot;
struct txn;

void run_warn(struct txn *txn, struct run *run, const char *text);
/* Findings that the run ends with by leave of its policy, all at once: each time the whole row is copied. NULL-terminated. */
void run_known_issues(struct txn *txn, struct run *run, char *const *texts);
/* What the source's program is asked meanwhile is why the run waits, "bd ready"; NULL: nothing any more. */
void run_waits_for(struct txn *txn, struct run *run, const char *what);
void run_emit_state(struct txn *txn, const struct run *run);
/* Its phase, or the reason why it waits, is another. */
void slot_emit_phase(struct txn *txn, const struct slot *slot);

#endif
