/* SPDX-License-Identifier: MIT */
/* The engine's own structs, shared by its files and by nobody else.
 *
 * A turn is one decision on its way: rows are put into it, it is committed, and only then its acts run, its replies
 * are given and its events told. The engine's working rows (struct run) run ahead of the view by the turns in flight.
 *
 * A lane is where at most one thing at a time is under way: one per slot, and one for the run itself (preparation).
 * lane.pending says what:
 *   PENDING_NOTHING  nothing; only in WAITING, HELD and the end stages
 *   PENDING_ACT      a turn is being committed whose act will go on
 *   PENDING_WORK     file work
 *   PENDING_PROC     an attempt or a step, its id in lane.id: ended or refused will come */
#ifndef ENGINE_ENGINE_INT_H
#define ENGINE_ENGINE_INT_H

#include <jansson.h>
#include <sys/queue.h>

#include "core/findings.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/run.h"
#include "core/slot.h"
#include "engine/engine.h"
#include "engine/work.h"

enum pending { PENDING_NOTHING, PENDING_ACT, PENDING_WORK, PENDING_PROC };

struct act;
struct run;

struct lane {
	struct run *run;
	struct slot_row *row;		/* working row, owned by run->rows; NULL: the run's own lane */
	enum pending pending;
	int64_t id;			/* attempt or step under way, ROW_NONE */
	struct git_op *op;		/* git operation under way, NULL */
	enum git_op_kind op_kind;
	int tries;			/* how often the operation's step was lost */
	struct step_row *step;		/* unfinished step, owned; NULL */
	struct step_spec next_step;	/* what that step runs, until it is launched; points into op */
	char **next_env;
	struct exit_record record;	/* of the attempt that is being collected */
	bool lost;			/* it has none */
	char *lost_detail;
	enum proc_found found;		/* recovery: what the proc port found */
	enum hold_kind hold_kind;	/* of the hold that the next SLOT_A_HOLD opens */
};

/* A command of [hook] on its way. It belongs to no lane, since it may outlive its run. */
struct hook {
	LIST_ENTRY(hook) entry;
	struct hook_row *row;		/* owned */
	bool begun;			/* the proc port has it */
	bool looked;			/* recovery: the proc port has found ... */
	enum proc_found found;
	struct exit_record record;
};

struct run {
	LIST_ENTRY(run) entry;
	struct engine *engine;
	struct run_rows *rows;		/* working rows */
	struct plan plan;
	struct lane own;
	struct lane **lanes;		/* of the current iteration */
	size_t nlanes;
	bool settling;			/* run_settled() is at work: what settles meanwhile is seen by it */
};

/* A submit on its way to the commit. */
struct pending_submit {
	TAILQ_ENTRY(pending_submit) entry;
	struct engine *engine;
	int64_t owner;
	char *workdir, *task, *task_blob, *key, *body_hash, *plan_json;
	size_t task_size;
	char **environment;
	char *environment_hash;		/* after the intake, or inherited by a retry */
	int64_t priority;
	struct plan plan;
	bool check;
	int64_t retry_of;		/* ROW_NONE */
	struct run_rows *retried;	/* copy of what retry needs of the old run, NULL */
	int64_t id;			/* once decided */
	engine_reply_cb *cb;
	void *arg;
};

/* Something for the desk to do: forget, write, or tell. */
struct desk_item {
	TAILQ_ENTRY(desk_item) entry;
	int64_t run;			/* ROW_NONE: of no run */
	char *environment, *blob;	/* owned, NULL */
	bool sweep;			/* every environment that is not in use */
	char *leftover;			/* owned, NULL */
	struct work *work;		/* a log or a report, owned: none of the others then; NULL */
	enum work_kind kind;
	void (*reached)(void *arg);	/* nothing to do but to tell that it is its turn; NULL */
	void *arg;
};

struct engine {
	struct ports ports;
	char *state_dir, *config_dir;
	engine_committed_cb *committed;
	void *arg;
	int64_t parallel;
	bool draining, full, stopped, recovering;
	struct view *view;
	LIST_HEAD(, run) runs;		/* unfinished, newest first */
	LIST_HEAD(, hook) hooks;	/* unfinished */
	int64_t last_run, last_attempt, last_hold;
	size_t commits;			/* turns in flight */
	size_t adopting;		/* found() reports to come */
	struct act *deferred;		/* what lanes are to go on with once all are found, see turn.c */
	size_t ndeferred;
	/* see desk.c */
	TAILQ_HEAD(, pending_submit) reading;	/* retries waiting for their task's text */
	TAILQ_HEAD(, pending_submit) submits;	/* waiting for intake */
	TAILQ_HEAD(, pending_submit) deciding;	/* at intake or in commit */
	TAILQ_HEAD(, desk_item) desk;
	bool desk_busy;
};

/* turn.c */

enum act_kind {
	ACT_PREPARE,	/* the run's own lane: task file, base snapshot */
	ACT_COMPOSE,	/* compose and launch the attempt id */
	ACT_GIT,	/* begin the git operation of the lane's stage */
	ACT_STEP,	/* launch the lane's step */
	ACT_JUDGE,	/* read the verdict, where there is no git to ask first */
	ACT_END,	/* end what is under way in the lane */
	ACT_HOOK,	/* start the hook id */
	ACT_LOG,	/* write the review log of the lane's task */
	ACT_REPORT,	/* write the run's report */
	ACT_FORGET,	/* the run is over and told: drop it */
	ACT_SCHEDULE	/* a slot of the daemon is free again */
};

struct turn;
struct turn *turn_new(struct engine *engine);
void turn_put(struct turn *turn, enum row_kind kind, const void *row);
/* Consumes body. run: ROW_NONE for an event of the daemon. */
void turn_tell(struct turn *turn, const char *type, int64_t run, json_t *body);
void turn_act(struct turn *turn, enum act_kind kind, struct run *run, struct lane *lane, int64_t id);
/* ACT_HOOK: start the hook of that id, whose run may be over. */
void turn_act_hook(struct turn *turn, int64_t id);
void turn_reply(struct turn *turn, engine_reply_cb *cb, void *arg, int64_t run);
/* Everything has been found: do what was decided meanwhile. */
void turn_resume(struct engine *engine);
/* Hands the decision to the store. */
void turn_commit(struct turn *turn);
/* The same for a new run: p is answered when it is recorded, or refused when there is no space. */
void turn_commit_submit(struct turn *turn, struct pending_submit *p);

/* run_flow.c: the run machine applied */

struct run *run_new(struct engine *engine, struct run_rows *rows);	/* takes rows; NULL: damaged plan */
void run_free(struct run *run);
struct run *run_find(struct engine *engine, int64_t id);
struct lane *run_lane(struct run *run, int64_t slot);	/* ROW_NONE: its own */
void run_make_lanes(struct run *run);
/* What is of the review and not of the work, relative to the workspace: see git_op_spec. Free with strings_free(). */
char **run_artifacts(const struct run *run);
/* Its reviewers work in a checkout of their own. */
bool run_has_checkout(const struct run *run);
void run_event(struct turn *turn, struct run *run, enum run_event event, const char *cause);
void run_settled(struct turn *turn, struct run *run);
/* Somebody said so. */
void run_cancel(struct turn *turn, struct run *run, const char *cause);
bool run_cancelling(const struct run *run);
void run_warn(struct turn *turn, struct run *run, const char *text);
/* Findings that the run ends with by leave of its policy, all at once: each time the whole row is copied. NULL-terminated. */
void run_known_issues(struct turn *turn, struct run *run, char *const *texts);
void run_prepare(struct run *run);
void run_tell_state(struct turn *turn, const struct run *run);

/* queue.c */

/* Start what can be started, tell why the rest waits. */
void engine_schedule(struct engine *engine);

/* lane.c: the slot machine applied */

void lane_init(struct lane *lane, struct run *run, struct slot_row *row);
void lane_release(struct lane *lane);
void lane_event(struct turn *turn, struct lane *lane, enum slot_event event, const char *cause);
bool lane_ending(const struct lane *lane);
/* The lane's activity is over in ENDING (or the run's own lane is told to stop): take the last edge. */
void lane_ended(struct turn *turn, struct lane *lane);
struct lane *engine_lane_of(struct engine *engine, int64_t id);
struct task_row *lane_task(const struct lane *lane);
struct attempt_row *run_attempt(const struct run *run, int64_t id);

/* hold_flow.c: the human decision queue */

void hold_open(struct turn *turn, struct lane *lane, enum hold_kind kind, const char *reason);
/* Close the lane's open hold, if it has one. */
void hold_close(struct turn *turn, struct lane *lane, enum hold_state state, const char *by, const char *message);
/* The slots that were sent back while the run had no slot of the daemon go on. */
void hold_resume(struct turn *turn, struct run *run);

/* hook.c */

/* Put a hook row into the turn, if the command is not empty. hold NULL: for the end of the run. */
void hook_add(struct turn *turn, struct run *run, const char *name, char *const *command, const struct hold_row *hold);
void hook_start(struct engine *engine, int64_t id);
struct hook *hook_find(struct engine *engine, int64_t id);
void hook_load(struct engine *engine, struct hook_row *row);
void hook_adopt_all(struct engine *engine);
void hook_ended(struct engine *engine, struct hook *hook, const struct exit_record *record, const char *error);
/* Kept until everything is found, see hook_resume_all(). */
void hook_found(struct engine *engine, struct hook *hook, enum proc_found found, const struct exit_record *record);
void hook_resume_all(struct engine *engine);
void hook_free(struct hook *hook);

/* attempt_flow.c */

void attempt_begin(struct turn *turn, struct lane *lane, enum role role);
void attempt_compose(struct lane *lane);
void attempt_started(struct lane *lane);
void attempt_refused(struct lane *lane, const char *error);
/* record NULL: lost. */
void attempt_ended(struct lane *lane, const struct exit_record *record, const char *detail);

/* git_flow.c */

void git_begin(struct lane *lane, enum git_op_kind kind);
void git_launch(struct lane *lane);
void git_refused(struct lane *lane, const char *error);
void git_ended(struct lane *lane, const struct exit_record *record);
/* The step's process is gone without a trace: the operation is run again, three times at most. */
void git_lost(struct lane *lane);

/* publish.c */

void review_write_log(struct run *run, struct lane *lane);
void run_write_report(struct run *run);

/* review_flow.c */

void review_judge(struct lane *lane, const char *changed, const char *moved);
/* A round has come to an end that is neither pass nor findings by a reviewer: what the policy says. cause: why. */
void review_over(struct turn *turn, struct lane *lane, enum round_end end, const char *cause);
void review_skip(struct turn *turn, struct lane *lane, const char *reason);

/* review_rows.c */

/* The review attempt of the lane has said something, or failed to. decision, feedback: see struct review_row. */
struct finding_counts review_append(struct turn *turn, struct lane *lane, const char *decision, const char *feedback, const struct verdict *v);
void review_error(struct turn *turn, struct lane *lane, const char *cause);
/* A human has the last word about a held task. */
void review_human(struct turn *turn, struct lane *lane, const char *decision, const char *by, const char *message);
/* The corrector's marks are told as resolved findings; the rows that say so are those of the next review. */
void review_marked(struct turn *turn, struct lane *lane, const struct verdict_finding *marks, size_t count);
const struct review_row *review_last(const struct lane *lane);
/* The finding that comes after number `after` of the last review and is a fixer's to settle, NULL: none. */
const struct finding_row *review_item(const struct lane *lane, int64_t after);
int64_t review_items_left(const struct lane *lane);
/* "src/foo.ts:42: the comment", malloc'd. */
char *review_issue(const struct finding_row *finding);
/* The same of all findings of the last review that somebody has to settle. Free with strings_free(); NULL: none. */
char **review_issues(const struct lane *lane);
/* JSON array of the last review's findings, malloc'd; NULL: none. */
char *review_findings_json(const struct lane *lane);

/* submit.c */

/* Hands all submits that wait to a worker; desk_done() when they are decided. */
void submit_intake(struct engine *engine);
void submit_committed(struct pending_submit *p, const struct run_rows *rows);
void submit_refused(struct pending_submit *p, int code, const char *message, const char *hint, const char *field);

/* desk.c */

/* Begin what is next, unless something is under way. */
void desk_next(struct engine *engine);
/* What was under way is over. */
void desk_done(struct engine *engine);
/* Those who wait for the desk wait no longer: it will not come to them. */
void desk_stop(struct engine *engine);
/* Takes environment, blob and leftover; see struct desk_item. */
void desk_forget(struct engine *engine, int64_t run, char *environment, char *blob, char *leftover, bool sweep);
/* A log or a report, after those that were handed in before. Takes work. */
void desk_write(struct engine *engine, struct work *work, enum work_kind kind);

/* recover.c: every unfinished attempt is classified: go on. */
void engine_resume(struct engine *engine);

/* Start file work with the engine's directories filled in. */
void engine_work(struct engine *engine, struct work *work, enum work_kind kind, void (*done)(void *arg, struct work *work), void *arg);
/* The same in ms from now. */
void engine_work_later(struct engine *engine, int64_t ms, struct work *work, enum work_kind kind,
    void (*done)(void *arg, struct work *work), void *arg);
int64_t engine_now(struct engine *engine);

#endif
