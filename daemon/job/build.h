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

/* Prefix of the reason of a slot that waits for disk space. */
#define FLOOR_REASON "waiting for disk space: "

struct build_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	/* in, owned copies: rows may change while the worker reads */
	struct run_row run;
	struct slot_row slot;
	struct attempt_row attempt;
	struct task_row task;
	/* borrowed from the slot or its run; while a job is running, nothing of it changes but what
	 * run.change is for: limits and disk_floor are a copy */
	const struct plan *plan;
	struct clocks limits;
	int64_t disk_floor;
	struct briefing briefing;		/* owned */
	/* owned: tasks that the agent may pick, Markdown; NULL: it has a task */
	char *offer;
	bool shared_tree;		/* another slot writes to the same tree */
	/* instructions for a fixer, a reviewer's previous feedback, or a human's message; NULL:
	 * none */
	char *follow_up;
	const char *follow_up_from;	/* "review", "check", "git", "human"; static */
	int64_t follow_up_output;	/* attempt whose output follows follow_up, ROW_NONE */
	struct review_row *history;	/* owned copies: all reviews of the task so far */
	/* owned: for each the attempt that gave the reviewed answer; ROW_NONE: none, or the answer
	 * under review */
	int64_t *answers;
	char **answer_hashes;		/* owned: as in the rows of these */
	size_t nhistory;
	char *session;			/* conversation to resume, NULL: a new one */
	/* owned: REVIEW: why its answer in that conversation is malformed; NULL: it is not asked */
	char *asked;
	bool goes_on;			/* ... which has asked what the slot's reply answers */
	bool interrupted;		/* the previous attempt at the same work was interrupted */
	char *interruption;		/* owned: ... and why, NULL: unknown */
	/* whether the implementer's answer under review declares that no change is needed;
	 * ROW_NONE: it is a fixer's answer */
	int64_t says_no_change;
	char *findings;			/* JSON for RL_FINDINGS_FILE, NULL */
	char *dismissed;		/* owned: dismissed findings, Markdown; NULL: none */
	char *disputed;			/* owned: as in the prompt's parts; NULL: none */
	/* until the run ends because of max_wall, ROW_NONE: no limit */
	int64_t time_left_ms;
	/* out */
	struct launch *launch;		/* owned; NULL: see floor, reviewer_changed, error */
	/* REVIEW: what the prompt puts into the template, in whole. NULL: no verdict is compared */
	char *given;			/* owned */
	size_t given_size;
	/* REVIEW: what the prompt leaves out of the diff, as in the attempt's row. NULL: nothing */
	char *left_out;			/* owned */
	int64_t left_out_files, diff_bytes, diff_shown;
	/* owned: what it is given and what runs, as in the attempt's row */
	char *prompt_hash, *diff_hash, *task_hash, *given_hash, *program, *program_hash, *version;
	/* owned: too little free space to start anything, as a sentence; try again */
	char *floor;
	/* owned: the reviewing program is not that of the submit, as a sentence */
	char *reviewer_changed;
	char *error;
};

extern const struct job_type build_type;

#endif
