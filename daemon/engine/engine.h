/* SPDX-License-Identifier: MIT */
/* Applies decisions: decide, record, commit, act, report. The interface used by rpc and main.c. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "model/ports.h"
#include "model/reply.h"
#include "model/view.h"
#include "run/file_queue.h"
#include "run/finding_dismissal.h"
#include "run/hold_decision.h"
#include "run/retry_submit.h"
#include "run/run_change.h"
#include "run/submission.h"
#include "sched/accounts.h"
#include "sched/launcher_slots.h"
#include "sched/groups.h"

struct engine;

struct engine_options {
	const char *state_dir;		/* absolute: contains attempts/, runs/, env/, blobs/ */
	/* templates are searched in <config>/prompts/; NULL: none */
	const char *config_dir;
	const char *instance;		/* eight hex digits, part of ref names */
	const char *socket;		/* path of the socket for agents and hooks; NULL: none */
	const char *shim;		/* path of rl-shim, also where agents are placed */
	const char *rl_git;		/* path of the program that runs operations */
	int64_t parallel;		/* number of permits */
};

struct engine *engine_new(const struct ports *ports, const struct engine_options *options,
    engine_committed_cb *committed, void *arg);
/* Start nothing more; answer waiting submits with "unavailable". Reports and commits that still
 * arrive are recorded for the next daemon. Then close the store, which reports what was being
 * committed, then free. */
void engine_stop(struct engine *engine);
void engine_free(struct engine *engine);

/* At start, in this order: the highest ids ever used, every row of every unfinished run, then
 * recover, which inspects each unfinished attempt before any effect is carried out. */
void engine_load_counters(struct engine *engine, int64_t last_run, int64_t last_attempt, int64_t last_hold);
/* takes ownership of row */
void engine_load_row(struct engine *engine, enum row_kind kind, void *row);
void engine_recover(struct engine *engine);

/* Reports of the proc port, with the engine as arg. */
extern const struct proc_sink engine_proc_sink;

const struct view *engine_view(const struct engine *engine);

/* The plan of an unfinished run, NULL for others; valid until the run is removed. */
const struct plan *engine_plan(struct engine *engine, int64_t run);

/* Why a queued run waits at this moment: its row has what was told last. *text: malloc'd, NULL: it
 * only waits for its turn. False: the run is not queued. */
bool engine_reason(struct engine *engine, int64_t run, enum wait_kind *kind, char **text);

/* True while recording is stopped for lack of space: changing requests are refused. Set by
 * main.c. */
void engine_set_full(struct engine *engine, bool full);
void engine_set_parallel(struct engine *engine, int64_t parallel);
/* Start no new run, refuse submits. */
void engine_drain(struct engine *engine);
bool engine_draining(const struct engine *engine);
/* Number of running runs, submits, commits, hooks, logs and reports in progress: at 0 a drained
 * daemon may exit. */
size_t engine_busy(const struct engine *engine);
/* Number of running attempts. */
size_t engine_running(const struct engine *engine);

/* by: the user, for the cause: "uid 1000". Codes: not-found, no-space. */
void engine_cancel(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);

/* Start no attempt of the run; running ones finish. A queued run stays in the queue and is skipped.
 * A held one stays held, and a decision starts no attempt: rework and the next task wait in the
 * queue, approve commits. Codes: not-found, no-space, wrong-state (paused already, over).
 * engine_unpause() undoes this, and nothing else. */
void engine_pause(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);
void engine_unpause(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);

#endif
