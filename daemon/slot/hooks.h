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
struct txn;

/* A command of [hook] on its way. It belongs to no slot, since it may outlive its run. */
struct hook {
	LIST_ENTRY(hook) entry;
	const struct hook_row *row;		/* owned */
	bool begun;			/* the proc port has it */
	bool looked;			/* recovery: the proc port has found ... */
	enum proc_found found;
	struct exit_record record;
};

/* Put a hook row into the txn, if the command is not empty. hold NULL: for the end of the run. */
void hook_add(struct txn *txn, struct run *run, const char *name, char *const *command, const struct hold_row *hold);
/* The same for a wait that has lasted long, in these words; task NULL: none. */
void hook_add_wait(struct txn *txn, struct run *run, const char *task, const char *kind, const char *reason);
void hook_start(struct engine *engine, int64_t id);
struct hook *hook_find(struct engine *engine, int64_t id);
void hook_load(struct engine *engine, const struct hook_row *row);
void hook_adopt_all(struct engine *engine);
void hook_ended(struct engine *engine, struct hook *hook, const struct exit_record *record,
    int status, const char *error);
/* Its number was taken: the next one, and it is started with that. */
void hook_renumber(struct engine *engine, struct hook *hook);
/* Kept until everything is found, see hook_resume_all(). */
void hook_found(struct hook *hook, enum proc_found found, const struct exit_record *record);
void hook_resume_all(struct engine *engine);
void hook_free(struct hook *hook);

#endif
