/* SPDX-License-Identifier: MIT */
/* The insides of the simulated world, shared by its files. Each of them says what part of
 * the world it is. */
#ifndef SIM_WORLD_INT_H
#define SIM_WORLD_INT_H

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/notice.h"
#include "core/decision.h"
#include "core/plan.h"
#include "core/row.h"
#include "git/git_op.h"
#include "job/collect.h"
#include "job/read_notice.h"
#include "job/read_pick.h"
#include "job/read_result.h"
#include "job/secrets.h"
#include "model/briefing.h"
#include "model/dirs.h"
#include "model/job.h"
#include "model/model.h"
#include "model/ports.h"
#include "model/reply.h"
#include "model/view.h"
#include "proc/launch.h"
#include "proto/memory.h"
#include "task/pick.h"
#include "task/task_op.h"
#include "verdict/verdict.h"
#include "world.h"

#define RUNS_MAX 64		/* of one random history */
#define IDS_MAX 32768		/* attempts, steps and hooks of it */
#define ACCOUNTS 2
extern const char *const world_accounts[ACCOUNTS + 1];
#define OWN (-1)		/* slot of struct where: the run's own slot */

/* A slot of a run, for good: no two have the same. */
struct where {
	int64_t run, iteration, slot;
};

struct pending_commit {
	struct decision *d;
	bool refusable;
	void (*done)(void *arg, enum commit_result result, struct decision *d);
	void *arg;
};

struct pending_job {
	int64_t at;		/* when it is due; random histories wait for nothing */
	struct job *job;	/* NULL: a wake */
	struct wake wake;
	wake_due_cb *due;
	void (*done)(void *arg, struct job *job);
	void *arg;
};

struct pending_text {
	int64_t run;
	char *task;
	void (*done)(void *arg, const char *text, size_t size);
	/* instead of done: evidence of other runs about the tree, which stands in task */
	void (*rows)(void *arg, void **rows, size_t count);
	/* ... what judges the run */
	void (*judge)(void *arg, struct judge_row *row);
	int64_t since;
	void *arg;
};

enum proc_kind { PROC_ATTEMPT, PROC_STEP, PROC_HOOK };
enum proc_state { PROC_STARTING, PROC_RUNNING, PROC_ENDED, PROC_GONE };

struct process {
	int64_t id, run;
	enum proc_kind kind;
	enum proc_state state;
	bool told_started;	/* to the daemon that lives now */
	bool watched;		/* by the daemon that lives now */
	bool ending;		/* it was told to end */
	bool taken;		/* somebody has made its directory: it never begins */
	bool winding;		/* its result has been read */
	int64_t due;			/* of a day: when it ends by itself */
	struct exit_record record;
};

struct question {
	int64_t id;
	char *boot;
};

/* A cancel. */
struct asked {
	int64_t run;
	bool acked;
};

/* A human's decision about a hold. */
struct said {
	struct world *world;
	int64_t hold;
	enum hold_decision decision;
	bool check, wrong;	/* wrong: it must be refused, whenever it arrives */
	bool acked;
};

/* A user's decision that a finding need not be fixed. */
struct dismissed {
	struct world *world;
	int64_t run;
	char *task, *finding;
	bool check, acked;
};

/* A hook as the disk has it. */
struct hook_told {
	struct hook_row *row;
	bool ran;
};

/* A task's text as the disk has it. */
struct kept_text {
	int64_t run;
	char *task, *text;
};

/* What git or a source answered a slot. It counts from when the decision that is made of it is on
 * disk: what a dead daemon has not written down it has not heard. */
struct answer {
	struct where where;
	char what;		/* see struct ref_answer */
	int64_t value;
	int64_t commit;		/* ordinal number of that decision */
	bool landed;
};

/* The last operation of a slot that had a process, and how many of its processes were killed. */
struct kill {
	struct where where;
	char *operation;
	int count;
};

/* A directory in which agents and git work: a workspace, a work tree, a checkout. */
struct place {
	char *path;
	int64_t tree;		/* what lies there; the same number is the same content */
	int64_t before;		/* what lay there before an agent's last change; 0: not known */
	int64_t head;		/* commit that is checked out, 0: unborn */
	struct where where;	/* work trees and checkouts: whose */
	char *branch;		/* work trees: checked out in it */
	bool there;		/* work trees: created and not yet removed */
	bool rest;		/* work trees: removed, and not all is deleted */
	int created;		/* how often it came to be */
	int64_t saved;		/* cleared: commit that has what only it had; 0: nothing */
	bool conflict;		/* work trees: what does not fit is marked in it */
	bool fresh;		/* checkouts: as git has unpacked them */
};

/* A commit. */
struct made {
	int64_t tree, parent;
	struct where where;	/* whose work it is */
	int64_t of;		/* the commit that this one is a copy of on another
				 * tip, itself else */
};

struct branch {
	char *ref;
	int64_t tip;
};

/* A bead as its directory has it. */
struct bead {
	const char *dir;
	char *id;
	int64_t priority;
	const char *after;	/* id of the one that blocks it, NULL */
	enum { BEAD_OPEN, BEAD_BUSY, BEAD_CLOSED } status;
	char *assignee;
	int64_t changed_at;
	bool ours_passed;	/* a run has passed it, and nobody has opened it again */
	int64_t passed_by;
};

/* What an agent that picks its task by itself has said. */
struct picked {
	int64_t attempt;
	char *id;		/* NULL: nothing */
};

/* Somebody paused a run or a group. */
struct paused {
	struct world *world;
	int64_t run;		/* 0: a group */
	const char *group;
	int64_t asked;		/* how often something was asked about it */
	bool said;		/* the last word about it was "paused" */
	bool acked;		/* ... and it was answered */
};

/* One such word. */
struct pause_word {
	struct paused *paused;
	int64_t number;
	bool pause;
};

/* Settings of a task alone. */
struct task_plan {
	int64_t run;
	char *task;
	struct plan *plan;
};

#define HELD_RUNS 256

#define LIST_OF(type, name) type *name; size_t n##name

struct world {
	uint64_t random;
	bool calm;			/* the daemon of this world never dies */
	bool merges;			/* most of its work passes, and is merged */
	bool red;			/* ... or fails, for a while */
	struct day *day;		/* see day.h; NULL: a random history */
	bool crowd;			/* many slots, and more than one run, on the
					 * same few beads */
	int64_t now, uuid, boot, parallel;
	struct engine *engine;
	struct view *disk;
	const struct decision *landed;	/* the decision that is being reported as recorded */
	/* ... and how far */
	enum { REPORTED_NOTHING, REPORTED_ANSWERS, REPORTED_EVENTS } reported;
	int64_t runs_max, ids_max;	/* room in what follows, by id */
	struct plan **plans;
	char **logs;			/* review log of the run's task as last written */
	bool *unlogged;			/* a log could not be written */
	struct run_rows **reports;
	struct git_op **merging;	/* which merge of the run is under way */
	int64_t *runs_of;		/* of attempts */
	struct process **procs;
	struct fate **fates;
	int64_t last_run, last_attempt, last_hold;	/* ids on disk */
	LIST_OF(struct pending_commit, commits);
	LIST_OF(struct pending_job, jobs);
	LIST_OF(struct pending_text, reads);
	LIST_OF(struct question, questions);
	LIST_OF(struct asked, asked);
	LIST_OF(struct said *, said);
	LIST_OF(struct dismissed *, dismissed);
	LIST_OF(struct hook_told, told);
	LIST_OF(struct kept_text, texts);
	LIST_OF(struct judge_row *, judges);
	LIST_OF(struct answer, answers);
	LIST_OF(struct kill, kills);
	LIST_OF(struct place *, places);
	LIST_OF(struct made, made);
	LIST_OF(struct where, early);	/* slots that asked their base before the baseline was */
	LIST_OF(struct branch, branches);
	LIST_OF(struct bead, beads);
	LIST_OF(struct picked, picks);
	LIST_OF(struct paused *, paused);
	LIST_OF(struct claim_row *, claims);
	LIST_OF(struct group_row *, groups);
	LIST_OF(struct cooldown_row *, cooldowns);
	LIST_OF(struct spend_row *, spends);
	LIST_OF(struct salvage_row *, salvage);
	double paid[ACCOUNTS][2];	/* by attempts of runs that are forgotten: cost, tokens */
	int64_t trees;			/* contents so far */
	int64_t asked_commits, landed_commits;	/* decisions handed to the store, and
						 * those on disk */
	bool settling;			/* nothing new, and nobody is paused any more */
	LIST_OF(struct task_plan, task_plans);
	struct account_limits limits[ACCOUNTS];
	bool low_disk;			/* too little free space to start anything */
	int64_t held[HELD_RUNS];	/* slots of the daemon that each run had last */
	int64_t used, night_used;	/* slots of the daemon, and of group "night", when they
					 * were last looked at */
	LIST_OF(struct process *, live);	/* those of which something is still to come */
	int64_t crashes;
	bool dying;			/* replies of a dead daemon reach nobody */
	char error[512];
};

#define PUSH(list, value) do {								\
		w->list = xreallocarray(w->list, w->n##list + 1, sizeof(*w->list));	\
		w->list[w->n##list++] = (value);					\
	} while (0)

/* Those of a list of which the condition, about at, is true are released, and go. */
#define REMOVE_IF(list, at, condition, release) do {						\
		size_t kept_ = 0;							\
		for (size_t at = 0; at < w->n##list; at++) {				\
			if (condition) {						\
				release;						\
				continue;						\
			}								\
			w->list[kept_++] = w->list[at];					\
		}									\
		w->n##list = kept_;							\
	} while (0)

#define REMOVE(list, at) do {								\
		memmove(w->list + (at), w->list + (at) + 1, (w->n##list - (at) - 1) * sizeof(*w->list)); \
		w->n##list--;								\
	} while (0)

unsigned below(struct world *w, unsigned limit);
/* One in so many; in a day, which lasts, far fewer. */
bool rarely(struct world *w, unsigned limit);
struct fate *fate_of(struct world *w, int64_t id);

bool starts_with(const char *text, const char *prefix);
bool same_where(struct where a, struct where b);

/* disk.c */
void port_commit(void *ctx, struct decision *d, bool refusable,
    void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg);
void port_evidence(void *ctx, int64_t run, const char *tree, int64_t since,
    void (*done)(void *arg, void **rows, size_t count), void *arg);
void port_judge(void *ctx, int64_t run, void (*done)(void *arg, struct judge_row *row), void *arg);
void port_task_text(void *ctx, int64_t run, const char *task,
    void (*done)(void *arg, const char *text, size_t size), void *arg);
void disk_commit(struct world *w, bool report);
void disk_read_text(struct world *w);
void disk_committed(void *arg, const struct decision *d);
void disk_effect(struct world *w);
void disk_answer(struct world *w, const struct engine_reply *reply);
const struct attempt_row *disk_attempt(const struct world *w, int64_t id);
/* The run of an unfinished step, ROW_NONE: there is none. */
int64_t disk_step(const struct world *w, int64_t id);
struct hook_told *disk_hook(const struct world *w, int64_t id);
const struct hold_row *disk_hold(const struct world *w, int64_t id);
const struct slot_row *disk_slot(const struct world *w, struct where where);
/* Of the attempt; one of a panel has a voter. */
const struct slot_row *disk_slot_of(const struct world *w, const struct attempt_row *a);
const struct task_row *disk_task(const struct world *w, int64_t run, const char *id);

/* laws.c: what must hold of each row, each decision and at each moment */
void law_row(struct world *w, enum row_kind kind, const void *row);
void law_decision(struct world *w, const struct decision *d);
/* Before it is on disk. */
void law_news(struct world *w, const struct decision *d);
/* no slot of a run that rolls is idle while a task is ready */
void law_rolls(struct world *w, const struct run_rows *rows);
void law_start(struct world *w, const struct attempt_row *row);
/* At rest: what was spent is what the attempts have cost. */
void money_check_end(struct world *w);
/* Nobody pays for it. */
bool money_is_free(const struct world *w, const struct attempt_row *row);
/* Nothing is left of it, or of the tokens, as far as that is on disk. */
bool money_is_gone(const struct world *w, const struct run_rows *rows);
/* An attempt begins, or does not for want of money. */
void money_start(struct world *w, const struct attempt_row *row);
void money_forgone(struct world *w, const struct attempt_row *row);
/* Before it is handed to the store, while nothing else is on its way. */
void law_fair(struct world *w, const struct decision *d);

/* memory.c: no commit is in flight: the engine's working rows equal those on disk */
void memory_check(struct world *w);

/* answers.c */
/* To be called around the delivery of an answer: what the engine decides meanwhile
 * stands for it. */
void answer_given(struct world *w, struct where where, char what, int64_t value, int64_t before);
void answers_landed(struct world *w);
void answers_lost(struct world *w);

/* git.c */
enum step_next git_move(struct world *w, struct git_op *op, bool ok);
/* What its answer is in the story of the slot, 0: of none. */
char git_answer(const struct git_op *op, enum step_next next, struct where *where, int64_t *value);
struct place *place_of(struct world *w, const char *path);
/* Where the attempts of a slot work. */
struct place *place_of_slot(struct world *w, const struct slot_row *slot);
/* Is the one commit the other or an ancestor of it? */
bool git_is_before(const struct world *w, const char *older, const char *newer);
void git_check_end(struct world *w);

/* tasks.c: sources */
void beads_init(struct world *w);
void beads_free(struct world *w);
enum step_next source_move(struct world *w, struct task_op *op, bool ok);
char source_answer(const struct task_op *op, enum step_next next);
/* The imaginary other program does something. */
void beads_other(struct world *w);
struct bead *bead_find(struct world *w, const char *dir, const char *id);
bool beads_have_bd(const char *dir);
void job_pick(struct world *w, struct pick_job *job);
void tasks_check_end(struct world *w);

/* processes.c */
void port_start(void *ctx, struct launch *launch);
void port_end(void *ctx, int64_t id);
void port_wind_up(void *ctx, int64_t id);
void port_stalled(void *ctx, int64_t id);
void job_result(struct world *w, struct result_job *job);
void port_adopt(void *ctx, const struct adopt *adopt);
const char *port_boot(void *ctx);
bool processes_move(struct world *w);
bool processes_wait(const struct world *w);
/* Of a day: when the next of them does something, INT64_MAX: none does. */
int64_t processes_due(struct world *w);
/* The daemon has died. */
void processes_orphaned(struct world *w, bool reboot);
void processes_answer(struct world *w);
void processes_check(struct world *w);
void hooks_check_end(struct world *w);

/* files.c */
void port_job(void *ctx, struct job *job, void (*done)(void *arg, struct job *job), void *arg);
void port_job_later(void *ctx, int64_t ms, struct job *job, void (*done)(void *arg, struct job *job), void *arg);
void port_wake(void *ctx, const struct wake *wake, wake_due_cb *due, void *arg);
/* false: there is none; or, of a day, each has to wait. */
bool files_job(struct world *w);
void files_check_end(struct world *w);

/* services.c: what the services of agents refuse */
void service_draw(struct world *w, struct fate *f);
void service_collect(struct world *w, const struct fate *f, struct collect_job *job);
/* Its program says again and again that it is refused, and there is one to read it. */
bool service_refuses(struct world *w, int64_t attempt);
void job_notice(struct world *w, struct notice_job *job);
void law_refused(struct world *w, const struct attempt_row *before, const struct attempt_row *row);
/* What a slot of the decision has used, before it is on disk. */
void law_uses_nothing(struct world *w, const struct decision *d, const struct slot_row *before,
    const struct slot_row *row);
/* An attempt of the decision, which is on disk. */
void law_again(struct world *w, const struct decision *d, const struct attempt_row *a);
void law_served(struct world *w, const struct attempt_row *before, const struct attempt_row *row);
void law_warm(struct world *w, const struct attempt_row *row, const struct slot_row *slot);
void law_resumes(struct world *w, const struct attempt_row *row);
void law_cooling(struct world *w, const struct slot_row *row);
void services_check(struct world *w);
void client_cooldown(struct world *w);

/* submits.c */
void client_submit(struct world *w);

/* world.c */
/* Something that was already under way moves on. false: nothing is. */
bool world_move(struct world *w, const char **name);
/* kill -9: commits that wait may have landed unreported; file work and questions are forgotten;
 * processes go on. reboot: they do not. */
void world_kill(struct world *w, bool reboot);

/* A run that has ended long ago is compared, and forgotten: of each file of the world its part. */
void compare_ended(struct world *w, const struct run_rows *rows);
void answers_retire(struct world *w, int64_t run);
void clients_retire(struct world *w, int64_t run);
void disk_retire(struct world *w, int64_t run);
void git_retire(struct world *w, int64_t run);
void hooks_retire(struct world *w, const struct run_rows *rows);
void money_retire(struct world *w, const struct run_rows *rows);
/* Processes of runs that are forgotten, ids up to *from, where the next call begins. */
void processes_retire(struct world *w, int64_t *from);

/* clients.c */
void submit_cb(void *arg, const struct engine_reply *reply);
void client_cancel(struct world *w);
void client_retry(struct world *w);
/* Retry a run that can be continued, or cancel one whose merges are judged. */
bool client_continue(struct world *w);
void client_hold(struct world *w);
void client_dismiss(struct world *w);
void client_pause(struct world *w);
void client_group(struct world *w);
void client_slots(struct world *w);
void clients_settle(struct world *w);
/* Somebody has said that it is paused, was told that it is so, and nobody has said
 * otherwise since. */
bool is_paused(const struct world *w, const struct run_row *run);
/* The same, but perhaps not answered yet. */
bool may_be_paused(const struct world *w, const struct run_row *run);
void clients_check_end(struct world *w);

#endif
