/* SPDX-License-Identifier: MIT */
/* File work: everything of the engine that reads or writes files, as values that travel to a worker thread and back.
 * The engine fills the input, work_run() the output; the simulation fills the output itself. */
#ifndef ENGINE_WORK_H
#define ENGINE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "core/plan.h"
#include "core/row.h"
#include "git/op.h"
#include "proc/launch.h"
#include "verdict/verdict.h"

enum work_kind {
	WORK_INTAKE,	/* is a submitted run possible, and what does it need from the disk */
	WORK_OPEN,	/* make the run's directory: task file, reviewer's prompt */
	WORK_GIT,	/* read the last step's output, name the next step */
	WORK_COMPOSE,	/* prompt, environment and argv of an attempt */
	WORK_COLLECT,	/* what an ended attempt said */
	WORK_JUDGE,	/* the verdict in a review attempt's answer */
	WORK_FORGET	/* remove what only an unfinished run needs */
};

/* Head of every kind; the kind decides which struct it is. */
struct work {
	enum work_kind kind;
	const char *state_dir;		/* borrowed from the engine */
	const char *config_dir;		/* NULL: none */
};

/* One submitted run. */
struct intake {
	/* in, borrowed from the pending submission */
	const char *workdir;
	const char *task;
	size_t task_size;
	const char *task_blob;
	char *const *environment;
	const struct plan *plan;
	int64_t owner;
	/* out, owned */
	int code;			/* 0 or a code of proto/error.h, then message, hint and field are set */
	char *message, *hint;
	const char *field;
	char *workspace;
	bool has_git;
	char *text;			/* the task, checked: UTF-8 without NUL */
	size_t text_size;
	char *environment_hash;		/* of <state>/env/<hash>, durable; NULL: none was sent */
};

struct intake_work {
	struct work work;
	struct intake **items;		/* all submits that waited: their files are made durable together */
	size_t count;
};

struct open_work {
	struct work work;
	int64_t run;
	const char *workspace;
	const char *reviewer_prompt;	/* path or NULL */
	char *text;			/* owned: the task */
	size_t text_size;
	char *error;			/* out: NULL when it is done */
};

struct git_work {
	struct work work;
	struct git_op *op;		/* borrowed from the lane */
	char *environment;		/* owned: the run's environment hash, NULL */
	char *scratch, *aside;		/* owned: directories that the first call makes; aside may be NULL */
	int64_t step;			/* whose output is to be read; ROW_NONE: first call */
	bool ok;
	enum git_next next;		/* out */
	struct git_step out;		/* valid for GIT_NEXT_STEP while the op is */
	char **env;			/* out, owned: the step's whole environment */
	char *error;			/* out, owned: something but git failed; counts as GIT_NEXT_FAILED */
};

struct compose_work {
	struct work work;
	/* in, owned copies: rows change while the worker reads */
	struct run_row run;
	struct slot_row slot;
	struct attempt_row attempt;
	struct task_row task;
	const struct plan *plan;	/* borrowed: a run's plan never changes */
	char *follow_up;		/* feedback of the previous review, NULL */
	char *findings;			/* JSON for RL_FINDINGS_FILE, NULL */
	/* out */
	struct launch *launch;		/* owned; NULL: error says why */
	char *error;
};

struct collect_work {
	struct work work;
	int64_t attempt;
	enum reader_kind reader;
	uint64_t stdout_bytes, stderr_bytes;	/* that the exit record speaks of, 0: nothing is known */
	struct agent_result result;	/* out, owned */
	char *answer_hash;		/* out, owned: SHA-256 of the answer file; NULL: no final text */
	char *last_words;		/* out, owned: last line on stderr, for failures that the reader cannot explain; NULL: none */
	bool full;			/* out: no space for the answer file; nothing is lost, ask again */
	char *error;			/* out, owned: the output could not be read or the answer not be kept */
};

struct judge_work {
	struct work work;
	int64_t attempt;
	enum carrier carrier;
	struct verdict verdict;		/* out, owned */
	char *error;			/* out, owned: the answer could not be read, so there is no verdict to speak of */
};

struct forget_work {
	struct work work;
	int64_t run;			/* ended: its scratch directory; ROW_NONE: none */
	char *environment;		/* owned: hash that no unfinished run uses any more, NULL */
	char *blob;			/* owned: "<uid>-<name>" of a blob that has become a run's task, NULL */
	char **keep;			/* owned: every environment but these is of no unfinished run; NULL: no sweep */
};

/* Do it. Blocking; touches nothing but files and the work itself. */
void work_run(struct work *work);

/* Free the work, its inputs that it owns, and its outputs that were not taken. */
void work_free(struct work *work);

/* Paths, malloc'd. */
char *work_attempt_dir(const char *state_dir, int64_t id);
char *work_run_dir(const char *state_dir, int64_t run);

/* One per kind. */
void intake_run(struct intake_work *work);
void open_run(struct open_work *work);
void git_run(struct git_work *work);
void compose_run(struct compose_work *work);
void collect_run(struct collect_work *work);
void judge_run(struct judge_work *work);
void forget_run(struct forget_work *work);

/* The submitter's environment as kept in <state>/env/<hash>, filtered for an agent (NULL: for git steps): names of the
 * allowlist and of agent->env. hash NULL: the daemon's own environment, filtered the same. New NULL-terminated list. */
char **environment_load(const char *state_dir, const char *hash, const struct agent_plan *agent, char **error);

/* Set K=V in a list, replacing an earlier K. */
void environment_set(char ***list, const char *name, const char *value);
/* The same for each "K=V" of pairs, which may be NULL. */
void environment_set_all(char ***list, const char *const *pairs);

#endif
