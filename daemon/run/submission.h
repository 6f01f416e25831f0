/* SPDX-License-Identifier: MIT */
/* A submitted run on its way to the disk. */
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

/* A run to be. engine_submit() copies all but the plan, which it takes over. */
struct submission {
	int64_t owner;			/* uid */
	const char *workdir;		/* absolute */
	enum source_kind source;
	const char *source_path;	/* see struct run_row; NULL: none */
	const struct task_list *tasks;	/* stories, workflow: what was read; NULL else */
	char *const *task_plans;	/* workflow: the resolved settings of each of tasks, NULL
					 * where the run's hold; NULL: of none */
	const char *group;		/* NULL: "default" */
	int64_t after;			/* run that it comes after; ROW_NONE: none. One that has
					 * ended must have succeeded: the caller sees to it */
	const char *task;		/* PROMPT: text, NULL when task_blob is given */
	size_t task_size;
	const char *task_blob;		/* name of an uploaded blob */
	char *const *environment;	/* NULL-terminated "K=V" as captured by the
					 * client; NULL: none */
	const char *key;		/* idempotency key, which no run and no submit under way
					 * has: the caller sees to it; NULL: none */
	const char *body_hash;		/* kept with it */
	int64_t priority;
	const char *warnings;		/* JSON list of sentences that the run begins
					 * with; NULL: none */
	struct plan *plan;		/* the resolved settings; left zero where they were taken,
					 * and the caller's to release either way */
	bool check;			/* validate only */
};

void engine_submit(struct engine *engine, const struct submission *s, engine_reply_cb *cb, void *arg);

/* A new run of the tasks that did not pass, with the plan of the old one. rows: the old run, from
 * the view or read from the store; copied. A held run is cancelled in the same decision, since
 * the new one needs its workdir. environment: sent anew by the client, because the file of an
 * ended run is gone. */
void engine_retry(struct engine *engine, const struct run_rows *rows, int64_t owner,
    char *const *environment, bool check, engine_reply_cb *cb, void *arg);

/* A submit on its way to the commit. */
struct pending_submit {
	TAILQ_ENTRY(pending_submit) entry;
	struct engine *engine;
	int64_t owner;
	char *workdir, *task, *task_blob, *key, *body_hash;
	enum source_kind source;
	char *source_path, *group, *project, *feature;
	char *warnings;			/* JSON, as the run's will be; NULL: none */
	int64_t after;
	bool after_unfinished;		/* ... when it was submitted */
	struct task_row **tasks;	/* of stories and workflows, with their texts; as they
					 * will be put; owned */
	size_t ntasks;
	size_t read;			/* retry: tasks whose text has been read */
	size_t task_size;
	char **environment;
	char *environment_hash;		/* after the intake, or inherited by a retry */
	int64_t priority;
	struct plan plan;
	bool check;
	int64_t retry_of;		/* ROW_NONE */
	struct run_rows *retried;	/* copy of what retry needs of the old run, NULL */
	int64_t id;			/* once decided */
	struct run_row *row;		/* as it is being recorded, owned; with a cause: it is to be
					 * cancelled. NULL until then */
	engine_reply_cb *cb;
	void *arg;
};

/* Hands all submits that wait to a worker; file_queue_done() when they are decided. */
void submit_intake(struct engine *engine);
void submit_refused(struct pending_submit *p, int code, const char *message, const char *hint, const char *field);

#endif
