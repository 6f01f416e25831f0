/* SPDX-License-Identifier: MIT */
/* Structs and functions that proc.c and entry.c share. */
#ifndef PROC_PROC_INT_H
#define PROC_PROC_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "proc/inspect.h"
#include "proc/prepare.h"
#include "proc/proc.h"
#include "proc/starter.h"

enum entry_state { PREPARING, WATCHING, LOOKING, PAUSING };

/* A shim keeps the limits of its job, unless it stands still. */
enum entry_delay {
	IN_TIME,
	OVERDUE,		/* it should end by itself before the timer expires */
	KILLED			/* by us; the kernel should end it before the timer expires */
};

/* How long a shim may take, in ms. */
struct patience {
	uint64_t wall;		/* after its wall limit, before it is moved by SIGCONT */
	uint64_t wall_end;	/* after that and grace, for its end */
	uint64_t end;		/* after SIGTERM and grace, for its end */
	uint64_t record;	/* after its exit record, for its end */
	uint64_t kill;		/* after SIGKILL, for its end */
};

struct entry {
	LIST_ENTRY(entry) link;
	struct proc *proc;
	int64_t id;
	enum entry_state state;
	char *dir, *uuid, *boot_id;
	bool adopting;		/* found() is still due */
	bool end_wanted, wind_up_wanted;	/* proc_end(), proc_wind_up() came,
						 * perhaps before the shim */
	pid_t child;		/* our child, not reaped; otherwise 0 */
	int conn;		/* to rl-start, which has not said how it ended; otherwise -1 */
	int asked;		/* ... how often it was asked */
	struct start_limits limits;	/* PREPARING: a copy, for the worker */
	struct spawned spawned;	/* PREPARING, with rl-start */
	int spawn_rv;
	int pidfd;		/* WATCHING, otherwise -1 */
	uint64_t since;		/* loop time since when the lock has an unknown
				 * holder, 0: it has none */
	bool warned;
	int exited;		/* exit status of the shim; 0: not a child, or it left a record */
	int killed;		/* signal that ended the shim; 0: none, or not a child */
	/* shims in a row that were started to follow an agent, and did not last; when the last one
	 * was, in loop time; and whether the next one is being started */
	int followers;
	uint64_t followed;
	bool following;
	int tries;		/* number of searches for orphans */
	enum entry_delay delay;
	bool expired;		/* LOOKING because the timer of WATCHING has expired */
	int64_t wall_ms, grace_ms;	/* of the job; WATCHING */
	struct launch *launch;	/* PREPARING */
	struct prepare prepare;
	struct inspection inspection;
	uv_poll_t poll;		/* on pidfd */
	uv_timer_t timer;	/* PAUSING; WATCHING: see delay */
	bool polling;		/* poll is initialised */
	int handles;		/* of the two, not closed yet */
};

struct proc {
	uv_loop_t *loop;
	char *attempts_dir, *shim_path;
	const struct proc_sink *sink;
	void *arg;
	mode_t umask;
	int64_t nofile;
	rlim_t core;
	struct start_limits limits;
	bool mixed;		/* orphans cannot be told from other children, see orphans.h */
	struct patience patience;
	LIST_HEAD(, entry) entries;
	size_t count;		/* entries not freed, in the list or not */
	uv_timer_t anchor;	/* never runs; closing it makes the loop call closed() */
	bool anchored, closing;
	void (*closed)(void *arg);
	void *closed_arg;
};

/* entry.c */

/* The last step of proc_close(): with the anchor and the last entry gone, calls closed() and frees
 * proc. */
void proc_check_closed(struct proc *proc);

struct entry *entry_new(struct proc *proc, int64_t id, const char *uuid, const char *boot_id);
/* Free the entry; none of its work is under way. */
void entry_drop(struct entry *e);
/* Inspect the attempt, see inspect.h. */
void entry_look(struct entry *e);
/* Make the directory as e->prepare says, then start the shim. */
void entry_prepare(struct entry *e);
/* WATCHING: send a signal to the shim. */
void entry_signal(const struct entry *e, int sig);
/* WATCHING: send SIGTERM, and SIGKILL if that does not help. */
void entry_end(struct entry *e);

#endif
