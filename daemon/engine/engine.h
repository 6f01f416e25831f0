/* SPDX-License-Identifier: MIT */
/* Applies decisions: decide, record, commit, act, tell. The face that rpc and main.c see. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "model/ports.h"
#include "model/reply.h"
#include "model/view.h"
#include "run/file_queue.h"
#include "run/hold_decision.h"
#include "run/submission.h"
#include "sched/accounts.h"
#include "sched/groups.h"

struct engine;

struct engine_options {
	const char *state_dir;		/* absolute: attempts/, runs/, env/, blobs/ are in it */
	const char *config_dir;		/* <config>/prompts/ is searched for
					 * templates; NULL: none */
	const char *instance;		/* eight hex digits that refs have in their names */
	const char *socket;		/* at which agents and hooks find this daemon; NULL:
					 * they are told none */
	const char *rl_git;		/* path of the program that runs operations */
	int64_t parallel;		/* slots of the whole daemon */
};

struct engine *engine_new(const struct ports *ports, const struct engine_options *options,
    engine_committed_cb *committed, void *arg);
/* Start nothing more; submits that still wait are answered "unavailable". Reports and commits that
 * still come in are recorded facts for the next daemon. Then close the store, which reports what
 * was still being committed, then free. */
void engine_stop(struct engine *engine);
void engine_free(struct engine *engine);

/* Start-up, in this order: the highest ids ever used, every row of every unfinished run, then
 * recover: classifies each unfinished attempt before anything effects. */
void engine_load_counters(struct engine *engine, int64_t last_run, int64_t last_attempt, int64_t last_hold);
void engine_load_row(struct engine *engine, enum row_kind kind, void *row);	/* takes row */
void engine_recover(struct engine *engine);

/* Reports of the proc port come in here, with the engine as arg. */
extern const struct proc_sink engine_proc_sink;

const struct view *engine_view(const struct engine *engine);

/* The plan of an unfinished run, NULL for others; valid until the run is forgotten. */
const struct plan *engine_plan(struct engine *engine, int64_t run);

/* True while writing has stopped for want of space: changing requests are refused.
 * Set by main.c. */
void engine_set_full(struct engine *engine, bool full);
void engine_set_parallel(struct engine *engine, int64_t parallel);
/* No new run is started, submits are refused. */
void engine_drain(struct engine *engine);
bool engine_draining(const struct engine *engine);
/* Running runs, submits, commits, hooks, logs and reports under way: 0 = a drained
 * daemon may exit. */
size_t engine_busy(const struct engine *engine);
/* Attempts running now. */
size_t engine_running(const struct engine *engine);

/* by: who said so, for the cause: "uid 1000". Codes: not-found, no-space. */
void engine_cancel(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);

/* No attempt of the run is started; what runs ends by itself. A queued run stays in the queue and
 * is passed over. A held one stays held, and a decision starts no attempt: rework and the next task
 * wait in the queue, approve commits. Codes: not-found, no-space, wrong-state (paused already,
 * over). Undone by engine_unpause(), which undoes nothing else. */
void engine_pause(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);
void engine_unpause(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);

#endif
