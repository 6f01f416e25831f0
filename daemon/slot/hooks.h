/* SPDX-License-Identifier: MIT */
/* Commands of [hook]. They belong to no slot: one may outlive its run. */
#ifndef SLOT_HOOKS_H
#define SLOT_HOOKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/row.h"
#include "proc/launch.h"
#include "record/exit_record.h"

struct engine;
struct run;
struct slot;
struct txn;

/* A hook in progress. It belongs to no slot, because it may outlive its run. */
struct hook {
	LIST_ENTRY(hook) entry;
	const struct hook_row *row;		/* owned */
	bool begun;			/* it was passed to the proc port */
	bool looked;			/* recovery: result of the proc port's inspection ... */
	enum proc_found found;
	struct exit_record record;
};

/* Add a hook to the transaction, if [hook] names a program for it: for a hold, for the task of a
 * slot, which has passed, and for the end of a run. */
void hook_add_hold(struct txn *txn, struct run *run, const struct hold_row *hold);
void hook_add_pass(struct txn *txn, const struct slot *slot);
void hook_add_end(struct txn *txn, struct run *run);
/* Likewise on_hold for a long wait, with this reason; task NULL: none. */
void hook_add_wait(struct txn *txn, struct run *run, const char *task, const char *kind, const char *reason);
void hook_start(struct engine *engine, int64_t id);
struct hook *hook_find(struct engine *engine, int64_t id);
/* Whether there is one with this uuid. */
bool hook_is_marked(const struct engine *engine, const char *uuid);
void hook_load(struct engine *engine, const struct hook_row *row);
void hook_adopt_all(struct engine *engine);
void hook_ended(struct engine *engine, struct hook *hook, const struct exit_record *record,
    int status, const char *error);
/* The hook's number was taken: start it with the next one. */
void hook_renumber(struct engine *engine, struct hook *hook);
/* Kept until recovery is complete, see hook_resume_all(). */
void hook_found(struct hook *hook, enum proc_found found, const struct exit_record *record);
void hook_resume_all(struct engine *engine);
void hook_free(struct hook *hook);

#endif
