/* SPDX-License-Identifier: MIT */
/* Applies decisions: decide, record, commit, act, tell. The face that rpc and main.c see. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "config/config.h"
#include "model/ports.h"
#include "model/view.h"
#include "task/op.h"

struct engine;

struct engine_options {
	const char *state_dir;		/* absolute: attempts/, runs/, env/, blobs/ are in it */
	const char *config_dir;		/* <config>/prompts/ is searched for templates; NULL: none */
	const char *instance;		/* eight hex digits that refs have in their names */
	const char *socket;		/* at which agents and hooks find this daemon; NULL: they are told none */
	int64_t parallel;		/* slots of the whole daemon */
};

/* Told after every commit, with the decision's event rows (seq assigned), on the loop. */
typedef void engine_committed_cb(void *arg, const struct decision *d);

struct engine *engine_new(const struct ports *ports, const struct engine_options *options, engine_committed_cb *committed, void *arg);
/* Start nothing more; submits that still wait are answered "unavailable". Reports and commits that still come in are recorded facts for
 * the next daemon. Then close the store, which reports what was still being committed, then free. */
void engine_stop(struct engine *engine);
void engine_free(struct engine *engine);

/* Start-up, in this order: the highest ids ever used, every row of every unfinished run, then recover: classifies each
 * unfinished attempt before anything effects. */
void engine_load_counters(struct engine *engine, int64_t last_run, int64_t last_attempt, int64_t last_hold);
void engine_load_row(struct engine *engine, enum row_kind kind, void *row);	/* takes row */
void engine_recover(struct engine *engine);

/* Reports of the proc port come in here, with the engine as arg. */
extern const struct proc_sink engine_proc_sink;

const struct view *engine_view(const struct engine *engine);

/* The plan of an unfinished run, NULL for others; valid until the run is forgotten. */
const struct plan *engine_plan(struct engine *engine, int64_t run);

/* True while writing has stopped for want of space: changing requests are refused. Set by main.c. */
void engine_set_full(struct engine *engine, bool full);
void engine_set_parallel(struct engine *engine, int64_t parallel);
/* No new run is started, submits are refused. */
void engine_drain(struct engine *engine);
bool engine_draining(const struct engine *engine);
/* Running runs, submits, commits, hooks, logs and reports under way: 0 = a drained daemon may exit. */
size_t engine_busy(const struct engine *engine);
/* Attempts running now. */
size_t engine_running(const struct engine *engine);

/* Calls cb once when the logs and reports that were to be written until now are written, or never will be: at once, or later on the loop. */
void engine_after_writing(struct engine *engine, void (*cb)(void *arg), void *arg);

/* What a changing request came to. code 0 = done, else a code of proto/error.h. */
struct engine_reply {
	int code;
	const char *message;		/* valid during the callback */
	const char *hint;		/* remedy, may be NULL */
	const char *field;		/* parameter at fault, may be NULL */
	int64_t id;			/* run */
	const struct run_rows *rows;	/* the run after the change, NULL on error and for check; valid during the callback */
};

/* Exactly one reply per request, on the loop, after the commit. */
typedef void engine_reply_cb(void *arg, const struct engine_reply *reply);

/* A run to be. engine_submit() copies all but the plan, which it takes over. */
struct submission {
	int64_t owner;			/* uid */
	const char *workdir;		/* absolute */
	enum source_kind source;
	const char *source_path;	/* see struct run_row; NULL: none */
	const struct task_list *tasks;	/* stories, workflow: what was read; NULL else */
	char *const *task_plans;	/* workflow: the resolved settings of each of tasks, NULL where the run's hold; NULL: of none */
	const char *group;		/* NULL: "default" */
	int64_t after;			/* run that it comes after; ROW_NONE: none. One that has ended must have succeeded: the caller sees to it */
	const char *task;		/* PROMPT: text, NULL when task_blob is given */
	size_t task_size;
	const char *task_blob;		/* name of an uploaded blob */
	char *const *environment;	/* NULL-terminated "K=V" as captured by the client; NULL: none */
	const char *key;		/* idempotency key, which no run and no submit under way has: the caller sees to it; NULL: none */
	const char *body_hash;		/* kept with it */
	int64_t priority;
	const char *warnings;		/* JSON list of sentences that the run begins with; NULL: none */
	struct plan *plan;		/* the resolved settings; left zero where they were taken, and the caller's to release either way */
	bool check;			/* validate only */
};

void engine_submit(struct engine *engine, const struct submission *s, engine_reply_cb *cb, void *arg);

/* by: who said so, for the cause: "uid 1000". Codes: not-found, no-space. */
void engine_cancel(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);

/* No attempt of the run is started; what runs ends by itself. A queued run stays in the queue and is passed over. A held one stays held, and
 * a decision starts no attempt: rework and the next task wait in the queue, approve commits. Codes: not-found, no-space, wrong-state (paused already,
 * over). Undone by engine_unpause(), which undoes nothing else. */
void engine_pause(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);
void engine_unpause(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);

/* Live limits of a group, kept over restarts. slots ROW_NONE: as rld.toml says again; -1: as it is. paused 0, 1, or -1: as it is. The group need
 * not have a run. reply.id is 0 and there are no rows. */
void engine_group_set(struct engine *engine, const char *name, int64_t slots, int paused, bool check, engine_reply_cb *cb, void *arg);

struct group_info {
	const char *name;
	int64_t slots;			/* in force; ROW_NONE: no limit */
	bool live;			/* set by engine_group_set(), not by rld.toml */
	int64_t used, queued;		/* slots of the daemon that its runs use, runs in the queue */
	bool paused;
};

/* Every group that is configured, set or has an unfinished run, by name. */
void engine_groups(struct engine *engine, void (*each)(void *arg, const struct group_info *group), void *arg);

/* Groups as rld.toml has them: at start and after a reload. names NULL-terminated, slots beside them. */
void engine_configure_groups(struct engine *engine, const char *const *names, const int64_t *slots);

/* What rld.toml says of a provider account: cooldown_max_ms, how long one may be at most; of a day of UTC: NaN, ROW_NONE: no limit. */
struct account_limits {
	int64_t cooldown_max_ms;
	double budget_day_usd;
	int64_t budget_day_tokens, budget_day_wall_ms;
};

#define ACCOUNT_COOLDOWN_MAX_MS (INT64_C(24) * 3600 * 1000)	/* of an account that rld.toml does not name */

/* Accounts as rld.toml has them: at start and after a reload. names NULL-terminated, limits beside them. */
void engine_configure_accounts(struct engine *engine, const char *const *names, const struct account_limits *limits);

struct account_info {
	const char *name;
	const struct account_limits *limits;
	const struct cooldown_row *cooldown;	/* in force; NULL: none */
	const struct spend_row *spend;		/* of today; NULL: nothing yet */
	double reserved_usd;			/* by attempts that have not ended */
	int64_t reserved_tokens;
	size_t waiting;				/* slots that wait for it */
};

/* The cooldown in force, NULL: none. Valid until the next call about the account. */
const struct cooldown_row *account_cooldown(struct engine *engine, const char *account);

/* Every account that rld.toml names, that was ever exhausted or that has paid for something, by name. */
void engine_accounts(struct engine *engine, void (*each)(void *arg, const struct account_info *account), void *arg);

/* Somebody says that an account is exhausted until then; a time that has passed: that it is not. Who waits for it goes on. reason may be
 * NULL. by: the person's user name. The account need not be known. reply.id is 0 and there are no rows. */
void engine_cooldown_set(struct engine *engine, const char *account, int64_t until, const char *reason, const char *by, bool check,
    engine_reply_cb *cb, void *arg);

enum hold_decision { HOLD_APPROVE, HOLD_REJECT, HOLD_REWORK };

/* A human decides an open hold of an unfinished run. by: the person's user name; message: NULL or "" for none, which rework of
 * anything but a lost attempt refuses with invalid-params. Other codes: not-found, no-space, wrong-state (decided already; approve of a
 * lost attempt; rework in a run that has spent all). The reply's rows are the run's, its holds among them. */
void engine_hold(struct engine *engine, int64_t hold, enum hold_decision decision, const char *by, const char *message, bool check,
    engine_reply_cb *cb, void *arg);

/* A new run of the tasks that did not pass, with the plan of the old one. rows: the old run, from the view or read from
 * the store; copied. A held run is cancelled in the same decision, since the new one needs its workdir. environment:
 * sent anew by the client, because the file of an ended run is gone. */
void engine_retry(struct engine *engine, const struct run_rows *rows, int64_t owner, char *const *environment, bool check,
    engine_reply_cb *cb, void *arg);

#endif
