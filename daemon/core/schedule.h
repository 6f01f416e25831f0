/* SPDX-License-Identifier: MIT */
/* The scheduler: which run gets the next slot of the daemon. An index over the unfinished runs;
 * pure: it acts on nothing, and is made again from the rows at every start.
 *
 * A permit is the right to use one slot of the daemon. A queued run wants its first; a running one
 * may want more, one for each slot that has a task. Highest priority first, then the owner with the
 * fewest permits, then the oldest run. A run waits as well while another one is in its workspace,
 * or in one that contains it or lies in it, while the run it comes after has not ended, and while
 * its group is paused or has no permit left. A limit never takes a permit back: what is lowered
 * only stops further ones.
 *
 * The bound: no call costs more when the queue or the history is longer, but for the logarithm.
 * Owners, groups, and the groups and owners that meet in a workspace are few, and are walked;
 * schedule_set_group() walks the workspaces of its group. A call about an id that is not here
 * changes nothing, and answers 0 or NULL. */
#ifndef CORE_SCHEDULE_H
#define CORE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"

struct schedule;

struct schedule_run {
	int64_t id;
	int64_t owner;
	int64_t priority;		/* higher starts first */
	/* run that must end first; ROW_NONE: none; unknown runs count as ended */
	int64_t after;
	const char *group;
	const char *workspace;		/* occupied by one run at a time; NULL: shared */
};

struct schedule *schedule_new(int64_t slots);
void schedule_free(struct schedule *s);

void schedule_set_slots(struct schedule *s, int64_t slots);
/* Limit and pause of a group. A group that was never set has no limit. slots ROW_NONE: no limit. */
void schedule_set_group(struct schedule *s, const char *group, int64_t slots, bool paused);

/* Add a run, once, in any order of ids. It wants nothing yet and is not in its workspace. Strings
 * are copied. */
void schedule_add(struct schedule *s, const struct schedule_run *run);
/* The run has ended: its permits, its workspace and the runs after it are free. */
void schedule_remove(struct schedule *s, int64_t id);

/* Set how many permits the run wants beyond those it has. */
void schedule_want(struct schedule *s, int64_t id, int64_t permits);
/* Give the run a permit; it wants one less, and is in its workspace until it ends. Works beyond
 * every limit and beside other runs there: what is found running after a start has its permits. */
void schedule_take(struct schedule *s, int64_t id);
/* The run gives one permit back and stays in its workspace. */
void schedule_give(struct schedule *s, int64_t id);
/* The run is in its workspace without a permit: held, paused. */
void schedule_occupy(struct schedule *s, int64_t id);

void schedule_set_priority(struct schedule *s, int64_t id, int64_t priority);
/* The run that gets the next permit, by schedule_take(); 0: none can. */
int64_t schedule_next(struct schedule *s);

int64_t schedule_permits(const struct schedule *s, int64_t id);	/* of one run */
int64_t schedule_used(const struct schedule *s);		/* of all */
int64_t schedule_group_used(const struct schedule *s, const char *group);

/* What a run does, as a number of the caller's. When it changes, the runs that wait behind it are
 * to be told again, and those that are next in its workspace. Initially 0. Returns whether it
 * changed. */
bool schedule_note(struct schedule *s, int64_t id, int64_t note);

/* Why a run does not get a permit it wants, the first reason that applies, malloc'd: "waits for run
 * 7", "workdir busy: run 7", "workdir busy: run 7 in /other", "group night is paused", "group
 * night: all 4 slots are in use" ("its only slot is in use"), "all slots of the daemon are in use";
 * NULL: only its turn, or it wants none. Two runs share an exclusive workspace only after a start:
 * then it is the first. *blocker: the run that is named, 0: none is. */
char *schedule_reason(struct schedule *s, int64_t id, enum wait_kind *kind, int64_t *blocker);

/* Let schedule_changed() name the run again, though nothing here has changed. */
void schedule_tell(struct schedule *s, int64_t id);

/* The next run whose reason may have changed since it was last named here, each once; 0: no more.
 * Call when schedule_next() has no more to give. Named are runs that were added, got a permit, or
 * want more; lack of slots, of the group or the daemon, is named once. When a workspace goes to the
 * next run, only the runs that are first at its gates are named, because thousands may wait there:
 * schedule_reason() is always current. A change of a group names all that wait in it, longest wait
 * first, and a caller may leave the rest for later. */
int64_t schedule_changed(struct schedule *s);

#endif
