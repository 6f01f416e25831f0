/* SPDX-License-Identifier: MIT */
/* The queues before the slots of the daemon, one for each owner and group: the inside of
 * core/schedule.h. Pure.
 *
 * A queue is a tree of the runs that may start, in order of priority and age. Where only one run at
 * a time is in a workspace, the runs that want it wait at its gates, one for each queue; only the
 * first at each gate is in the queue, and only while nobody is inside. So a workspace that is taken
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
	QUEUE_IDLE,			/* wants nothing */
	QUEUE_BEHIND,			/* the run that it comes after has not ended */
	QUEUE_GATE,			/* wants to get into its workspace */
	QUEUE_READY			/* is in its workspace, or shares it */
};

struct queue_entry {
	int64_t id, priority;
	int64_t after;			/* ROW_NONE: none */
	int64_t want, permits;
	enum queue_state state;
	bool inside;			/* its workspace */
	struct gate *gate;
	struct waiter waiter;
	RB_ENTRY(queue_entry) by_id, by_after, at_gate, in_queue;
	TAILQ_ENTRY(queue_entry) in_workspace;
};

/* Runs of one queue and one workspace. */
struct gate {
	struct workspace *workspace;
	struct owner_queue *queue;
	size_t runs;			/* also those that want nothing */
	RB_HEAD(gate_tree, queue_entry) waiting;
	struct queue_entry *first;	/* of them, and in the queue; NULL: a run is
					 * inside, or none waits */
	struct waiters waiters;		/* those in QUEUE_GATE and QUEUE_READY */
	LIST_ENTRY(gate) of_workspace, of_queue;
};

struct workspace {
	char *path;			/* NULL: no run ever waits at its gates, all share it */
	TAILQ_HEAD(, queue_entry) inside;
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
	size_t queues;			/* also empty ones */
	LIST_ENTRY(owner) entry;
};

struct group {
	char *name;
	int64_t slots, used;		/* slots ROW_NONE: no limit */
	bool paused;
	bool set;			/* it stays without runs */
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

/* The gate of such a run, counted: made with the first that asks, gone when the last has put it
 * back. path NULL: it shares. */
struct gate *gate_get(struct queues *queues, const char *path, const char *group, int64_t owner);
void gate_put(struct queues *queues, struct gate *gate);

struct group *group_get(struct queues *queues, const char *name);
/* NULL: there is none. */
struct group *group_find(const struct queues *queues, const char *name);
/* It goes, unless it is set or has runs. */
void group_put(struct group *group);
bool group_is_full(const struct group *group);

/* The run comes to its state, or goes from it. */
void queue_enter(struct queue_entry *entry);
void queue_leave(struct queue_entry *entry);
void gate_enter(struct queue_entry *entry);
void gate_leave(struct queue_entry *entry);

/* A run has got into the workspace, or none is inside any more. */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);

/* The run whose turn it is, NULL: none. */
struct queue_entry *queues_next(const struct queues *queues);

#endif
