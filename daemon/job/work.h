/* SPDX-License-Identifier: MIT */
/* File work: everything of the engine that reads or writes files, as values that travel to a worker thread and back.
 * The engine fills the input, work_run() the output; the simulation fills the output itself. */
#ifndef JOB_WORK_H
#define JOB_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/notice.h"
#include "agent/progress.h"
#include "core/plan.h"
#include "core/row.h"
#include "git/op.h"
#include "proc/launch.h"
#include "task/op.h"
#include "task/pick.h"
#include "job/secrets.h"
#include "model/briefing.h"
#include "model/dirs.h"
#include "model/view.h"
#include "model/work.h"
#include "verdict/verdict.h"

/* One submitted run. */
struct intake {
	/* in, borrowed from the pending submission */
	const char *workdir;
	enum source_kind source;
	const char *source_path;
	const char *task;
	size_t task_size;
	const char *task_blob;
	char *const *environment;
	bool check;			/* nothing is kept */
	const struct plan *plan;
	const struct plan *judge;	/* see judgement_plan(); NULL: nothing is reviewed */
	struct plan task_plan;		/* owned: judge, when it is a task's */
	int64_t owner;
	/* out, owned */
	int code;			/* 0 or a code of proto/error.h, then message, hint and field are set */
	char *message, *hint;
	const char *field;
	char *workspace, *subdir;
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
	const char *workspace, *workdir;
	bool has_git;
	const struct plan *plan;
	const struct plan *judge;	/* see judgement_plan(); NULL: nothing is reviewed */
	struct plan task_plan;		/* owned: judge, when it is a task's */
	int64_t retry_of;		/* run that this one retries, ROW_NONE */
	char **artifacts;		/* owned: see git_op_spec */
	char *text;			/* owned: the task */
	size_t text_size;
	char *error;			/* out: NULL when it is done */
	char **warnings;		/* out, owned; NULL: none */
	bool taken_over;		/* out: what reviews go by is what the retried run was judged by */
};

/* Of an operation that is made by the worker, since PATH is in the kept environment. Strings owned. */
struct source_spec {
	enum task_op_kind kind;
	enum source_kind source;
	char *path, *task, *actor, *reason;
};

struct step_work {
	struct work work;
	struct git_op *git;		/* borrowed from the slot; one of both */
	struct task_op *task;
	struct source_spec source;	/* what has to be made, where both are NULL */
	struct task_op *made;		/* out, owned; NULL: none had to be made */
	struct secrets secrets;		/* owned: the run's environment, and what must not be seen in what git or bd says */
	char *scratch;			/* owned: a directory that the first call makes */
	int64_t step;			/* whose result is to be read; ROW_NONE: first call */
	bool ok;			/* rl-git has ended with 0 */
	enum step_next next;		/* out */
	char *input;			/* out, owned: stdin of rl-git, for STEP_NEXT_RUN */
	size_t input_size;
	char **env;			/* out, owned: its whole environment */
	char *error;			/* out, owned: something but git failed; counts as STEP_NEXT_FAILED */
};

/* How the reason of a slot begins that waits for disk space. */
#define FLOOR_REASON "waiting for disk space: "

struct compose_work {
	struct work work;
	/* in, owned copies: rows change while the worker reads */
	struct run_row run;
	struct slot_row slot;
	struct attempt_row attempt;
	struct task_row task;
	const struct plan *plan;	/* borrowed: a run's plan never changes */
	struct briefing briefing;		/* owned */
	char *offer;			/* owned: tasks that the agent may pick, Markdown; NULL: it has one */
	bool shared_tree;		/* another slot writes the same tree */
	char *follow_up;		/* what a fixer is asked for, a reviewer's previous feedback, a human's words; NULL: nothing */
	const char *follow_up_from;	/* "review", "check", "git", "human"; static */
	int64_t follow_up_output;	/* attempt whose output stands behind follow_up, ROW_NONE */
	struct review_row *history;	/* owned copies: all reviews of the task so far */
	int64_t *answers;		/* owned: for each the attempt whose answer it was about; ROW_NONE: none, or the answer under review */
	size_t nhistory;
	char *session;			/* conversation that goes on, NULL: a new one */
	bool interrupted;		/* the attempt before this one was cut off in the same work */
	char *interruption;		/* owned: ... why, NULL: nobody knows */
	int64_t says_no_change;		/* whether the implementer's answer under review says that nothing is to be changed; ROW_NONE: it is a fixer's */
	char *findings;			/* JSON for RL_FINDINGS_FILE, NULL */
	int64_t time_left_ms;		/* until the run ends at its max_wall, ROW_NONE: it has none */
	/* out */
	struct launch *launch;		/* owned; NULL: error or floor says why */
	char *floor;			/* owned: there is too little free space to start anything, in words; ask again */
	char *error;
};

struct collect_work {
	struct work work;
	int64_t attempt;
	enum reader_kind reader;
	struct secrets secrets;		/* owned: what must not be seen in what it said */
	uint64_t stdout_bytes, stderr_bytes;	/* that the exit record speaks of, 0: nothing is known */
	uint64_t dropped;		/* of these, what the shim could not keep or was not to keep */
	bool rebooted;			/* the machine was started anew since it was to start */
	uint64_t unasked;		/* of stdout, what it wrote before its shim ended it: its result is read from there alone. UINT64_MAX: all */
	int64_t exit_code;		/* see ending_code() */
	enum provider_result refused;	/* it was ended for that refusal of its service; PROVIDER_NONE: it was not */
	int64_t ended_at;		/* ms since the epoch */
	char *zone;			/* owned: see ending_zone() */
	char *review_file;		/* owned: path in which a corrector marks what it fixed; NULL: none */
	struct agent_result result;	/* out, owned */
	char *answer_hash;		/* out, owned: SHA-256 of the answer file; NULL: no final text */
	char *last_words;		/* out, owned: agent_last_words() of stderr, for failures that the reader cannot explain; NULL: none */
	struct verdict_finding *marks;	/* out, owned: items that are marked in review_file */
	size_t nmarks;
	char **markers;			/* owned: stop markers to look for; NULL: none */
	char *worktree;			/* owned: whose size is wanted; NULL: none */
	bool stop;			/* out: its answer has one */
	char **no_change_markers;	/* owned: the same for the word that nothing is to be changed */
	bool says_no_change;		/* out */
	int64_t disk_bytes;		/* out: ROW_NONE: not asked for */
	bool cut;			/* out: the end of its output is not there, for a disk refused it; error says so */
	char *doubt;			/* out, owned: how a reset time was read that nobody understands; NULL: none */
	char *error;			/* out, owned: the output could not be read or the answer not be kept */
};

struct pick_work {
	struct work work;
	int64_t run, iteration, slot, attempt;
	char **ids;			/* owned: tasks that it may pick */
	bool last;			/* it has ended: a last line without a newline counts */
	uint64_t unasked[2];		/* of stdout and stderr: as in collect_work */
	struct pick *pick[2];		/* owned: stdout, stderr, as far as they were looked at */
	uint64_t offset[2];
	char *picked;			/* out, owned: NULL: nothing yet */
};

struct result_work {
	struct work work;
	int64_t run, iteration, slot, attempt;
	enum reader_kind reader;
	uint64_t size;			/* of its stdout at the last look */
	uint64_t read;			/* ... and when it was read last */
	bool over;			/* in, out: what its last reading says, false when there is more since */
	int64_t idle_ms;		/* in: so long may it be without progress; 0: for ever */
	struct progress *progress;	/* owned; NULL: before the first look */
	uint64_t seen;			/* of its stdout, looked through for progress */
	int64_t progress_at;		/* of clock_steady(), when there was some last, or it was looked at first */
	bool stalled;			/* out: there was none for so long */
};

struct notice_work {
	struct work work;
	int64_t run, iteration, slot, attempt;
	enum reader_kind reader;
	char *zone;			/* owned: see ending_zone() */
	uint64_t offsets[NOTICE_STREAMS];	/* how far its output was looked at */
	struct notice notice;		/* owned: what was said up to there */
	enum provider_result decided;	/* out: see notice_decide() */
};

struct judge_work {
	struct work work;
	int64_t attempt;
	struct secrets secrets;		/* owned */
	enum carrier carrier;
	int64_t status;			/* exit status of the reviewer */
	char *review_file;		/* owned: path of the carrier file; NULL: the carrier has none */
	char *top;			/* owned: the tree that the reviewer was at work in, and what misnamed_note() has of it; NULL: any file may ... */
	char *misnamed;			/* owned: ... have nearly the name of review_file */
	char *copy_to;			/* owned: where a corrector looks for it, when that is another place; NULL */
	struct verdict verdict;		/* out, owned */
	char *error;			/* out, owned: the answer could not be read, so there is no verdict to speak of */
};

struct forget_work {
	struct work work;
	int64_t run;			/* ended: its scratch directory; ROW_NONE: none */
	char *environment;		/* owned: hash that no unfinished run uses any more, NULL */
	char *blob;			/* owned: "<uid>-<name>" of a blob that has become a run's task, NULL */
	char **keep;			/* owned: every environment but these is of no unfinished run; NULL: no sweep */
	char *leftover;			/* owned: carrier file that a reviewer left in the working directory, NULL */
};

struct log_work {
	struct work work;
	int64_t run;
	char *base;			/* owned: directory that dir is below, and no link in it is followed; NULL: dir is absolute */
	char *dir, *name;		/* owned */
	char *text;			/* owned */
	char *error;			/* out, owned */
};

struct report_work {
	struct work work;
	struct run_rows *rows;		/* owned */
	char *path;			/* owned */
	char *error;			/* out, owned */
};

/* Do it. Blocking; touches nothing but files and the work itself. */
void work_run(struct work *work);

/* Free the work, its inputs that it owns, and its outputs that were not taken. */
void work_free(struct work *work);

/* One per kind. */
void intake_run(struct intake_work *work);
void open_run(struct open_work *work);
void step_run(struct step_work *work);
void pick_run(struct pick_work *work);
void result_run(struct result_work *work);
void notice_run(struct notice_work *work);
void compose_run(struct compose_work *work);
void collect_run(struct collect_work *work);
void judge_run(struct judge_work *work);
void forget_run(struct forget_work *work);
void log_run(struct log_work *work);
void report_run(struct report_work *work);

/* The last refusal in the end of an ended attempt's output; at: when it ended. Owned by the caller, see notice_release(). */
void notice_last(struct notice *n, enum reader_kind kind, int dirfd, int64_t at, const char *zone);

/* What stdout alone does not tell about the service: result.provider, transient and reset_at. */
void ending_judge(struct collect_work *work);
/* TZ as the settings give it to an agent, malloc'd; NULL: as in the run's environment. */
char *ending_zone(const struct plan *plan, const struct agent_plan *agent);
/* The exit code that may speak of the service; ROW_NONE: it did not exit by itself, or what it is speaks of the work alone. */
int64_t ending_code(const struct plan *plan, enum role role, enum reader_kind reader, const struct exit_record *record);

/* The submitter's environment as kept in <state>/env/<hash>, filtered for an agent (NULL: for git steps): names of the
 * allowlist and of agent->env. hash NULL: the daemon's own environment, filtered the same. New NULL-terminated list. */
char **environment_load(const char *state_dir, const char *hash, const struct agent_plan *agent, char **error);

/* All that is kept, entries of job/secrets.h too, for strings_wipe(). NULL with error: it cannot be read. */
char **environment_kept(const char *state_dir, const char *hash, char **error);

/* The value of a variable in an environment as it was sent, the daemon's own when none was (NULL). NULL: it is not there. */
const char *environment_get(char *const *list, const char *name);

/* Set K=V in a list, replacing an earlier K. */
void environment_set(char ***list, const char *name, const char *value);
/* The same for each "K=V" of pairs, which may be NULL. */
void environment_set_all(char ***list, const char *const *pairs);

#endif
