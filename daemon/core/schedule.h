/* SPDX-License-Identifier: MIT */
/* Who gets the next slot of the daemon: an index over the unfinished runs. Pure: it acts on nothing, and is made again from the rows at
 * every start.
 *
 * A seat is one slot of the daemon. A queued run wants its first; a running one may want more, one for each slot that has a
 * task. Highest priority first, then the owner who has the fewest seats, then the oldest run. A run waits as well while another
 * one is in its workspace, while the run it comes after has not ended, and while its group is paused or has no seat left. Limits are
 * never taken from those who sit: what is lowered only stops further seats.
 *
 * No call costs more when the queue is longer, but for the logarithm; groups and owners are few and may be walked. */
#ifndef CORE_SCHEDULE_H
#define CORE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule;

struct schedule_run {
	int64_t id;
	int64_t owner;
	int64_t priority;		/* higher goes first */
	int64_t after;			/* unfinished run that it comes after, ROW_NONE: none */
	const char *group;
	const char *workspace;		/* only one run at a time is in it; NULL: it shares */
};

struct schedule *schedule_new(int64_t slots);
void schedule_free(struct schedule *s);

void schedule_set_slots(struct schedule *s, int64_t slots);
/* A group that nobody has set has no limit of its own. slots ROW_NONE: no limit. */
void schedule_set_group(struct schedule *s, const char *group, int64_t slots, bool paused);

/* A run, in order of id or not. It wants nothing yet, and is not in its workspace. Strings are copied. */
void schedule_add(struct schedule *s, const struct schedule_run *run);
/* It is over: its seats, its workspace and those who came after it are free. */
void schedule_remove(struct schedule *s, int64_t id);

/* How many seats it wants beyond those it has. */
void schedule_want(struct schedule *s, int64_t id, int64_t seats);
/* It sits down: one seat more, one wanted less, and it is in its workspace. Also beyond every limit: what is found running after
 * a start sits. */
void schedule_take(struct schedule *s, int64_t id);
/* It gives one seat back. It stays in its workspace. */
void schedule_give(struct schedule *s, int64_t id);
/* It is in its workspace without a seat: held, paused. */
void schedule_occupy(struct schedule *s, int64_t id);

/* The run that is to get the next seat, which is taken by schedule_take(); 0: none can. */
int64_t schedule_next(struct schedule *s);

int64_t schedule_seats(const struct schedule *s, int64_t id);	/* of one run */
int64_t schedule_used(const struct schedule *s);		/* of all */
int64_t schedule_group_used(const struct schedule *s, const char *group);

/* Why a run that wants a seat has none, malloc'd: "workdir busy: run 7", "waits for run 7", "group night is paused", "group night: all 4 slots
 * are in use", "all slots of the daemon are in use"; NULL: nothing but its turn, or it wants none. */
char *schedule_reason(struct schedule *s, int64_t id);

/* The runs whose reason may be another than when they were last named here, each once; 0: no more. Lack of slots is told once: that
 * it is another slot that is lacking changes nothing. */
int64_t schedule_changed(struct schedule *s);

/* A run that comes after this one, 0: none. */
int64_t schedule_dependant(const struct schedule *s, int64_t id);

#endif
