/* SPDX-License-Identifier: MIT */
/* The queues before the slots of the daemon, one for each owner and group: the inside of
 * core/schedule.h. Pure.
 *
 * A queue is a tree of the runs that may start, in order of priority and age. Where only one run at
 * a time is in a workspace, the runs that want it wait at its gates, one for each queue; only the
 * first at each gate is in the queue, and only while no run is inside. So a workspace that is taken
 * or left costs as much as it has gates, however many runs wait there.
 *
 * The bound: no call costs more with more runs waiting or more runs ended, but for the logarithm.
 * Owners (a daemon serves its own user and root), groups and the gates of a workspace are few; they
 * are lists and are walked. */
#ifndef CORE_OWNER_QUEUE_H
#define CORE_OWNER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "core/waiters.h"

enum queue_state {
	QUEUE_IDLE,			/* wants no permit */
	QUEUE_BEHIND,			/* waits for the end of the run named by `after` */
	QUEUE_GATE,			/* waits to enter its workspace */
	QUEUE_READY			/* inside its workspace, or shares it */
};

struct queue_entry {
	int64_t id, priority;
	int64_t after;			/* ROW_NONE: none */
	int64_t want, permits;
	enum queue_state state;
	bool inside;			/* in its workspace */
	int64_t note;			/* of the caller of the schedule */
	struct gate *gate;
	struct waiter waiter;
	RB_ENTRY(queue_entry) by_id, by_after, at_gate, in_queue;
	TAILQ_ENTRY(queue_entry) in_workspace;
};

/* Runs of one queue with the same workspace. */
struct gate {
	struct workspace *workspace;
	struct owner_queue *queue;
	size_t runs;			/* including those that want no permit */
	RB_HEAD(gate_tree, queue_entry) waiting;
	/* first of them in the queue; NULL: a run is inside, or overlaps, or none waits */
	struct queue_entry *first;
	struct waiters waiters;		/* entries in QUEUE_GATE and QUEUE_READY */
	LIST_ENTRY(gate) of_workspace, of_queue;
};

struct workspace {
	/* NULL: shared by all its runs, none of which waits at a gate */
	char *path;
	TAILQ_HEAD(, queue_entry) inside;
	/* workspaces with a run inside that contain this one, or lie in it: nobody enters */
	size_t overlaps;
	LIST_HEAD(, gate) gates;
	RB_ENTRY(workspace) entry;
};

struct owner_queue {
	struct group *group;
	struct owner *owner;
	RB_HEAD(queue_tree, queue_entry) entries;
	LIST_HEAD(, gate) gates;
	LIST_ENTRY(owner_queue) of_group;
};

struct owner {
	int64_t id, permits;
	size_t queues;			/* including empty ones */
	LIST_ENTRY(owner) entry;
};

struct group {
	char *name;
	int64_t slots, used;		/* slots ROW_NONE: no limit */
	bool paused;
	bool set;			/* configured: stays even without runs */
	LIST_HEAD(, owner_queue) queues;
	LIST_ENTRY(group) entry;
};

struct queues {
	LIST_HEAD(, owner) owners;
	LIST_HEAD(, group) groups;
	RB_HEAD(path_tree, workspace) workspaces;
	struct workspace shared;
};

void queues_init(struct queues *queues);

/* Find or create the gate of such a run, with a reference; the last one to be put back frees it.
 * path NULL: the workspace is shared. */
struct gate *gate_get(struct queues *queues, const char *path, const char *group, int64_t owner);
void gate_put(struct queues *queues, struct gate *gate);

struct group *group_get(struct queues *queues, const char *name);
/* NULL: no such group. */
struct group *group_find(const struct queues *queues, const char *name);
/* Free the group, unless it is configured or has runs. */
void group_put(struct group *group);
bool group_is_full(const struct group *group);

/* Enter the run in, or remove it from, the queue of its state. */
void queue_enter(struct queue_entry *entry);
void queue_leave(struct queue_entry *entry);
void gate_enter(struct queue_entry *entry);
void gate_leave(struct queue_entry *entry);

/* A run has entered the workspace, or an overlapping one; or none is inside any more. */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);
/* The first of those that wait at it; NULL: none does. */
struct queue_entry *gate_next(struct gate *gate);

/* The workspaces whose directory contains that of workspace, or lies in it: NULL is before the
 * first, and behind the last. */
struct workspace *workspace_overlap(const struct queues *queues, const struct workspace *workspace,
    const struct workspace *before);

/* The run that is next, NULL: none. */
struct queue_entry *queues_next(const struct queues *queues);

#endif
