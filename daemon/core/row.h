/* SPDX-License-Identifier: MIT */
/* The rows of the database as C structs, and one description table per row type.
 *
 * A decision is a list of these rows. The store binds and reads them by the
 * description, the view installs them by the description, the RPC face prints
 * them by the description: a new column is one line here and one in sql/. */
#ifndef CORE_ROW_H
#define CORE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/state.h"

/* "No value" of a FIELD_INT: SQL NULL, JSON null. */
#define ROW_NONE INT64_MIN

enum row_kind {
	ROW_RUN,
	ROW_TASK,
	ROW_ITERATION,
	ROW_SLOT,
	ROW_ATTEMPT,
	ROW_STEP,
	ROW_REVIEW,
	ROW_FINDING,
	ROW_HOLD,
	ROW_HOOK,
	ROW_CLAIM,
	ROW_SALVAGE,
	ROW_GROUP,
	ROW_COOLDOWN,
	ROW_SPEND,
	ROW_EVENT,
	ROW_SETTING,
	ROW_KINDS
};

enum field_kind {
	FIELD_INT,	/* int64_t, ROW_NONE = NULL */
	FIELD_TIME,	/* int64_t milliseconds since the epoch, ROW_NONE = NULL; RFC
			 * 3339 in JSON */
	FIELD_REAL,	/* double, NaN = NULL */
	FIELD_TEXT,	/* char *, owned by the row, NULL = NULL */
	FIELD_JSON,	/* char * like FIELD_TEXT, holds a JSON document */
	FIELD_STATE	/* int (an enum of core/state.h), stored as its name; NULL
			 * when it has none */
};

struct field {
	const char *name;		/* column and bind parameter (":name") */
	enum field_kind kind;
	size_t offset;
	const struct state_names *names;	/* FIELD_STATE only */
	bool hidden;			/* from clients: internal, or documents show
					 * it in another form */
	bool flag;			/* FIELD_INT that is 1 or nothing: a boolean for clients */
	bool null;			/* clients may get null */
	const char *shown;		/* name for clients; NULL: the column's */
	const char *help;		/* for rpc.discover; NULL: it is in no result of its own */
};

static inline const char *field_shown(const struct field *field)
{
	return field->shown != NULL ? field->shown : field->name;
}

struct row_type {
	const char *name;		/* table; the statement that writes it is "<name>.put" */
	size_t size;
	const struct field *fields;
	size_t nfields;
};

struct run_row {
	int64_t id;
	int64_t owner;			/* uid that submitted */
	char *key;			/* idempotency key or NULL */
	char *body_hash;		/* SHA-256 of the compared submit body, for the key */
	char *workdir;			/* absolute, as submitted */
	char *workspace;		/* real path that is busy while the run works: repository
					 * top, else workdir */
	int64_t has_git;		/* 1: workspace is a git repository's top */
	char *subdir;			/* workdir relative to workspace, "": the same */
	char *source;			/* name of a row of sources[] in task/task_op.h */
	char *source_path;		/* beads: real path of the directory that holds .beads;
					 * stories, workflow: the file; NULL: none */
	char *project;			/* name of the project, where the source tells it; NULL */
	char *feature;			/* what the tasks are about as a whole, where the source
					 * describes it; cut like a part of a prompt; NULL */
	int state;			/* enum run_state */
	char *reason;			/* why it waits, NULL when it does not */
	int wait_kind;			/* enum wait_kind: of reason */
	char *cause;			/* why it ended, NULL before */
	int end_kind;			/* enum end_kind: of cause */
	int64_t priority;		/* higher goes first */
	char *group;			/* whose slots it uses */
	int64_t after_run;		/* run that it waits for, ROW_NONE */
	int64_t paused;			/* 1: paused by a user, until resume */
	int64_t next_at;		/* TIME of the next try, while it waits for one; ROW_NONE */
	int wait;			/* enum wait_kind, host or source: what holds up what the
					 * run does between its slots */
	char *wait_reason;		/* the same in words, NULL: nothing does */
	int64_t wait_since;		/* TIME since when, ROW_NONE: nothing does */
	int64_t wait_until;		/* TIME of the next try */
	int64_t iteration;		/* counter of the outer loop, 0 before the first */
	int64_t iterations;		/* limit, ROW_NONE: until no task remains */
	char *plan;			/* JSON: the resolved settings, see core/plan.h */
	char *environment;		/* SHA-256 naming <state>/env/<hash>; NULL: none was sent */
	char *base_tree;		/* tree id of the snapshot taken at start, as
					 * the disk has it */
	char *base_commit;		/* commit that work trees start from, and that a commit
					 * agent's commits are on; NULL: none was needed */
	char *result_branch;		/* integrate = "merge": short name of the branch that has
					 * everything; NULL */
	int64_t stopped;		/* 1: an agent gave a stop marker; 2: an iteration
					 * found nothing to do */
	char *result_ref;		/* refs/rl/<instance>/passed/<run>/<task> after a pass */
	char *result_tree;
	char *result_commit;		/* commit = "auto": the commit that holds the result */
	int64_t result_attempt;		/* whose answer is the accepted one, ROW_NONE before */
	int64_t review_count;		/* length of the review chain */
	char *review_head;		/* hash of the newest review row, NULL before the first */
	char *warnings;			/* JSON array of strings */
	char *known_issues;		/* JSON array of strings: findings left open under the
					 * policy */
	char *others;			/* JSON array of strings: paths in workspace where other
					 * runs kept their tasks while this one worked; NULL */
	char *instance;			/* eight hex digits in the names of its refs; NULL: of an
					 * earlier version, they have none */
	char *head;			/* HEAD of a shared work tree when the run began; NULL: no
					 * commit yet, or none was looked for */
	char *head_at;			/* the first line of its file HEAD then,
					 * "ref: refs/heads/main" or a commit; NULL:
					 * none was looked for */
	int64_t retry_of;		/* run that this one retries, ROW_NONE */
	int64_t created_at;
	int64_t started_at;
	int64_t ended_at;
};

struct task_row {
	int64_t run;
	char *id;			/* "t1" for a prompt */
	char *title;			/* first line, cut */
	char *text;			/* whole text; written once, NULL in rows
					 * read for the view */
	int64_t size;			/* bytes of text */
	int64_t position;		/* 1.. in the order in which they are offered */
	int64_t priority;		/* in the source's numbers, 0 first; ROW_NONE: none */
	char *status;			/* the source's own word, NULL */
	char *acceptance;		/* Markdown, NULL */
	char *depends_on;		/* JSON array of ids, NULL */
	char *plan;			/* JSON: settings of this task alone, as
					 * run.plan; NULL: the run's */
	int state;			/* enum task_state */
	char *reason;			/* why it ended so or is not for this run; NULL */
	int end_kind;			/* enum end_kind: of reason */
	int64_t disk_bytes;		/* of its work tree when it was last looked at, ROW_NONE */
	char *locked_ref;		/* a verdict passed it: pinned here, and no later attempt of
					 * the run may take the task */
	char *locked_tree;
};

struct iteration_row {
	int64_t run;
	int64_t number;
	int state;			/* enum iteration_state */
	int64_t started_at;
	int64_t ended_at;
};

struct slot_row {
	int64_t run;
	int64_t iteration;
	int64_t slot;			/* 1..N */
	int stage;			/* enum slot_stage: where the machine of
					 * core/slot.h stands */
	int leaving;			/* enum slot_leaving: of a slot that has come to its end */
	char *task;			/* NULL: none yet, the agent picks one, or none at all */
	char *worktree;			/* absolute path of its own work tree, NULL:
					 * the run's workspace */
	char *branch;			/* of the work tree, short name */
	char *base_commit;		/* that the branch was made at, or was moved
					 * to by a conflict */
	char *base_tree;		/* that tree as the disk had it; NULL: the run's */
	char *head;			/* HEAD of a shared work tree when the slot
					 * began, NULL: the run's */
	char *head_at;			/* as run.head_at, NULL: the run's */
	char *commit_id;		/* what the slot has committed, NULL */
	char *obstacle;			/* why git did not take the result: words of a hook, paths
					 * in conflict; for the fixer. NULL */
	int64_t round;			/* review number, 0 before the first */
	int64_t fix;			/* fix rounds used */
	int64_t fixes;			/* fix rounds allowed: max_fixes of the plan, and as many
					 * again for each rework */
	int64_t stalled;		/* stalled rounds in a row */
	int64_t attempt;		/* the attempt that stage waits for or waited
					 * for, ROW_NONE */
	int64_t answer;			/* attempt whose final text is the answer under
					 * review, ROW_NONE */
	char *answer_hash;		/* SHA-256 of that answer, for "no progress" */
	char *tree;			/* tree id under review in this round */
	char *beside;			/* tree of the files that appeared during reviews and are no
					 * work, NULL: none */
	char *previous_tree;		/* tree and answer of the round before */
	char *previous_answer_hash;
	int64_t diff;			/* step whose stdout is the diff under review, ROW_NONE */
	int64_t check;			/* check under way, 1..; 0: none */
	int64_t failed_check;		/* attempt whose output is the feedback of the fix
					 * under way, ROW_NONE */
	int64_t item;			/* fixer per_finding: number of the finding that is
					 * being fixed; 0: none */
	char *message;			/* what a human asked for with rework, until a reviewer or a
					 * check has had the next word */
	int64_t interrupted;		/* attempts lost in a row: above 0, the next one is told
					 * that its predecessor was interrupted */
	int64_t retries;		/* tries in a row that a service did not serve: the next
					 * waits longer, and there is a last one */
	int64_t retry_at;		/* TIME before which the next does not start; ROW_NONE */
	char *cooling;			/* account that its attempt waits for; NULL: none */
	int wait;			/* enum wait_kind, host or source: what holds the slot up */
	char *wait_reason;		/* the same in words, NULL: nothing does */
	int64_t wait_since;		/* TIME since when, also while it is tried again;
					 * ROW_NONE: nothing does */
	int64_t wait_until;		/* TIME of the next try */
	char *reason;			/* why it waits or was skipped */
	int wait_kind;			/* enum wait_kind: of reason */
	char *cause;			/* why it ended; while it works: why it is
					 * accepted already */
	int end_kind;			/* enum end_kind: of cause */
	int accepted;			/* enum accepted: who accepted the work that no verdict has
					 * passed, also while its commit is under way or held */
};

struct attempt_row {
	int64_t id;
	int64_t run;
	int64_t number;			/* 1.. within the run: the 3 of "42/3" */
	int64_t iteration;
	int64_t slot;
	char *task;
	int role;			/* enum role */
	int64_t round;			/* review round, fix round; 0 for implement */
	char *agent;
	char *model;			/* NULL: the agent's own default */
	char *uuid;			/* RL_ATTEMPT_UUID, marks every process of the tree */
	char *boot_id;			/* boot in which it was to start */
	int state;			/* enum attempt_state */
	int64_t exit_code;		/* ROW_NONE unless it exited by code */
	int64_t signal;			/* ROW_NONE unless it died by signal */
	char *cause;
	int end_kind;			/* enum end_kind: of cause */
	int process;			/* enum process_result */
	int provider;			/* enum provider_result */
	int outcome;			/* enum task_result */
	int64_t tokens_input;
	int64_t tokens_cached;
	int64_t tokens_cache_write;
	int64_t tokens_output;
	int64_t tokens_reasoning;
	double cost_usd;		/* NaN: not given */
	char *account;			/* that pays; NULL: a check */
	double reserved_usd;		/* set aside for it while it has not ended, of a run with a
					 * budget; NaN: nothing */
	int64_t reserved_tokens;	/* the same, ROW_NONE: nothing */
	int64_t resumes;		/* attempt whose conversation it goes on with;
					 * ROW_NONE: a new one */
	int64_t denials, tool_errors;	/* tool uses that were refused for want of permission, and
					 * that went wrong; ROW_NONE: not known */
	int64_t says_no_change;		/* IMPLEMENT: 1: its answer says that nothing
					 * is to be changed */
	char *sandbox;			/* what confined it: "landlock 6", "none"; NULL:
					 * nothing was asked for */
	char *session;			/* conversation id, NULL: none */
	char *answer_hash;		/* SHA-256 of the final text file "answer",
					 * NULL: no final text */
	int64_t bytes;			/* stdout + stderr as the agent wrote them */
	int64_t started_at;
	int64_t ended_at;
};

struct step_row {
	int64_t id;			/* shares the attempts' counter */
	int64_t run;
	int64_t iteration;		/* of the slot */
	int64_t slot;			/* ROW_NONE: of the run itself */
	char *name;			/* "snapshot: ls-files" */
	char *uuid;
	char *boot_id;
	int state;			/* enum attempt_state */
	int64_t exit_code;
	int64_t signal;
	char *cause;
	int64_t started_at;
	int64_t ended_at;
};

struct review_row {
	int64_t run;
	int64_t number;			/* 1.. within the run, no gaps */
	char *task_id;
	char *reviewer_agent;
	char *coder_agent;
	int64_t iteration;		/* the round, in the words of requirement 001; of a human
					 * the number behind them */
	char *decision;			/* in the profile's words; "violation", "error"
					 * when there was none */
	char *feedback;			/* follow-up, or the reason of a violation */
	char *quality_checks;		/* JSON or NULL */
	char *source;			/* "text", "file", "exit", "human" or NULL: where the
					 * verdict was read */
	int64_t attempt;		/* whose output holds the raw text */
	char *tree;			/* tree under review */
	char *findings;			/* JSON array of the finding ids, in order:
					 * part of the hash */
	int64_t timestamp;
	char *previous_hash;		/* NULL for number 1 */
	char *hash;			/* see core/chain.h */
};

struct finding_row {
	int64_t run;
	int64_t review;			/* review number */
	int64_t number;			/* 1.. within the review */
	char *id;			/* stable id, see core/findings.h */
	char *file;
	int64_t line;
	char *severity;
	char *text;
	int state;			/* enum finding_state */
};

/* An item in the human decision queue. */
struct hold_row {
	int64_t id;
	int64_t run;
	char *task;
	int64_t iteration;
	int64_t slot;
	int kind;			/* enum hold_kind */
	char *reason;
	int64_t attempt;		/* the one that was lost or failed, the reviewer's else */
	int state;			/* enum hold_state */
	char *decided_by;		/* "human:<user>" */
	char *message;
	int64_t created_at;
	int64_t decided_at;
};

/* Whose a task of a shared source is: the key (source, task) is unique, so no two runs have it. */
struct claim_row {
	char *source;			/* "beads:<real path>" */
	char *task;
	int64_t run;
	int state;			/* enum claim_state */
	int64_t at;
};

/* What a work tree had when it was removed. */
struct salvage_row {
	int64_t id;			/* shares the attempts' counter */
	int64_t run;
	char *task;
	char *workspace;		/* repository that has it */
	char *ref;			/* refs/rl/<instance>/salvage/<run>/<task> */
	char *commit_id;
	char *path;			/* where the work tree was */
	int64_t created_at;
};

/* Live limits of a group of runs, over those of rld.toml. */
struct group_row {
	char *name;
	int64_t slots;			/* ROW_NONE: as rld.toml says */
	int64_t paused;			/* 1: its runs start nothing */
};

/* A provider account that is exhausted, or was. */
struct cooldown_row {
	char *account;
	int kind;			/* enum cooldown_kind */
	int64_t until;			/* in force before this TIME */
	char *reason;			/* the service's or the operator's own words, NULL */
	int64_t attempt;		/* that was told so, ROW_NONE */
	char *set_by;			/* "human:<user>"; NULL: the daemon */
	int64_t created_at;
};

/* What an account has paid for on one day. */
struct spend_row {
	char *account;
	int64_t day;			/* of UTC, counted from 1970-01-01: that on which
					 * the attempts ended */
	int64_t attempts;
	double cost_usd;
	int64_t tokens, wall_ms;
};

/* A command of [hook] that is to be run for a hold or an end, at least once. */
struct hook_row {
	int64_t id;			/* shares the attempts' counter */
	int64_t run;
	char *name;			/* "on_hold", "on_end" */
	char *command;			/* JSON array: argv */
	char *environment;		/* JSON object: the RL_* variables that tell
					 * what happened */
	char *uuid;
	char *boot_id;
	int state;			/* enum attempt_state */
	int64_t exit_code;
	int64_t signal;
	char *cause;
	int64_t started_at;
	int64_t ended_at;
};

struct event_row {
	int64_t seq;			/* assigned by the store inside the transaction: gapless */
	int64_t time;
	char *type;			/* "run.state": see docs/protocol.md */
	int64_t run;			/* ROW_NONE: of the daemon */
	char *body;			/* JSON object: the fields beside seq, time, type, run */
};

struct setting_row {
	char *name;
	char *value;
};

extern const struct row_type row_types[ROW_KINDS];

/* A zeroed row with every FIELD_INT and FIELD_TIME = ROW_NONE and every FIELD_REAL = NaN. Caller
 * frees with row_free(). */
void *row_new(enum row_kind kind);

/* The same for a row embedded in another struct. */
void row_init(enum row_kind kind, void *row);

/* Deep copy; the caller owns it. */
void *row_copy(enum row_kind kind, const void *row);

/* The first field in which two rows differ, NULL: they are equal. */
const struct field *row_difference(enum row_kind kind, const void *a, const void *b);

/* Whether every field says the same. */
bool row_equal(enum row_kind kind, const void *a, const void *b);

/* Make *dst a deep copy of *src; what dst held is freed. Both must be initialised. */
void row_assign(enum row_kind kind, void *dst, const void *src);

/* Free what the row owns, leave the struct itself zeroed. */
void row_release(enum row_kind kind, void *row);

/* row_release() and free. NULL is allowed. */
/* Who owns a row frees it, also one that it may only read. */
void row_free(enum row_kind kind, const void *row);

#endif
