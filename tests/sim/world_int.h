/* SPDX-License-Identifier: MIT */
/* The insides of the simulated world, shared by its files: disk.c, processes.c, files.c, clients.c and world.c. */
#ifndef SIM_WORLD_INT_H
#define SIM_WORLD_INT_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/work.h"
#include "world.h"

#define RUNS_MAX 64		/* of one world */
#define IDS_MAX 16384		/* attempts, steps and hooks of one world */

struct pending_commit {
	struct decision *d;
	bool refusable;
	void (*done)(void *arg, enum commit_result result, struct decision *d);
	void *arg;
};

struct pending_work {
	struct work *work;
	void (*done)(void *arg, struct work *work);
	void *arg;
};

struct pending_text {
	int64_t run;
	void (*done)(void *arg, const char *text, size_t size);
	void *arg;
};

enum proc_kind { PROC_ATTEMPT, PROC_STEP, PROC_HOOK };
enum proc_state { PROC_STARTING, PROC_RUNNING, PROC_ENDED, PROC_GONE };

struct process {
	int64_t id;
	enum proc_kind kind;
	enum proc_state state;
	bool told_started;	/* to the daemon that lives now */
	bool watched;		/* by the daemon that lives now */
	bool ending;		/* it was told to end */
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

/* A hook as the disk has it. */
struct told {
	struct hook_row *row;
	bool ran;
};

#define LIST_OF(type, name) type *name; size_t n##name

struct world {
	uint64_t random;
	bool calm;			/* the daemon of this world never dies */
	int64_t now, uuid, boot, parallel;
	struct engine *engine;
	struct view *disk;
	const struct decision *landed;	/* the decision that is being reported as recorded */
	char *texts[RUNS_MAX];		/* task text by run */
	struct plan *plans[RUNS_MAX];
	char *logs[RUNS_MAX];		/* review log of the run's task as last written */
	struct run_rows *reports[RUNS_MAX];
	bool fresh[RUNS_MAX];		/* the checkout for the reviewer is as git has laid it out */
	int64_t last_run, last_attempt, last_hold;	/* ids on disk */
	LIST_OF(struct pending_commit, commits);
	LIST_OF(struct pending_work, works);
	LIST_OF(struct pending_text, reads);
	LIST_OF(struct question, questions);
	LIST_OF(struct asked, asked);
	LIST_OF(struct said *, said);
	LIST_OF(struct told, told);
	LIST_OF(struct process *, live);	/* those of which something is still to come */
	struct process *procs[IDS_MAX];
	struct fate *fates[IDS_MAX];
	int64_t crashes;
	bool dying;			/* replies of a dead daemon reach nobody */
	char error[512];
};

#define PUSH(list, value) do {								\
		w->list = xreallocarray(w->list, w->n##list + 1, sizeof(*w->list));	\
		w->list[w->n##list++] = (value);					\
	} while (0)

#define REMOVE(list, at) do {								\
		memmove(w->list + (at), w->list + (at) + 1, (w->n##list - (at) - 1) * sizeof(*w->list)); \
		w->n##list--;								\
	} while (0)

unsigned below(struct world *w, unsigned limit);
struct fate *fate_of(struct world *w, int64_t id);

/* disk.c */
void port_commit(void *ctx, struct decision *d, bool refusable, void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg);
void port_task_text(void *ctx, int64_t run, const char *task, void (*done)(void *arg, const char *text, size_t size), void *arg);
void disk_commit(struct world *w, bool report);
void disk_read_text(struct world *w);
void disk_committed(void *arg, const struct decision *d);
const struct attempt_row *disk_attempt(const struct world *w, int64_t id);
bool disk_step(const struct world *w, int64_t id);
struct told *disk_hook(const struct world *w, int64_t id);
const struct hold_row *disk_hold(const struct world *w, int64_t id);

/* processes.c */
void port_start(void *ctx, struct launch *launch);
void port_end(void *ctx, int64_t id);
void port_adopt(void *ctx, const struct adopt *adopt);
const char *port_boot(void *ctx);
bool processes_move(struct world *w);
bool processes_wait(const struct world *w);
/* The daemon has died. */
void processes_orphaned(struct world *w, bool reboot);
void processes_answer(struct world *w);
void processes_check(struct world *w);
void hooks_check_end(struct world *w);

/* files.c */
void port_work(void *ctx, struct work *work, void (*done)(void *arg, struct work *work), void *arg);
void port_work_later(void *ctx, int64_t ms, struct work *work, void (*done)(void *arg, struct work *work), void *arg);
void files_work(struct world *w);
void files_check_end(struct world *w);

/* clients.c */
void client_submit(struct world *w);
void client_cancel(struct world *w);
void client_retry(struct world *w);
void client_hold(struct world *w);
void clients_check_end(struct world *w);

#endif
