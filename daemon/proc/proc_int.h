/* SPDX-License-Identifier: MIT */
/* The structs of proc.c and entry.c, and what the one has for the other. */
#ifndef PROC_PROC_INT_H
#define PROC_PROC_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "proc/inspect.h"
#include "proc/prepare.h"
#include "proc/proc.h"

enum entry_state { PREPARING, WATCHING, LOOKING, PAUSING };

struct entry {
	LIST_ENTRY(entry) link;
	struct proc *proc;
	int64_t id;
	enum entry_state state;
	char *dir, *uuid, *boot_id;
	bool adopting;		/* found() is still owed */
	bool end_wanted, wind_up_wanted;	/* proc_end, proc_wind_up came, perhaps when
						 * nobody could be told */
	pid_t child;		/* own and not reaped, else 0 */
	int pidfd;		/* WATCHING, else -1 */
	uint64_t since;		/* loop time since when the lock is held by nobody
				 * known, 0: it is not */
	bool warned;
	int exited;		/* exit status of the shim; 0: it was none of ours, or
				 * has left its record */
	int tries;		/* how often orphans were looked for */
	struct launch *launch;	/* PREPARING */
	struct prepare prepare;
	struct inspection inspection;
	uv_poll_t poll;		/* on pidfd */
	uv_timer_t timer;	/* PAUSING */
	bool polling;		/* poll is initialised */
	int handles;		/* of the two, not yet closed */
};

struct proc {
	uv_loop_t *loop;
	char *attempts_dir, *shim_path;
	const struct proc_sink *sink;
	void *arg;
	mode_t umask;
	int64_t nofile;
	rlim_t core;
	bool mixed;		/* orphans of a killed shim cannot be told from
				 * processes of strangers */
	LIST_HEAD(, entry) entries;
	size_t count;		/* entries not freed, in the list or not */
	uv_timer_t anchor;	/* never runs; its close makes closed() come from the
				 * loop in any case */
	bool anchored, closing;
	void (*closed)(void *arg);
	void *closed_arg;
};

/* entry.c */

/* The last step of proc_close(): with the anchor and the last entry gone, closed() is
 * called and proc freed. */
void proc_check_closed(struct proc *proc);

struct entry *entry_new(struct proc *proc, int64_t id, const char *uuid, const char *boot_id);
/* Forget the entry; no work of it is under way. */
void entry_drop(struct entry *e);
/* What does its directory say? */
void entry_look(struct entry *e);
/* e->prepare is filled in: make its directory, then start the shim. */
void entry_prepare(struct entry *e);
/* WATCHING: tell the shim. */
void entry_signal(const struct entry *e, int sig);

#endif
