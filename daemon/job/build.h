/* SPDX-License-Identifier: MIT */
/* Prompt, environment and argv of an attempt. */
#ifndef JOB_BUILD_H
#define JOB_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"
#include "model/briefing.h"
#include "model/job.h"
#include "model/slot_key.h"
#include "proc/launch.h"

/* How the reason of a slot begins that waits for disk space. */
#define FLOOR_REASON "waiting for disk space: "

struct build_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	/* in, owned copies: rows change while the worker reads */
	struct run_row run;
	struct slot_row slot;
	struct attempt_row attempt;
	struct task_row task;
	const struct plan *plan;	/* borrowed from the slot or its run: it never changes while
					 * a job is under way */
	struct briefing briefing;		/* owned */
	char *offer;			/* owned: tasks that the agent may pick, Markdown;
					 * NULL: it has one */
	bool shared_tree;		/* another slot writes the same tree */
	char *follow_up;		/* what a fixer is asked for, a reviewer's previous
					 * feedback, a human's words; NULL: nothing */
	const char *follow_up_from;	/* "review", "check", "git", "human"; static */
	int64_t follow_up_output;	/* attempt whose output stands behind follow_up, ROW_NONE */
	struct review_row *history;	/* owned copies: all reviews of the task so far */
	int64_t *answers;		/* owned: for each the attempt whose answer it was about;
					 * ROW_NONE: none, or the answer under review */
	size_t nhistory;
	char *session;			/* conversation that goes on, NULL: a new one */
	bool interrupted;		/* the attempt before this one was cut off in
					 * the same work */
	char *interruption;		/* owned: ... why, NULL: nobody knows */
	int64_t says_no_change;		/* whether the implementer's answer under review says that
					 * nothing is to be changed; ROW_NONE: it is a fixer's */
	char *findings;			/* JSON for RL_FINDINGS_FILE, NULL */
	int64_t time_left_ms;		/* until the run ends at its max_wall,
					 * ROW_NONE: it has none */
	/* out */
	struct launch *launch;		/* owned; NULL: error or floor says why */
	char *floor;			/* owned: there is too little free space to start anything,
					 * in words; ask again */
	char *error;
};

extern const struct job_type build_type;

#endif
