/* SPDX-License-Identifier: MIT */
/* Requests to start and to adopt, and the reports about both. Without libuv, because the engine and
 * its simulation use it too. */
#ifndef PROC_LAUNCH_H
#define PROC_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "record/exit_record.h"
#include "record/shim_job.h"

/* A file to write to the attempt's directory before the start. */
struct launch_file {
	const char *name;	/* a name of record/layout.h, static */
	char *data;		/* owned; NULL: a directory, empty and before its files */
	size_t size;
	/* with another user for agents: its mode, given to their group; 0: not for them */
	int shared;
	/* on the disk before the start: a row has its hash, or it is for what may outlive a power
	 * cut here */
	bool durable;
};

struct launch {
	int64_t id;		/* attempt or step: <state>/attempts/<id>/ */
	struct shim_job job;		/* owned */
	char **envp;		/* owned, NULL-terminated: complete environment of the process */
	struct launch_file files[14];
	size_t nfiles;
};

void launch_free(struct launch *launch);

enum proc_found {
	FOUND_RUNNING,		/* adopted: ended() will follow */
	FOUND_ENDED,		/* record is valid */
	FOUND_NEVER_STARTED,	/* not started in this boot: may be started */
	FOUND_LOST,		/* shim gone without a record, or another boot */
	FOUND_UNREADABLE	/* record or directory damaged: quarantined, counts as lost */
};

struct adopt {
	int64_t id;
	const char *uuid;	/* of the row; its strays are killed before FOUND_LOST */
	const char *boot_id;	/* from the row */
};

/* Reports, always from the event loop, never from within a call. */
struct proc_sink {
	void (*started)(void *arg, int64_t id);
	/* The start failed: nothing runs, and the id may be started again. error: "attempt
	 * directory: No space left on device"; status: its errno, 0: none. */
	void (*refused)(void *arg, int64_t id, int status, const char *error);
	/* The start failed, since the directory exists; it is not touched. Nothing runs. vacant:
	 * the next free number. */
	void (*taken)(void *arg, int64_t id, int64_t vacant);
	/* record NULL: lost; the shim died without one, and its tree has been ended. One with
	 * EXIT_FAR_UNKNOWN is lost, too, and says what is known of the place of its launcher. */
	void (*ended)(void *arg, int64_t id, const struct exit_record *record);
	/* The answer to adopt. record: FOUND_ENDED only. detail: a sentence for the cause, may be
	 * NULL. */
	void (*found)(void *arg, int64_t id, enum proc_found found,
	    const struct exit_record *record, const char *detail);
};

#endif
