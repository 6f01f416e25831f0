/* SPDX-License-Identifier: MIT */
/* A submitted run until it is recorded. */
#ifndef RUN_SUBMISSION_H
#define RUN_SUBMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/plan.h"
#include "core/row.h"
#include "model/reply.h"
#include "model/view.h"
#include "task/task_op.h"

struct engine;

/* A run to be submitted. engine_submit() copies everything but the plan, of which it takes
 * ownership. */
struct submission {
	int64_t owner;			/* uid */
	const char *workdir;		/* absolute */
	enum source_kind source;
	const char *source_path;	/* see struct run_row; NULL: none */
	const struct task_list *tasks;	/* stories, workflow: the tasks read; otherwise NULL */
	/* workflow: resolved settings of each task, an entry NULL: the run's; NULL: the
	 * run's for all tasks */
	char *const *task_plans;
	const char *group;		/* NULL: "default" */
	/* run that must succeed first; ROW_NONE: none. The caller checks that an ended one has
	 * succeeded */
	int64_t after;
	const char *task;		/* PROMPT: text, NULL when task_blob is given */
	size_t task_size;
	const char *task_blob;		/* name of an uploaded blob */
	char *const *environment;	/* NULL-terminated "K=V" as captured by the
					 * client; NULL: none */
	/* idempotency key, unique among runs and submits in progress, which the caller checks;
	 * NULL: none */
	const char *key;
	const char *body_hash;		/* stored with it */
	int64_t priority;
	const char *warnings;		/* JSON list of initial warnings; NULL: none */
	/* the resolved settings; zeroed if ownership was taken, released by the caller in any
	 * case */
	struct plan *plan;
	bool check;			/* validate only */
};

void engine_submit(struct engine *engine, const struct submission *s, engine_reply_cb *cb, void *arg);

/* A submit until its commit. */
struct pending_submit {
	TAILQ_ENTRY(pending_submit) entry;
	struct engine *engine;
	int64_t owner;
	char *workdir, *task, *task_blob, *key, *body_hash;
	enum source_kind source;
	char *source_path, *group, *project, *feature;
	char *warnings;			/* JSON, for the run; NULL: none */
	int64_t after;
	bool after_unfinished;		/* that run was unfinished at the time of the submit */
	struct task_row **tasks;	/* of stories and workflows, with their texts; owned */
	size_t ntasks;
	size_t read;			/* retry: number of tasks whose text was read */
	size_t task_size;
	char **environment;
	char *environment_hash;		/* after the intake, or inherited by a retry */
	int64_t priority;
	struct plan plan;
	bool check;
	int64_t retry_of;		/* ROW_NONE */
	struct judge_row *kept;		/* judge of the retried run, NULL */
	char *kept_hash;		/* its hash in the row of that run, NULL */
	bool new_judge, kept_is_read;
	/* a retry: reviews and findings of the old run that become the first ones of this; NULL */
	struct run_rows *taken_over;
	/* numbers and chains them for the new run, row; NULL: there are none */
	void (*numbers)(struct pending_submit *p);
	char *start;			/* see struct run_row */
	char *dismissed, *disputed;	/* likewise */
	int64_t id;			/* once decided */
	/* as being recorded, owned; with a cause: to be cancelled. NULL before */
	struct run_row *row;
	struct judge_row *judge;	/* likewise */
	engine_reply_cb *cb;
	void *arg;
};

/* Pass all waiting submits to a worker; file_queue_done() is called when they are decided. */
void submit_intake(struct engine *engine);
void submit_refused(struct pending_submit *p, int code, const char *message, const char *hint, const char *field);

/* ---- for retry_submit.c ---- */

struct pending_submit *pending_submit_new(struct engine *engine, int64_t owner, bool check,
    engine_reply_cb *cb, void *arg);
void pending_submit_free(struct pending_submit *p);
/* It waits for its intake. */
void pending_submit_enqueue(struct pending_submit *p);
/* Answer with a refusal. */
void pending_submit_refuse(engine_reply_cb *cb, void *arg, int code, const char *message, const char *hint);
/* The same, if the engine takes no submits now. False: it does. */
bool pending_submit_refuse_state(struct engine *engine, engine_reply_cb *cb, void *arg);

#endif
