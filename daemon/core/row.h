/* SPDX-License-Identifier: MIT */
/* Database rows as C structs, with one description table per row type.
 *
 * A decision is a list of these rows. The store binds and reads them, the view installs them and
 * the RPC room prints them by the description: a new column is one line here and one in sql/. */
#ifndef CORE_ROW_H
#define CORE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record_rows.h"
#include "core/state.h"

/* "No value" of a FIELD_INT: SQL NULL, JSON null. */
#define ROW_NONE INT64_MIN

enum row_kind {
	ROW_RUN,
	ROW_TASK,
	ROW_JUDGE,
	ROW_ITERATION,
	ROW_SLOT,
	ROW_ATTEMPT,
	ROW_STEP,
	ROW_REVIEW,
	ROW_FINDING,
	ROW_PRODUCT,
	ROW_EVIDENCE,
	ROW_ENTRY,
	ROW_PRUNED,
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
	FIELD_STATE	/* int (an enum of core/state.h), stored as its name; NULL if it has none */
};

struct field {
	const char *name;		/* column and bind parameter (":name") */
	enum field_kind kind;
	size_t offset;
	const struct state_names *names;	/* FIELD_STATE only */
	/* not shown to clients: internal, or shown in another form */
	bool hidden;
	/* FIELD_JSON that many rows have in common: its column has the hash, see
	 * store/shared_text.h */
	bool shared;
	bool flag;			/* FIELD_INT that is 1 or null: a boolean for clients */
	bool null;			/* null is possible for clients */
	const char *json;		/* FIELD_JSON: its type for clients, as in rpc/result.h */
	const char *shown;		/* name for clients; NULL: the column's name */
	const char *help;		/* for rpc.discover; NULL: not part of a result */
};

static inline const char *field_shown(const struct field *field)
{
	return field->shown != NULL ? field->shown : field->name;
}

struct row_type {
	const char *name;		/* table; the statement "<name>.put" writes it */
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
	/* real path occupied while the run works: top of the repository, else workdir */
	char *workspace;
	int64_t has_git;		/* 1: workspace is a git repository's top */
	char *subdir;			/* workdir relative to workspace, "": the same */
	char *source;			/* name of a row of sources[] in task/task_op.h */
	/* beads: real path of the directory that contains .beads; stories, workflow: the file;
	 * NULL: none */
	char *source_path;
	char *project;			/* name of the project, if the source has one; NULL */
	/* description of the project, if the source has one; cut like a part of a prompt; NULL */
	char *feature;
	int state;			/* enum run_state */
	char *reason;			/* why it waits, NULL if it does not */
	int wait_kind;			/* enum wait_kind: of reason */
	char *cause;			/* why it ended, NULL before */
	int end_kind;			/* enum end_kind: of cause */
	int64_t priority;		/* higher starts first */
	char *group;			/* group whose slots it uses */
	int64_t after_run;		/* run that must succeed first, ROW_NONE */
	int64_t paused;			/* 1: paused by a user, until resume */
	int64_t next_at;		/* TIME of the next try while it waits for one; ROW_NONE */
	/* enum wait_kind, host or source: what delays the work of the run between its slots */
	int wait;
	char *wait_reason;		/* the reason of wait as a sentence, NULL: nothing */
	int64_t wait_since;		/* TIME since when, ROW_NONE: nothing */
	int64_t wait_until;		/* TIME of the next try */
	int64_t iteration;		/* counter of the outer loop, 0 before the first */
	int64_t iterations;		/* maximum, ROW_NONE: until no task remains */
	char *plan;			/* JSON: the resolved settings, see core/plan.h */
	char *environment;		/* SHA-256 naming <state>/env/<hash>; NULL: none was sent */
	/* tree id of the snapshot taken at start, with file contents as on disk */
	char *base_tree;
	/* commit that work trees start from and that a commit agent builds on; NULL: none needed */
	char *base_commit;
	/* integrate = "merge": short name of the branch with all results; NULL */
	char *result_branch;
	int64_t stopped;		/* 1: an agent gave a stop marker; 2: an iteration
					 * found nothing to do */
	/* refs/rl/<instance>/passed/<run>/<task> after a pass; integrate = "merge": refs/heads/ and
	 * result_branch after the first merge */
	char *result_ref;
	char *result_tree;
	char *result_commit;		/* commit = "auto": the commit that holds the result */
	int64_t result_attempt;		/* attempt with the accepted answer, ROW_NONE before */
	int64_t review_count;		/* length of the review chain */
	char *review_head;		/* hash of the newest review row, NULL before the first */
	/* length of the chain of its products, and the hash of the newest; ROW_NONE: the run began
	 * with an earlier version, and keeps no products and no evidence */
	int64_t product_count;
	char *product_head;
	int64_t evidence_count;		/* likewise of its evidence */
	char *evidence_head;
	/* likewise of the entries of its record; ROW_NONE: it began with a version without them */
	int64_t entry_count;
	char *entry_head;
	char *warnings;			/* JSON array of strings */
	int64_t warned;			/* set of enum warning_kind that are among them */
	char *known_issues;		/* JSON array of strings: findings left open under the
					 * policy */
	/* JSON array of strings: paths in workspace where other runs kept their tasks during this
	 * one; NULL */
	char *others;
	/* eight hex digits in the names of its refs; NULL: a run of an earlier version, whose refs
	 * have none */
	char *instance;
	/* HEAD of a shared work tree when the run began; NULL: no commit yet, or not read */
	char *head;
	/* first line of its HEAD file then, "ref: refs/heads/main" or a commit; NULL: not read */
	char *head_at;
	/* names the evidence repository, <state>/evidence/<id>.git; NULL: no git, or a run of an
	 * earlier version, whose trees are all in the user's repository */
	char *evidence;
	/* 1: the settings that its products go by were copied before its submit, because another
	 * run was at work in the repository then */
	int64_t settings_kept;
	int64_t retry_of;		/* run that this one retries, ROW_NONE */
	/* JSON: what it takes over of that run, see core/continuation.h; NULL: nothing */
	char *start;
	/* hash of its judge_row, see record_hash(); NULL: an earlier version has written that, or
	 * there is none */
	char *judge_hash;
	/* JSON array: findings that users dismissed, see core/dismissal.h; NULL: none */
	char *dismissed;
	char *labels;			/* JSON object of strings; NULL: none */
	/* JSON array: findings that fixers disputed, see core/dispute.h; NULL: none */
	char *disputed;
	int64_t created_at;
	int64_t started_at;
	int64_t ended_at;
	/* on the disk, of its directories; ROW_NONE: not measured */
	int64_t bytes;
	int64_t pruned_at;		/* since when they are gone; ROW_NONE: they are not */
};

struct task_row {
	int64_t run;
	char *id;			/* "t1" for a prompt */
	char *title;			/* first line, shortened */
	/* full text; written once, NULL in rows read for the view */
	char *text;
	int64_t size;			/* size of text in bytes */
	char *text_hash;		/* its SHA-256; NULL: an earlier version has written it */
	int64_t position;		/* 1.. in the order of the source */
	int64_t priority;		/* the source's priority, 0 first; ROW_NONE: none */
	char *status;			/* the source's own status word, NULL */
	char *acceptance;		/* Markdown, NULL */
	char *depends_on;		/* JSON array of ids, NULL */
	/* JSON: settings of this task, like run.plan; NULL: the run's */
	char *plan;
	int state;			/* enum task_state */
	char *reason;			/* why it ended this way or is not in this run; NULL */
	int end_kind;			/* enum end_kind: of reason */
	/* disk usage of its work tree when last checked, ROW_NONE */
	int64_t disk_bytes;
	/* ref of its passed result: no later attempt of the run may take the task */
	char *locked_ref;
	char *locked_tree;
	/* run whose work on it is continued, ROW_NONE; JSON: that work, see core/continuation.h;
	 * NULL: none */
	int64_t continues;
	char *start;
};

/* What judges a run, as it was at its submit, in no file that an agent can write. Written once; not
 * among the working rows, because of its size. */
struct judge_row {
	int64_t run;
	char *profile;			/* the texts are for reviews of it; NULL: no reviews */
	char *reviewer;			/* prompt template; NULL: the built-in one */
	char *guidelines, *conventions;	/* Markdown; NULL: none */
	/* JSON array of strings: the files that it was read from, see job/judge.h; NULL: none, or
	 * taken over */
	char *files;
	int64_t kept_from;		/* the retried run that it was taken over from, ROW_NONE */
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
	/* a voter of a panel: the slot whose work it judges, and the reviewer whose voter it is;
	 * ROW_NONE, NULL: it is none. See slot/panel.h */
	int64_t voter_of;
	char *reviewer;
	int stage;			/* enum slot_stage: stage of the machine in core/slot.h */
	/* enum slot_leaving: progress of the teardown after the end */
	int leaving;
	char *task;			/* NULL: none yet, the agent picks one, or none at all */
	/* absolute path of its work tree, NULL: the run's workspace */
	char *worktree;
	char *branch;			/* branch of the work tree, short name */
	/* commit where the branch was created, or to which a conflict moved it */
	char *base_commit;
	/* the same as a tree with file contents as on disk; NULL: the run's */
	char *base_tree;
	char *head;			/* HEAD of a shared work tree when the slot
					 * began, NULL: the run's */
	char *head_at;			/* as run.head_at, NULL: the run's */
	char *commit_id;		/* commit made by the slot, NULL */
	/* commit_id, base_commit and base_tree as they were before a merge that is being judged,
	 * see slot_merge_is_open(); its tree is that of the last product before the merge. NULL:
	 * there is none */
	char *own_commit, *own_base_commit, *own_base_tree;
	/* why git rejected the result: output of a hook, conflicting paths; for the fixer. NULL */
	char *obstacle;
	char *protected_paths;		/* that the work touches; NULL: none */
	int64_t hook_changes;		/* commits that a hook of the repository changed */
	int64_t round;			/* review number, 0 before the first */
	int64_t fix;			/* fix rounds used */
	/* fix rounds allowed: max_fixes of the plan, and as many again after each rework */
	int64_t fixes;
	int64_t stalled;		/* fixes in a row without progress */
	/* rounds whose work was sent back, see core/rounds.h; NULL: none */
	char *rounds;
	int64_t attempt;		/* attempt the stage waits for or waited for, ROW_NONE */
	int64_t answer;			/* attempt whose final text is the answer under
					 * review, ROW_NONE */
	/* the same in an earlier run, as long as there is none in this one; ROW_NONE */
	int64_t earlier_answer;
	int64_t again;			/* 1: the verdicts of that run do not count */
	char *answer_hash;		/* SHA-256 of that answer */
	char *tree;			/* tree id under review in this round */
	/* number of the newest product of the slot, ROW_NONE: none yet, or no git */
	int64_t product;
	/* tree of files that appeared or changed during reviews and are not part of the work; if
	 * some changed, then a blank and a tree of what the work has in their place. NULL: none */
	char *beside;
	/* tree and answer of the last review, which runs of older versions compare */
	char *previous_tree;
	char *previous_answer_hash;
	int64_t diff;			/* step whose stdout is the diff under review, ROW_NONE */
	char *diff_hash;		/* SHA-256 of that as it was measured, NULL: not known */
	/* current check, 1..; 0: none. Those before it need not have run, see check_evidence.h */
	int64_t check;
	/* attempt of the current check that failed, while it is run once more; ROW_NONE */
	int64_t red_check;
	/* 1: checks before the current one did not run in its room, which a check that fails may
	 * need */
	int64_t gap;
	/* set-up commands of the work tree or room that have begun; 0: none, or it is set up */
	int64_t setup;
	int64_t prepares;		/* enum prepares_state */
	int merge;			/* enum slot_merge */
	/* SHA-256 of what run.copy brings, when the work was measured or a room was prepared last;
	 * NULL: not known */
	char *copied_hash;
	/* consecutive lost set-up attempts. The work that they interrupt has its own counters */
	int64_t setup_lost;
	int64_t base;			/* enum base_state */
	/* remedy_text() for a check that fails in a room of its base; NULL: not known, or none */
	char *remedy;
	/* attempt whose output is the feedback for the current fix, ROW_NONE */
	int64_t failed_check;
	/* fixer per_finding: number of the finding being fixed; 0: none */
	int64_t item;
	/* review attempt of this round whose answer was malformed, and why, while the reviewer is
	 * asked about it; ROW_NONE, NULL: it is not */
	int64_t asked;
	char *asked_why;
	/* what its implementer or fixer asks a human, until an attempt ends without a question;
	 * NULL: nothing. The attempt that asked, ROW_NONE: one of an earlier run. The answer, NULL:
	 * none */
	char *question;
	int64_t question_attempt;
	char *reply;
	/* message of a rework, until the next result of a reviewer or check */
	char *message;
	/* consecutive lost attempts: if > 0, the next one is told that its predecessor was
	 * interrupted */
	int64_t interrupted;
	/* consecutive tries refused by a service: each waits longer, and their number is limited */
	int64_t retries;
	/* TIME before which the next try does not start; ROW_NONE */
	int64_t retry_at;
	char *cooling;			/* account that its attempt waits for; NULL: none */
	int wait;			/* enum wait_kind, host or source: what delays the slot */
	char *wait_reason;		/* the reason of wait as a sentence, NULL: nothing */
	/* TIME since when, through all retries; ROW_NONE: nothing */
	int64_t wait_since;
	int64_t wait_until;		/* TIME of the next try */
	char *reason;			/* why it waits or was skipped */
	int wait_kind;			/* enum wait_kind: of reason */
	/* why it ended; before that: why its work is accepted already */
	char *cause;
	int end_kind;			/* enum end_kind: of cause */
	/* enum accepted: who accepted work without a passing verdict; set before its commit, too */
	int accepted;
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
	/* REVIEW: the reviewer of a panel that it votes for, which may have a fallback; NULL: no
	 * panel */
	char *reviewer;
	char *model;			/* NULL: the agent's own default */
	/* RL_ATTEMPT_UUID, an environment mark of all processes of the tree */
	char *uuid;
	char *boot_id;			/* boot in which it was to start */
	int state;			/* enum attempt_state */
	int64_t exit_code;		/* ROW_NONE unless it exited */
	int64_t signal;			/* ROW_NONE unless a signal killed it */
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
	double cost_usd;		/* NaN: not reported */
	char *account;			/* that pays; NULL: a check */
	/* reserved for it until it ends, in a run with a budget; NaN: nothing */
	double reserved_usd;
	int64_t reserved_tokens;	/* likewise, ROW_NONE: nothing */
	/* attempt whose conversation it resumes; ROW_NONE: a new conversation */
	int64_t resumes;
	/* tool calls that were denied, and that failed otherwise; ROW_NONE: unknown */
	int64_t denials, tool_errors;
	/* IMPLEMENT: 1: its answer declares that no change is needed */
	int64_t says_no_change;
	/* REVIEW: JSON array of {file, why, bytes}: what the prompt leaves out of the diff, not
	 * more than LEFT_OUT_MAX files; NULL: nothing */
	char *left_out;
	/* ... the number of files; bytes of the diff, and of those in the prompt; ROW_NONE */
	int64_t left_out_files, diff_bytes, diff_shown;
	/* what confined it: "landlock 6", "none"; NULL: no confinement requested */
	char *sandbox;
	char *session;			/* conversation id, NULL: none */
	char *answer_hash;		/* SHA-256 of the final text file "answer",
					 * NULL: no final text */
	char *output_hash;		/* SHA-256 of stdout as kept, up to the
					 * order to end; NULL: it could not be read */
	char *stderr_hash;		/* SHA-256 of stderr as kept; NULL: it could not be
					 * read */
	/* REVIEW: SHA-256 of the file "carrier", the copy of what it handed over in a file; or why
	 * that is no answer. NULL both: its profile has no such file */
	char *carrier_hash, *carrier_fault;
	/* CHECK, failed: id of the finding that it is, see core/findings.h; NULL: not known */
	char *finding;
	int64_t output_size;		/* bytes of stdout that output_hash is about */
	/* What it was given, and what ran. SHA-256 of the files "prompt" and "diff", NULL: none;
	 * path of its program, with the SHA-256 of that file, NULL: unknown; the version that its
	 * output names, else that of its npm package, and the model that its output names, NULL:
	 * unknown */
	char *prompt_hash, *diff_hash;
	/* step that measured the diff, ROW_NONE: none; SHA-256 of the text of its task, of slot 0
	 * of all tasks, NULL: it was given none */
	int64_t diff;
	char *task_hash;
	char *judge_hash;		/* of an agent: that of its run, NULL: it has none */
	/* REVIEW: SHA-256 of the file "given", NULL: none */
	char *given_hash;
	char *program, *program_hash, *program_version, *answered_by;
	/* what places it, NULL: nothing; and on which machine, before it starts if rld has
	 * chosen that, NULL: it is here, or unknown */
	char *launcher, *node;
	int64_t bytes;			/* size of stdout and stderr as written by the agent */
	int64_t started_at;
	int64_t ended_at;
};

struct step_row {
	int64_t id;			/* from the same counter as attempts */
	int64_t run;
	int64_t iteration;		/* of the slot */
	int64_t slot;			/* ROW_NONE: belongs to the run itself */
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

/* An entry of the human decision queue. */
struct hold_row {
	int64_t id;
	int64_t run;
	char *task;
	int64_t iteration;
	int64_t slot;
	int kind;			/* enum hold_kind */
	char *reason;
	/* the attempt that was lost or failed, otherwise the reviewer's */
	int64_t attempt;
	int state;			/* enum hold_state */
	char *decided_by;		/* "human:<user>" */
	/* process that asked for it, and the attempt it belongs to; ROW_NONE: none */
	int64_t by_uid, by_pid, by_attempt;
	char *message;
	int64_t created_at;
	int64_t decided_at;
};

/* Owner of a task of a shared source: the key (source, task) is unique, so no two runs have the
 * same task. */
struct claim_row {
	char *source;			/* "beads:<real path>" */
	char *task;
	int64_t run;
	int state;			/* enum claim_state */
	int64_t at;
};

/* Content of a removed work tree. */
struct salvage_row {
	int64_t id;			/* from the same counter as attempts */
	int64_t run;
	char *task;
	char *workspace;		/* repository that contains it */
	char *ref;			/* refs/rl/<instance>/salvage/<run>/<task> */
	char *commit_id;
	char *path;			/* former path of the work tree */
	int64_t created_at;
};

/* Limits of a group set at run time; they override rld.toml. */
struct group_row {
	char *name;
	int64_t slots;			/* ROW_NONE: as in rld.toml */
	int64_t paused;			/* 1: its runs start nothing */
};

/* A cooldown of a provider account, current or past. */
struct cooldown_row {
	char *account;
	int kind;			/* enum cooldown_kind */
	int64_t until;			/* in force before this TIME */
	char *reason;			/* message of the service or the operator, NULL */
	int64_t attempt;		/* attempt that reported it, ROW_NONE */
	char *set_by;			/* "human:<user>"; NULL: the daemon */
	int64_t created_at;
};

/* Spending of an account on one day. */
struct spend_row {
	char *account;
	/* UTC day on which the attempts ended, counted from 1970-01-01 */
	int64_t day;
	int64_t attempts;
	double cost_usd;
	int64_t tokens, wall_ms;
};

/* A command of [hook] to run for a hold or an end, at least once. */
struct hook_row {
	int64_t id;			/* from the same counter as attempts */
	int64_t run;
	char *name;			/* "on_hold", "on_pass", "on_end" */
	char *command;			/* JSON array: argv */
	/* JSON object: the RL_* variables that describe what happened */
	char *environment;
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
	/* assigned by the store within the transaction, without gaps */
	int64_t seq;
	int64_t time;
	char *type;			/* "run.state": see docs/protocol.md */
	int64_t run;			/* ROW_NONE: an event of the daemon */
	/* JSON object: the fields other than seq, time, type, run */
	char *body;
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

/* Whether all fields are equal. */
bool row_equal(enum row_kind kind, const void *a, const void *b);

/* Make *dst a deep copy of *src; what dst held is freed. Both must be initialised. */
void row_assign(enum row_kind kind, void *dst, const void *src);

/* Free what the row owns and zero the struct. */
void row_release(enum row_kind kind, void *row);

/* row_release() and free, for the owner of a row, which may be const everywhere else.
 * NULL is allowed. */
void row_free(enum row_kind kind, const void *row);

#endif
