/* SPDX-License-Identifier: MIT */
/* The lines before the seats of the daemon, ordered by whose turn it is: the inside of core/schedule.h. Pure.
 *
 *   turns: owners  ◀─  lines of an owner: groups that have a seat left  ◀─  runs of a line that may sit
 *
 * Each level is a tree, ordered by the best of the one below. Where only one run at a time is in a workspace, those who want to get
 * in wait at its doors, one for each line; only the first at each door is in the line, and only while nobody is inside. So a
 * workspace that is taken or left costs as much as it has doors, a group that fills up as much as it has lines, however many wait. */
#ifndef CORE_LINE_H
#define CORE_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "core/crowd.h"

/* Where a run is. */
enum spot {
	SPOT_IDLE,			/* wants nothing */
	SPOT_BEHIND,			/* the run that it comes after has not ended */
	SPOT_DOOR,			/* wants to get into its workspace */
	SPOT_LINE			/* is in its workspace, or shares it */
};

struct item {
	int64_t id, priority;
	int64_t after;			/* ROW_NONE: none */
	int64_t want, seats;
	enum spot spot;
	bool inside;			/* its workspace */
	struct door *door;
	struct listener listener;
	RB_ENTRY(item) by_id, by_after, at_door, in_line;
	TAILQ_ENTRY(item) in_workspace;
};

/* Runs of one line and one workspace. */
struct door {
	struct workspace *workspace;
	struct line *line;
	size_t runs;			/* also those who want nothing */
	RB_HEAD(door_tree, item) waiting;
	struct item *first;		/* of them, and in the line; NULL: somebody is inside, or nobody waits */
	struct crowd crowd;		/* those in SPOT_DOOR and SPOT_LINE */
	LIST_ENTRY(door) of_workspace, of_line;
};

struct workspace {
	char *path;			/* NULL: nobody ever waits at its doors, all share it */
	TAILQ_HEAD(, item) inside;
	LIST_HEAD(, door) doors;
	RB_ENTRY(workspace) entry;
};

/* Runs of one owner in one group. */
struct line {
	struct group *group;
	struct owner *owner;
	RB_HEAD(line_tree, item) items;
	struct item *best;		/* by which it is among those of its owner; NULL: it is empty, or its group has no seat */
	LIST_HEAD(, door) doors;
	LIST_ENTRY(line) of_group;
	RB_ENTRY(line) of_owner;
};

struct owner {
	int64_t id, seats;
	size_t lines;			/* also those without a seat */
	RB_HEAD(owner_tree, line) open;
	struct item *best;		/* by which it is in the turns; NULL: it is not */
	RB_ENTRY(owner) by_id, by_turn;
};

struct group {
	char *name;
	int64_t slots, used;		/* ROW_NONE: no limit */
	bool paused;
	bool set;			/* it stays without runs */
	LIST_HEAD(, line) lines;
	RB_ENTRY(group) entry;
};

struct lines {
	RB_HEAD(turn_tree, owner) turns;
	RB_HEAD(uid_tree, owner) owners;
	RB_HEAD(name_tree, group) groups;
	RB_HEAD(path_tree, workspace) workspaces;
	struct workspace shared;
};

void lines_init(struct lines *lines);

/* The door of such a run, counted: made with the first that asks, gone when the last has put it back. path NULL: it shares. */
struct door *door_get(struct lines *lines, const char *path, const char *group, int64_t owner);
void door_put(struct lines *lines, struct door *door);

struct group *group_get(struct lines *lines, const char *name);
/* NULL: there is none. */
const struct group *group_find(const struct lines *lines, const char *name);
/* It goes, unless it is set or has runs. */
void group_put(struct lines *lines, struct group *group);
bool group_is_full(const struct group *group);
/* Its limit or its pause has changed. */
void group_refresh(struct lines *lines, struct group *group);

/* The run comes to its spot, or goes from it. */
void line_enter(struct lines *lines, struct item *item);
void line_leave(struct lines *lines, struct item *item);
void door_enter(struct lines *lines, struct item *item);
void door_leave(struct lines *lines, struct item *item);

/* Somebody has got into the workspace, or nobody is inside any more. */
void door_close(struct lines *lines, struct door *door);
void door_open(struct lines *lines, struct door *door);

/* The run has so many seats more. */
void line_seats(struct lines *lines, struct item *item, int64_t more);

/* Whose turn it is, NULL: nobody's. */
struct item *lines_first(struct lines *lines);

#endif
