/* SPDX-License-Identifier: MIT */
/* The engine as a struct, shared by its rooms. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "core/schedule.h"
#include "model/job.h"
#include "model/ports.h"
#include "model/reply.h"
#include "model/view.h"

struct accounts;
struct claims;
struct effect;
struct environment;
struct evidence_read;
struct txn_calls;
struct file_job;
struct groups;
struct hook;
struct operation_calls;
struct pending_submit;
struct run;
struct text_read;
struct judge_read;

#define HOST_LOOK_MS 1000	/* until a job that a fault of the host prevented is tried again */

struct engine {
	struct ports ports;
	const struct txn_calls *calls;
	const struct stage *const *stages;	/* SLOT_STAGES of them: slot/stages.h */
	const struct operation_calls *operation;
	char *state_dir, *config_dir, *instance, *socket, *shim, *rl_git;
	engine_committed_cb *committed;
	void *arg;
	int64_t parallel;
	bool draining, full, stopped, recovering;
	struct view *view;
	LIST_HEAD(, run) runs;		/* unfinished, newest first */
	RB_HEAD(run_tree, run) runs_by_id;
	RB_HEAD(run_after_tree, run) runs_by_after;	/* those with an after_run */
	/* those of them that have started, the last one first: no other run has slots, attempts,
	 * or an activity. The queue may be a thousand times as long */
	LIST_HEAD(, run) begun;
	RB_HEAD(environment_tree, environment) environments;	/* see environments.h */
	LIST_HEAD(, hook) hooks;	/* unfinished */
	LIST_HEAD(, text_read) text_reads;	/* in progress, see text_read.c */
	LIST_HEAD(, judge_read) judge_reads;	/* likewise, see judge_read.c */
	LIST_HEAD(, evidence_read) evidence_reads;	/* likewise, see evidence_read.c */
	int64_t last_run, last_attempt, last_hold;
	struct schedule *schedule;
	struct claims *claims;
	struct groups *groups;
	struct accounts *accounts;
	size_t commits;			/* transactions in progress */
	size_t adopting;		/* found() reports that are still due */
	struct effect *deferred;	/* effects that wait for the end of recovery,
					 * see effects.c */
	size_t ndeferred;
	/* see file_queue.c */
	void (*intake)(struct engine *engine);	/* starts the intake of submits */
	TAILQ_HEAD(, pending_submit) reading;	/* retries waiting for the text of their task */
	TAILQ_HEAD(, pending_submit) submits;	/* waiting for intake */
	TAILQ_HEAD(, pending_submit) deciding;	/* in intake or being committed */
	TAILQ_HEAD(, file_job) file_queue;
	bool file_queue_busy;
	struct node_fault *node_faults;	/* see sched/launcher_slots.c */
	size_t nnode_faults;
	/* runs that prune has marked since the start, or is about to mark: rows that were read
	 * before do not say it. See engine/needs.h */
	int64_t *pruned;
	size_t npruned;
};

bool engine_is_pruned(const struct engine *engine, int64_t run);

struct slot *engine_slot_of(struct engine *engine, int64_t id);
int64_t engine_now(struct engine *engine);
/* Start a job, with the engine's directories filled in. */
void engine_job(struct engine *engine, struct job *job, const struct job_type *type,
    void (*done)(void *arg, struct job *job), void *arg);
/* The same, ms from now. */
void engine_job_later(struct engine *engine, int64_t ms, struct job *job, const struct job_type *type,
    void (*done)(void *arg, struct job *job), void *arg);
/* Call due at wake.at, with the engine as arg, unless the engine has stopped by then. */
void engine_wake(struct engine *engine, struct wake wake, wake_due_cb *due);

#endif
