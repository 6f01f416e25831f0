/* SPDX-License-Identifier: MIT */
/* What a submitted run needs from the disk, and whether it is possible. */
#ifndef JOB_INTAKE_H
#define JOB_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"
#include "model/job.h"
#include "task/task_op.h"

/* A submitted run. */
struct intake {
	/* in, borrowed from the pending submission */
	const char *workdir;
	enum source_kind source;
	const char *source_path;
	const char *task;
	size_t task_size;
	const char *task_blob;
	char *const *environment;
	bool check;			/* dry run: save nothing */
	const struct plan *plan;
	const struct plan *review_plan;	/* see review_basis_plan(); NULL: no reviews */
	struct plan task_plan;		/* owned: review_plan, if it is a task's */
	int64_t owner;
	int64_t retry_of;		/* run that this one retries, ROW_NONE */
	bool new_judge;			/* ... without keeping its judge */
	const struct judge_row *kept;	/* its judge, see struct review_basis */
	/* out, owned */
	/* 0 or a code of proto/error.h; then message, hint and field are set */
	int code;
	char *message, *hint;
	const char *field;
	char *workspace, *subdir;
	char *evidence;			/* see run_row; NULL: no git */
	bool has_git;
	/* see git_dir_in_progress() */
	const char *in_progress, *finish;
	char *text;			/* the task, validated: UTF-8 without NUL */
	size_t text_size;
	char *environment_hash;		/* of <state>/env/<hash>, durable; NULL: none was sent */
	struct judge_row *judge;	/* without its run */
	char **warnings;		/* about it; NULL: none */
	/* of the reviewing program of profile "exit"; NULL: there is none */
	char *reviewer_sha256;
};

struct intake_job {
	struct job job;
	struct intake **items;		/* all waiting submits: their files are synced together */
	size_t count;
};

extern const struct job_type intake_type;

#endif
