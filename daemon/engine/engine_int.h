/* SPDX-License-Identifier: MIT */
/* The engine's own structs, shared by its files and by nobody else.
 *
 * A transaction is one decision on its way: rows are put into it, it is committed, and only then its effects run, its replies
 * are given and its events told. The engine's working rows (struct run) run ahead of the view by the transactions in flight.
 *
 * A slot is where at most one thing at a time is under way, its activity: one per slot, and one for the run itself (preparation). */
#ifndef ENGINE_ENGINE_INT_H
#define ENGINE_ENGINE_INT_H

#include <jansson.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "core/budget.h"
#include "core/findings.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/run.h"
#include "core/schedule.h"
#include "core/slot.h"
#include "engine/engine.h"
#include "job/work.h"
#include "model/activity.h"

struct effect;
struct txn_calls;
struct run;
struct claims;
struct groups;
struct accounts;
struct slot;
struct txn;

struct move_why {
	enum move_reason reason;
	const char *cause;		/* of an end or a hold, and of what is accepted; NULL: none */
	enum hold_kind hold;		/* to HELD: its kind */
};

/* What a slot does in a stage. */
struct stage {
	void (*enter)(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why);
};

extern const struct stage slot_stages[SLOT_STAGES];	/* slot/stages.c */

struct slot {
	struct run *run;
	struct slot_row *row;		/* working row, owned by run->rows; NULL: the run's own slot */
	struct activity activity;
	struct operation op;
	bool has_permit;			/* it has a permit */
	struct plan *plan;		/* of its task alone, owned; NULL: the run's */
	bool bd_claimed;		/* bd has given it its task, and waits for word of it; forgotten with the daemon */
	struct briefing briefing;		/* of the attempt that is being composed, while it is read; see attempt_start.c */
	size_t briefing_next;		/* ... what comes next: 0: the task, n: story n - 1 */
	struct exit_record record;	/* of the attempt or step whose output is being read */
	bool lost;			/* it has none */
	char *lost_detail;
	enum proc_found found;		/* recovery: what the proc port found */
};

/* A command of [hook] on its way. It belongs to no slot, since it may outlive its run. */
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
	RB_ENTRY(run) by_id;
	struct engine *engine;
	struct run_rows *rows;		/* working rows */
	struct plan plan;
	struct slot own;		/* it has a permit while the run prepares, loads and reviews, so between its slots */
	struct slot **slots;		/* of the current iteration, and of earlier ones what is held or waits for the review of the run */
	size_t nslots;
	char *failure;			/* its source or its tree cannot be looked at any more, and why; owned. What waits for a human still does */
	char *iteration_head;		/* ... and HEAD there, owned; NULL: as the run has it */
	char *iteration_head_at;	/* ... and what its file had in it, likewise */
	char *iteration_tree;		/* what a shared tree has when the next iteration begins, owned; NULL: not looked at */
	bool drained;			/* the source has been asked after the last iteration, and has no more; nobody has decided anything since */
	bool judged_before;		/* it is judged by what the run was judged by that it retries */
};

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
	struct task_row **tasks;	/* of stories and workflows, with their texts; as they will be put; owned */
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
	struct run_row *row;		/* as it is being recorded, owned; with a cause: it is to be cancelled. NULL until then */
	engine_reply_cb *cb;
	void *arg;
};

/* Something for the file queue to do: forget, write, or tell. */
struct file_job {
	TAILQ_ENTRY(file_job) entry;
	int64_t run;			/* ROW_NONE: of no run */
	char *environment, *blob;	/* owned, NULL */
	bool sweep;			/* every environment that is not in use */
	char *leftover;			/* owned, NULL */
	struct work *work;		/* a log or a report, owned: none of the others then; NULL */
	enum work_kind kind;
	void (*reached)(void *arg);	/* nothing to do but to tell that it is its txn; NULL */
	void *arg;
};

struct engine {
	struct ports ports;
	const struct txn_calls *calls;
	const struct stage *stages;	/* SLOT_STAGES of them */
	char *state_dir, *config_dir, *instance, *socket;
	engine_committed_cb *committed;
	void *arg;
	int64_t parallel;
	bool draining, full, stopped, recovering;
	struct view *view;
	LIST_HEAD(, run) runs;		/* unfinished, newest first */
	RB_HEAD(run_tree, run) runs_by_id;
	LIST_HEAD(, hook) hooks;	/* unfinished */
	int64_t last_run, last_attempt, last_hold;
	struct schedule *schedule;
	struct claims *claims;
	struct groups *groups;
	struct accounts *accounts;
	size_t commits;			/* transactions in flight */
	size_t adopting;		/* found() reports to come */
	struct effect *deferred;		/* what slots are to go on with once all are found, see effects.c */
	size_t ndeferred;
	/* see file_queue.c */
	TAILQ_HEAD(, pending_submit) reading;	/* retries waiting for their task's text */
	TAILQ_HEAD(, pending_submit) submits;	/* waiting for intake */
	TAILQ_HEAD(, pending_submit) deciding;	/* at intake or in commit */
	TAILQ_HEAD(, file_job) file_queue;
	bool file_queue_busy;
};

/* txn.c */

enum effect_kind {
	EFFECT_PREPARE,	/* the run's own slot: task file, base snapshot */
	EFFECT_COMPOSE,	/* compose and launch the attempt id */
	EFFECT_GIT,	/* begin the git operation id */
	EFFECT_SOURCE,	/* begin the operation id of the task's source */
	EFFECT_LOAD,	/* the run's own slot: wait between iterations, then ask the source */
	EFFECT_LEAVE,	/* give back what the slot took */
	EFFECT_PERMIT,	/* wait for a permit */
	EFFECT_STEP,	/* launch the slot's step */
	EFFECT_JUDGE,	/* read the verdict, where there is no git to ask first */
	EFFECT_END,	/* end what is under way in the slot */
	EFFECT_HOOK,	/* start the hook id */
	EFFECT_LOG,	/* write the review log of the slot's task */
	EFFECT_REPORT,	/* write the run's report */
	/* after the events, in this order */
	EFFECT_CLEANUP,	/* the run has ended: remove it */
	EFFECT_COOLING,	/* what attempts wait for before they start has changed */
	EFFECT_SCHEDULE,	/* a slot of the daemon is free again */
	EFFECTS
};

/* What follows from a decision once it is on disk. By key: the run may be gone by then. */
struct effect {
	enum effect_kind kind;
	int64_t run, iteration, slot;	/* ROW_NONE: of no run; slot ROW_NONE: the run's own */
	int64_t id;
};

struct txn;

/* What transactions call of the rooms above; set once, at start. */
struct txn_calls {
	void (*effect)(struct engine *engine, const struct effect *effect);
	void (*reconcile)(struct txn *txn, struct run *run);
};

/* The decision is on disk (COMMIT_OK), or was refused. False, after a refusal: it must be recorded all the same, as soon as there is space. */
typedef bool txn_outcome_cb(void *arg, enum commit_result result);

struct txn *txn_new(struct engine *engine);
void txn_put(struct txn *txn, enum row_kind kind, const void *row);
/* See decision_drop(). */
void txn_drop(struct txn *txn, enum row_kind kind, const void *row);
/* Consumes body. run: ROW_NONE for an event of the daemon. */
void txn_emit(struct txn *txn, const char *type, int64_t run, json_t *body);
void txn_effect(struct txn *txn, enum effect_kind kind, struct run *run, struct slot *slot, int64_t id);
/* EFFECT_HOOK: start the hook of that id, whose run may be over. */
void txn_effect_hook(struct txn *txn, int64_t id);
/* A slot of the daemon may be free, or what somebody wants has changed. */
void txn_effect_schedule(struct txn *txn);
/* What attempts wait for before they start may be there. */
void txn_effect_cooling(struct txn *txn);
/* run 0: it is about none. */
void txn_reply(struct txn *txn, engine_reply_cb *cb, void *arg, int64_t run);
/* A slot of the run has come to rest, or what the run waits for may be there: it is reconciled before the commit. */
void txn_touch(struct txn *txn, struct run *run);
/* Reconciles the runs that were touched, then hands the decision to the store. */
void txn_commit(struct txn *txn);
/* The same, unless nothing is in it. */
void txn_commit_or_drop(struct txn *txn);
int64_t txn_now(const struct txn *txn);
/* To be told the outcome, before the effects. refusable: it may be refused for lack of space, and has changed no working row then. */
void txn_on_outcome(struct txn *txn, bool refusable, txn_outcome_cb *cb, void *arg);

/* engine/effects.c: what each effect does */

extern const struct txn_calls effects_calls;
/* Everything has been found: do what was decided meanwhile. */
void effects_resume(struct engine *engine);

/* lifecycle.c: the run machine applied */

/* Takes rows, and plan out of *plan; plan NULL: read from the row, and NULL is returned when that is damaged. */
struct run *run_new(struct engine *engine, struct run_rows *rows, struct plan *plan);
/* It is over: nobody finds it any more. */
void run_free(struct run *run);
/* It has ended, and everybody was told: free it, and remove what it had on disk for its work. */
void run_cleanup(struct run *run);
struct run *run_find(struct engine *engine, int64_t id);
struct slot *run_slot(struct run *run, int64_t iteration, int64_t number);	/* slot ROW_NONE: its own */
void run_make_slots(struct run *run);
/* What is of the review and not of the work, relative to the workspace: see git_op_spec. Free with strings_free(). */
char **run_artifacts(const struct run *run);
void run_event(struct txn *txn, struct run *run, enum run_event event, const char *cause);
/* Looks at the tasks and slots of the run, and takes what follows from them: the next iteration, a review, an end. */
void run_reconcile(struct txn *txn, struct run *run);
/* What the run does between its slots has failed: nothing more begins. */
void run_failed(struct txn *txn, struct run *run, const char *cause);
/* Somebody said so. */
void run_cancel(struct txn *txn, struct run *run, const char *cause);
bool run_cancelling(const struct run *run);
void run_warn(struct txn *txn, struct run *run, const char *text);
/* It begins to work: who else works, and where they keep their tasks. */
void run_meet(struct txn *txn, struct run *run);
/* Findings that the run ends with by leave of its policy, all at once: each time the whole row is copied. NULL-terminated. */
void run_known_issues(struct txn *txn, struct run *run, char *const *texts);
void run_emit_state(struct txn *txn, const struct run *run);
bool run_is_prepared(const struct run *run);	/* its base is there */
bool run_is_active(const struct run *run);	/* something of it is under way */

/* preparation.c */

/* The run's directory, and the base that its work is compared with. */
void run_prepare(struct run *run);

/* loop.c: from iteration to iteration */

/* Between two iterations, or before the first: wait as long as the plan says, then ask the source. */
void run_load(struct run *run);
/* What the source's program is asked meanwhile is why the run waits, "bd ready"; NULL: nothing any more. */
void run_waits_for(struct txn *txn, struct run *run, const char *what);
/* The source has been asked; list NULL: there was nothing to ask. */
void run_loaded(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd);
void run_begin_iteration(struct txn *txn, struct run *run);
/* False: it was over already. */
bool run_finish_iteration(struct txn *txn, struct run *run);
/* Scope "run": everything is implemented, slot 0 reviews it. */
void run_begin_review(struct txn *txn, struct run *run);
/* Tasks that were never begun, with the reason. */
void run_finish_tasks(struct txn *txn, struct run *run);
void run_add_slot(struct run *run, struct slot_row *row);
/* The loop as run_settle() wants it; *slots is malloc'd, for the caller to free. */
struct loop run_loop(const struct run *run, struct slot_row ***slots);
enum source_kind run_source(const struct run *run);

/* permits.c: the slots of the daemon */

/* Give free slots to those who are next, tell why the rest waits. */
void engine_schedule(struct engine *engine);
/* The same as part of a decision, so that its answer tells what came of it. */
void queue_schedule(struct txn *txn, struct engine *engine);
/* A run enters the schedule: a new one, or one that was found at start. */
void queue_add(struct run *run);
/* The run has ended: who was to come after it never will, unless it succeeded; also who is still on its way to the disk. */
void queue_end_dependants(struct txn *txn, struct run *run);
/* The slot gives its slot of the daemon back, if it has one. */
void queue_give(struct slot *slot);
/* The slot wants one; slot_on_permit() is called when it has it. */
void queue_want(struct slot *slot);
/* The run does nothing between its slots for now: what it keeps for itself goes to one of them that waits for it, or for something else; one that
 * is being cancelled keeps nothing. */
void queue_yield(struct txn *txn, struct run *run);
/* It was found at work: it has a permit. */
void queue_sit(struct slot *slot);
/* What the run wants has changed: its state, or that of its slots. */
void queue_update(struct run *run);

/* claims.c: whose the tasks of shared sources are */

struct claims *claims_new(void);
void claims_free(struct claims *claims);
void claims_load(struct claims *claims, struct claim_row *row);	/* takes row */
/* NULL: nobody ever had it. */
const struct claim_row *claims_find(const struct claims *claims, const char *source, const char *task);
/* A source as claims name it, malloc'd; NULL: its tasks are nobody else's. */
char *claim_source(enum source_kind kind, const char *path);
char *run_claim_source(const struct run *run);
/* Another run has it, or has passed it since this one last asked its source. */
bool run_is_claimed_elsewhere(const struct run *run, const char *task);
/* The claim of a task of the run becomes this; nothing where there are no claims. */
void run_claim(struct txn *txn, struct run *run, const char *task, enum claim_state state);

/* groups.c */

struct groups *groups_new(void);
void groups_free(struct groups *groups);
void groups_load(struct engine *engine, struct group_row *row);	/* takes row */
bool group_is_paused(const struct engine *engine, const char *name);

/* accounts.c: who pays, until when one is exhausted, and what it has spent */

struct accounts *accounts_new(void);
void accounts_free(struct accounts *accounts);
void accounts_load_cooldown(struct engine *engine, struct cooldown_row *row);	/* takes row */
void accounts_load_spend(struct engine *engine, struct spend_row *row);		/* takes row */
/* Puts the row into the transaction and tells it; until one that has passed: lifted. A limit lasts no longer than cooldown_max. */
void account_cool(struct txn *txn, struct engine *engine, const char *account, enum cooldown_kind kind, int64_t until, const char *reason,
    int64_t attempt, const char *set_by);
/* Its service says so to an attempt, in these words, NULL: in none. reset_at ROW_NONE: it does not say until when. What is exhausted for longer stays so. */
void account_exhausted(struct txn *txn, struct engine *engine, const struct attempt_row *a, int64_t reset_at, const char *words);
/* It has served an attempt: it is not exhausted any more, whatever it said before. */
void account_serves(struct txn *txn, struct engine *engine, const struct attempt_row *a);
const struct account_limits *account_limits(struct engine *engine, const char *account);
/* What it has paid for today; all 0 before the first. */
const struct spend_row *account_spend(struct engine *engine, const char *account);
/* An attempt of it has ended: the day's row goes into the txn. Negative numbers are none. */
void account_settle(struct txn *txn, struct engine *engine, const char *account, double cost_usd, int64_t tokens, int64_t wall_ms);

/* task_rows.c */

/* The first line of a text, cut; malloc'd. */
char *task_title(const char *text);
/* With its text; without a position. */
struct task_row *task_row_new(int64_t run, const struct task_item *item);
/* Its source says that it has changed since. */
bool item_is_newer(const struct task_item *item, int64_t at);

/* task_refresh.c: what a source offers */

/* The source has been asked: list is all that it has, by position. */
void offer_take(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd);
/* It is read once only: what other runs do with the tasks of the same one is known here. */
void offer_follow_claims(struct txn *txn, struct run *run);

/* task_source.c: what is asked of a task's source */

void source_begin(struct slot *slot, enum task_op_kind kind);
/* What it is; the strings are the caller's. */
void source_spec(const struct slot *slot, struct source_spec *spec);
/* The operation has failed, but may not do so later: it is to begin again. */
bool source_may_pass(struct slot *slot);
/* The operation is over, and went well. */
void source_done(struct txn *txn, struct slot *slot);

/* agent_pick.c: assign = "agent" */

#define REASON_STAGED "waiting to spawn until those before it have picked a task"

/* The first slots may begin; each further one when those before it have picked or ended. */
void pick_stage(struct txn *txn, struct run *run);
/* Look at the output of the slot's attempt, until it has picked or ended. */
void pick_watch(struct slot *slot);
/* It has ended: a last look, then attempt_collect(). */
void pick_last(struct slot *slot);

/* result_watch.c */

/* The attempt of the slot runs: when it has given its final result, it has limits.post_result to exit; when it makes no progress for its idle
 * limit, it is ended. */
void result_watch(struct slot *slot);

/* notice_watch.c */

/* The attempt of the slot runs: when its program says that its service refuses it for long, it is ended. */
void notice_watch(struct slot *slot);

/* teardown.c: a slot that has come to its end gives back what it took */

void leave_begin(struct txn *txn, struct slot *slot);
void leave_act(struct slot *slot);
/* The operation of row->leaving is over. */
void leave_next(struct txn *txn, struct slot *slot, const char *error);

/* wait.c: what a fault of the host, or of a task source, holds up */

/* The row of the slot says what it waits for, in words that name the place; error: the errno of a fault of the host. Told once; what the slot does
 * meanwhile is the caller's. */
void slot_waits(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why);
/* The same, and the operation of the slot begins again at the time of the next try. */
void slot_wait(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why);
/* That has passed, or it is not waited for any more. Nothing, when the slot did not wait. */
void slot_wait_over(struct txn *txn, struct slot *slot);
/* For how long already, also while it is tried again; 0: it does not wait. */
int64_t slot_waited_ms(struct slot *slot);
/* The run is cancelled: what a slot at its end still has to give back is tried once more, at once. */
void slot_wait_ends(struct slot *slot);

/* machine.c: the slot machine applied */

void slot_init(struct slot *slot, struct run *run, struct slot_row *row);
void slot_release(struct slot *slot);
/* Its phase, or the reason why it waits, is another. */
void slot_emit_phase(struct txn *txn, const struct slot *slot);
/* The only writer of a slot's stage: it enters the next one. A bug when the slot is not in from, or to may not follow. why: NULL for what is
 * done and has no cause. */
void slot_move(struct txn *txn, struct slot *slot, enum slot_stage from, enum slot_stage to, const struct move_why *why);
enum slot_stage slot_stage(const struct slot *slot);
void slot_fail(struct txn *txn, struct slot *slot, const char *cause);
void slot_cancel(struct txn *txn, struct slot *slot);
bool slot_ending(const struct slot *slot);
/* The slot's activity is over in ENDING (or the run's own slot is told to stop): take the last edge. */
void slot_ended(struct txn *txn, struct slot *slot);
struct slot *engine_slot_of(struct engine *engine, int64_t id);
struct task_row *slot_task(const struct slot *slot);	/* NULL: it has none */
const char *slot_task_id(const struct slot *slot);	/* "run" for one that has none */
const struct plan *slot_plan(const struct slot *slot);
/* It has another task from now on; NULL: none. */
void slot_set_task(struct slot *slot, const char *task);
const char *slot_workspace(const struct slot *slot);
char *slot_workdir(const struct slot *slot);	/* malloc'd */
const char *slot_base_tree(const struct slot *slot);
/* What is measured now is measured for a review. */
bool slot_begins_review(const struct slot *slot);
size_t slot_others_met(const struct slot *slot);	/* how many these are */
char **slot_others(const struct slot *slot);	/* paths in its work tree, relative to it, that other runs write; malloc'd, NULL: none */
bool slot_has_checkout(const struct slot *slot);	/* its reviewer works in a checkout of its own */
bool slot_passed(const struct slot *slot);		/* a verdict passed what it has */
/* A slot of the daemon is there: begin, or go on with the attempt that waited. */
void slot_on_permit(struct txn *txn, struct slot *slot);
bool slot_is_merged(const struct slot *slot);		/* it is over, and its commits are on the branch of the run */
/* It does nothing for now: its slot of the daemon is free, or the run's. */
void slot_release_permit(struct txn *txn, struct slot *slot);
struct attempt_row *run_attempt(const struct run *run, int64_t id);

/* hold.c: the human decision queue */

void hold_open(struct txn *txn, struct slot *slot, enum hold_kind kind, const char *reason);
/* Close the slot's open hold, if it has one. */
void hold_close(struct txn *txn, struct slot *slot, enum hold_state state, const char *by, const char *message);
/* The slots that were sent back while the run had no slot of the daemon go on. */
void hold_resume(struct txn *txn, struct run *run);

/* hooks.c */

/* Put a hook row into the txn, if the command is not empty. hold NULL: for the end of the run. */
void hook_add(struct txn *txn, struct run *run, const char *name, char *const *command, const struct hold_row *hold);
/* The same for a wait that has lasted long, in these words; task NULL: none. */
void hook_add_wait(struct txn *txn, struct run *run, const char *task, const char *kind, const char *reason);
void hook_start(struct engine *engine, int64_t id);
struct hook *hook_find(struct engine *engine, int64_t id);
void hook_load(struct engine *engine, struct hook_row *row);
void hook_adopt_all(struct engine *engine);
void hook_ended(struct engine *engine, struct hook *hook, const struct exit_record *record, int status, const char *error);
/* Its number was taken: the next one, and it is started with that. */
void hook_renumber(struct engine *engine, struct hook *hook);
/* Kept until everything is found, see hook_resume_all(). */
void hook_found(struct engine *engine, struct hook *hook, enum proc_found found, const struct exit_record *record);
void hook_resume_all(struct engine *engine);
void hook_free(struct hook *hook);

/* attempt_start.c */

/* The gate of every attempt: it starts, or waits and is asked again. */
void attempt_compose(struct slot *slot);

/* spending.c: what runs and their accounts may spend */

/* Why nothing more of the run may be started: "$5.20 of $5.00 are spent (max_cost)"; "": it may. */
void run_spent(const struct run *run, char out[RUN_SPENT_MAX]);
/* Its max_wall is over; ms until then, at least 1, ROW_NONE: it has none. */
bool run_is_out_of_time(const struct run *run);
int64_t run_time_left(const struct run *run);
/* The run may spend no more, so the attempt of the slot has ended before it started. */
bool attempt_overspends(struct slot *slot);
/* Why the attempt has to wait for others that are under way, malloc'd; NULL: it need not. account: that would pay for it. */
char *budget_waits(struct slot *slot, const struct attempt_row *a, const char *account);
/* Something is set aside for it, if there is a limit; false: nothing more than before. */
bool budget_reserve(struct slot *slot, struct attempt_row *a);
/* It does not start yet; false: nothing was set aside. */
bool budget_release(struct attempt_row *a);
/* It has ended, as its row says already: what it has cost takes the place of what was set aside. The caller puts the row. */
void budget_settle(struct txn *txn, const struct slot *slot, struct attempt_row *a);
/* The run has been started: it is warned when most of its time is over, and what waits for an account ends with it, also when nothing else
 * happens then. */
void budget_watch(struct run *run);
/* What the account may pay for today is spent. */
bool account_is_spent(struct engine *engine, const char *account);
/* If so, it is exhausted for today; the same of all accounts. */
void account_look(struct engine *engine, const char *account);
void accounts_look(struct engine *engine);

/* account_wait.c: what an attempt waits for before it starts */

/* The attempt of the slot may not start yet: it waits for an account or a time, without a permit. */
bool attempt_waits(struct slot *slot);
/* It may: what has changed since it was decided (which agent does it, that it cools no more) is being recorded, and then it comes to the gate
 * again. False: nothing has. */
bool attempt_settles(struct slot *slot);
/* It may, but for a slot of the daemon: what it had set aside is for others. cooled: so far it waited for an account or a time, which is no
 * reason any more; that it has not been started stays on record. */
void attempt_queues(struct slot *slot, bool cooled);
/* All that wait are asked again; those of one run. */
void cooling_look(struct engine *engine);
void cooling_look_at(struct run *run);

/* retry.c: attempts that were cut off */

/* The attempt before a of its slot, when it was cut off in the middle of the same work: lost, or not served. NULL: it was not. */
const struct attempt_row *attempt_interrupted(const struct slot *slot, const struct attempt_row *a);
/* The attempt whose conversation a goes on with, ROW_NONE: it begins a new one. */
int64_t attempt_resumes(const struct slot *slot, const struct attempt_row *a);
/* Its service did not serve it, or the host (fault: the errno), and said so in these words: the same again, later. NULL: in none. */
void attempt_begin_again(struct txn *txn, struct slot *slot, const struct attempt_row *a, const struct attempt_facts *facts, enum slot_stage to,
    int fault, const char *words);

/* attempt.c */

void attempt_begin(struct txn *txn, struct slot *slot, enum role role);
void attempt_collect(struct slot *slot);
/* It was decided, and is not started after all, since its run is at a limit: so its slot fails. */
void attempt_forgone(struct txn *txn, struct slot *slot, const char *cause);
/* It was decided, and is cancelled before anything of it ran. */
void attempt_unstarted(struct txn *txn, struct slot *slot);
void attempt_started(struct slot *slot);
void attempt_refused(struct slot *slot, int status, const char *error);	/* status: errno, 0: none */
/* Its number was taken: it has never begun, and gets the next one. */
void attempt_renumber(struct slot *slot);
/* record NULL: lost. */
void attempt_ended(struct slot *slot, const struct exit_record *record, const char *detail);

/* git_request.c: what git is asked */

void git_begin(struct slot *slot, enum git_op_kind kind);
/* The work tree or checkout that an operation is about, malloc'd; NULL: none. */
char *git_dir(const struct slot *slot, enum git_op_kind kind);
/* The commit that an operation is about. */
const char *git_commit_of(const struct slot *slot, enum git_op_kind kind);
/* Is it something that only one slot may do at a time? */
bool git_takes_turns(enum git_op_kind kind);
/* ... which is over: the next one may. */
void git_turn_over(struct txn *txn, struct slot *slot);

/* head.c: commits that agents make by themselves in a shared work tree */

/* HEAD where the work began; NULL: it is not known, or the slot has a work tree of its own. */
const char *slot_head(const struct slot *slot);
/* The slot has ended, and nobody has looked yet what HEAD is. */
bool head_is_open(const struct slot *slot);
/* The slot has its commit: what else came onto HEAD is told. */
void head_committed(struct txn *txn, struct slot *slot);
/* LOOK has its answer. */
void head_looked(struct txn *txn, struct slot *slot);

/* ref_names.c: names in the repository, all malloc'd */

/* The ref that an operation is about; NULL: none. */
char *git_ref(const struct slot *slot, enum git_op_kind kind);
/* Of a MERGE: what the branch of the task had before a conflict, and the note that it was merged. */
char *git_keep_ref(const struct slot *slot);
char *git_note_ref(const struct slot *slot);
/* Short names of branches: with the results of a run, and of a slot's work tree. */
char *git_result_branch(int64_t run);
char *git_branch(const struct slot *slot);

/* git_result.c: what its answer means */

void git_done(struct txn *txn, struct slot *slot, int64_t last_step);
/* Where the slot's work tree will be, and what it is made at: on record before anything of it is there. */
void git_lay(struct slot *slot);

/* operation.c: an operation, step by step */

/* The operation is slot->op: ask it for its first step. */
void step_first(struct slot *slot);
void step_launch(struct slot *slot);
void step_refused(struct slot *slot, int status, const char *error);	/* status: errno, 0: none */
/* The same as attempt_renumber(). */
void step_renumber(struct slot *slot);
void step_ended(struct slot *slot, const struct exit_record *record);
/* The step's process is gone without a trace: the operation is run again, three times at most. */
void step_lost(struct slot *slot);

/* publication.c */

void review_write_log(struct run *run, struct slot *slot);
void run_write_report(struct run *run);

/* reviewing.c */

void review_judge(struct slot *slot, const char *changed, const char *appeared);
/* A round has come to an end that is neither pass nor findings by a reviewer: what the policy says. cause: why. */
void review_over(struct txn *txn, struct slot *slot, enum round_end end, const char *cause);
void review_skip(struct txn *txn, struct slot *slot, const char *reason);

/* review_rows.c */

/* The review attempt of the slot has said something, or failed to. decision, feedback: see struct review_row. */
struct finding_counts review_append(struct txn *txn, struct slot *slot, const char *decision, const char *feedback, const struct verdict *v);
void review_error(struct txn *txn, struct slot *slot, const char *cause);
/* A human has the last word about a held task. */
void review_human(struct txn *txn, struct slot *slot, const char *decision, const char *by, const char *message);
/* The corrector's marks are told as resolved findings; the rows that say so are those of the next review. */
void review_marked(struct txn *txn, struct slot *slot, const struct verdict_finding *marks, size_t count);
/* The newest review of what the slot has done; NULL: there was none yet. */
const struct review_row *review_last(const struct slot *slot);
/* The finding that comes after number `after` of the last review and is a fixer's to settle, NULL: none. */
const struct finding_row *review_item(const struct slot *slot, int64_t after);
int64_t review_items_left(const struct slot *slot);
/* "src/foo.ts:42: the comment", malloc'd. */
char *review_issue(const struct finding_row *finding);
/* The same of all findings of the last review that somebody has to settle. Free with strings_free(); NULL: none. */
char **review_issues(const struct slot *slot);
/* JSON array of the last review's findings, malloc'd; NULL: none. */
char *review_findings_json(const struct slot *slot);

/* submission.c */

/* Hands all submits that wait to a worker; file_queue_done() when they are decided. */
void submit_intake(struct engine *engine);
void submit_refused(struct pending_submit *p, int code, const char *message, const char *hint, const char *field);

/* file_queue.c */

/* Begin what is next, unless something is under way. */
void file_queue_next(struct engine *engine);
/* What was under way is over. */
void file_queue_done(struct engine *engine);
/* Those who wait for the file queue wait no longer: it will not come to them. */
void file_queue_stop(struct engine *engine);
/* Takes environment, blob and leftover; see struct file_job. */
void file_queue_cleanup(struct engine *engine, int64_t run, char *environment, char *blob, char *leftover, bool sweep);
/* A log or a report, after those that were handed in before. Takes work. */
void file_queue_write(struct engine *engine, struct work *work, enum work_kind kind);

/* recover.c: every unfinished attempt is classified: go on. */
void engine_resume(struct engine *engine);

#define HOST_LOOK_MS 1000	/* until file work that the host kept from being done is tried again */

/* Start file work with the engine's directories filled in. */
void engine_work(struct engine *engine, struct work *work, enum work_kind kind, void (*done)(void *arg, struct work *work), void *arg);
/* The same in ms from now. */
void engine_work_later(struct engine *engine, int64_t ms, struct work *work, enum work_kind kind,
    void (*done)(void *arg, struct work *work), void *arg);
int64_t engine_now(struct engine *engine);

#endif
