/* SPDX-License-Identifier: MIT */
/* The simulated world: a store, processes, files and humans that exist only in memory, behind the
 * engine's ports. Every choice comes from one seed, so the same seed gives the same history. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

enum fate_result { FATE_OK, FATE_ERROR, FATE_EXIT, FATE_SIGNAL, FATE_TIMEOUT, FATE_NOT_STARTED, FATE_LOST,
	FATE_LIMIT, FATE_THROTTLED, FATE_HICCUP,	/* its service did not serve it */
	FATE_AUTH,					/* nor will it: its key is no good */
	FATE_HOST,					/* a fault of the host kept
							 * it from starting */
	FATE_RESULTS };
enum fate_verdict { FATE_PASS, FATE_FINDINGS, FATE_MALFORMED, FATE_UNREADABLE, FATE_VERDICTS };
enum fate_answer { FATE_ANSWER_NEW, FATE_ANSWER_SAME, FATE_ANSWER_NONE, FATE_ANSWERS };

/* What the world gives for one attempt, decided when it is first asked for and then for good: it
 * does not depend on how often the daemon died in between. */
struct fate {
	int result;		/* enum fate_result */
	int verdict;		/* review: enum fate_verdict */
	bool same;		/* findings: the one that every such review has is among them */
	int fresh;		/* findings: how many that nobody had before */
	bool suggestion;	/* review in profile "comments": a remark beside them */
	bool changes_tree;	/* implement, fix: yes, it does something; review: it must not */
	bool goes_back;		/* fix: what it does is to undo the last change */
	bool lingers;		/* OK, ERROR: when it has said that, it does not exit by itself */
	bool denied;
	/* fix: it disputes the finding that is always the same, and others */
	bool disputes;
	bool asks;		/* implement, fix: it asks a human something */
	bool stop;		/* implement, fix: it says that there is nothing to do */
	bool says_no_change;	/* implement: it says that nothing is to be changed */
	bool refused;		/* a hook of the repository refuses what is committed after it */
	/* a hook of the repository changes what is committed after it */
	bool hook_changes;
	bool prepared;			/* another room was prepared meanwhile */
	bool ref_moved;		/* somebody moves a ref of ours after it */
	bool unresolved;	/* it leaves the marks of a conflict where they are */
	bool conflict;		/* what is merged after it conflicts with what others have merged */
	int answer;		/* enum fate_answer */
	int64_t reset_in;	/* LIMIT, THROTTLED: ms until it serves again, as it says;
				 * ROW_NONE: it does not say */
	bool silent;		/* LIMIT, THROTTLED, HICCUP: the program waited until
				 * a clock ended it */
	bool unreached;		/* NOT_STARTED, of a list of machines */
	bool over;		/* LOST, behind a launcher: it was seen to end there */
	bool reports;		/* LIMIT for long, AUTH: it asks again and again, and says so, until
				 * it is ended; where nobody reads that it gives up */
	int64_t not_before;	/* TIME */
	const char *told;	/* fix: whose word it was given, "review", "check", "human"; NULL:
				 * nobody has built it */
	double cost;		/* that it tells, NaN: it does not */
	int64_t tokens;		/* the same, ROW_NONE */
	int started;		/* how often a process was really started: more than
				 * once is paid twice */
};

/* How a human answers a question. */
#define WORLD_ANSWER "take B"

struct world;

/* crowd: 64 slots and two runs on 40 beads. */
struct world *world_new(uint64_t seed, bool crowd);
/* A day of so many runs in so many slots: day.h. */
struct world *world_new_day(uint64_t seed, int64_t runs, int64_t slots);
void world_free(struct world *w);

/* One random thing happens: a client asks, a commit lands, a report comes in, a process ends,
 * the daemon dies. What it is, static. */
const char *world_step(struct world *w);
/* From where its choices come: to be kept, and to be set again. */
uint64_t *world_random(struct world *w);
/* Nothing new from clients, no deaths: let everything run to its end. false: it does
 * not end (a hang). */
bool world_settle(struct world *w);
/* At rest: every hook has been told, every file written, every answer of a human kept. */
void world_check_end(struct world *w);
/* At any moment: slots, processes, holds. */
void world_check(struct world *w);

/* What is on disk. */
const struct view *world_disk(const struct world *w);
const struct plan *world_plan(const struct world *w, int64_t run);
/* The settings of a task, those of the run where it has none. task NULL: the run's. */
const struct plan *world_task_plan(const struct world *w, int64_t run, const char *task);
/* The agent of an attempt by that plan. */
const struct agent_plan *world_agent(const struct plan *plan, const struct attempt_row *a);
/* Whether a launcher has placed its process. */
bool world_is_placed(const struct plan *plan, const struct attempt_row *a);
/* What git and its source answered a slot, in order; at most max. */
struct world_answer {
	char what;		/* see struct ref_answer */
	int64_t value;
};
/* The last operation of the slot, when its process was killed three times; otherwise NULL. */
const char *world_killed(const struct world *w, const struct slot_row *slot);
int world_answers(const struct world *w, int64_t run, int64_t iteration, int64_t slot,
    struct world_answer *out, int max);
/* NULL: nobody has asked for it yet. */
/* Its service did not serve it: 'c' its account is exhausted, 't' it may be tried again; 'h' the
 * host kept it from starting; 0: nothing of the kind. */
char service_says(const struct fate *f);
const struct fate *world_fate(const struct world *w, int64_t attempt);
/* true: a cancel of this run was answered "done" before the run ended. */
bool world_cancel_acked(const struct world *w, int64_t run);
/* A cancel was asked for at all, answered or not. */
bool world_cancel_asked(const struct world *w, int64_t run);
/* The run has no money, tokens or time left; with what is on disk, and as late as its end,
 * or as it is now. */
bool world_is_spent(const struct world *w, const struct run_rows *rows);
int64_t world_crashes(const struct world *w);

/* First broken law of the world itself (paid twice, started before its row was durable,
 * ...), NULL: none. */
const char *world_error(const struct world *w);
void world_fail(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

uint64_t random_next(uint64_t *state);

#endif
