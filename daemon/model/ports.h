/* SPDX-License-Identifier: MIT */
/* Everything the engine does to its environment, as function tables. host_ports.c implements them
 * with the real rooms, the simulation with fakes. */
#ifndef MODEL_PORTS_H
#define MODEL_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/decision.h"
#include "proc/launch.h"

struct job;
struct judge_row;

/* A timer. It has keys, not pointers, because its run may be gone when it is due. */
struct wake {
	int64_t at;			/* TIME */
	int64_t until;			/* the time in the row or slot; changed: the
					 * timer is void */
	/* ROW_NONE: see struct effect; for a hook, slot is its id */
	int64_t run, iteration, slot;
};

typedef void wake_due_cb(void *arg, const struct wake *wake);

enum commit_result { COMMIT_OK, COMMIT_NO_SPACE };

struct ports {
	void *clock_ctx;
	int64_t (*now)(void *ctx);			/* wall clock, ms since the epoch */
	void (*uuid)(void *ctx, char out[37]);		/* a new random UUID */
	const char *(*boot_id)(void *ctx);

	void *store_ctx;
	/* Commit d, in order of the calls. Takes d; done gets it back with event numbers, and frees
	 * it. */
	void (*commit)(void *ctx, struct decision *d, bool refusable,
	    void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg);
	/* Read the text of a task; done copies it. text NULL: no such row (a bug). */
	void (*task_text)(void *ctx, int64_t run, const char *task,
	    void (*done)(void *arg, const char *text, size_t size), void *arg);

	/* Read what judges a run. done takes the row; NULL: a run of an earlier version, which
	 * keeps it in files. */
	void (*judge)(void *ctx, int64_t run, void (*done)(void *arg, struct judge_row *row), void *arg);

	/* Read what checks of other runs said about a tree, newest first: of runs that this one
	 * retries, and since a TIME. from_run and from_attempt name the attempts. done takes the
	 * rows, but not their list. */
	void (*evidence)(void *ctx, int64_t run, const char *tree, int64_t since,
	    void (*done)(void *arg, void **rows, size_t count), void *arg);

	void *proc_ctx;					/* reports go to engine_proc_sink */
	void (*start)(void *ctx, struct launch *launch);
	void (*end)(void *ctx, int64_t id);
	/* The result has been read: the process may exit within the job's post_result_ms, then it
	 * is ended. */
	void (*wind_up)(void *ctx, int64_t id);
	/* No progress for as long as the idle limit: the process is ended as idle. Repeated calls
	 * are allowed. */
	void (*stalled)(void *ctx, int64_t id);
	void (*adopt)(void *ctx, const struct adopt *adopt);

	void *files_ctx;
	/* Run job_run(job) off the loop, then done on the loop. */
	void (*job)(void *ctx, struct job *job, void (*done)(void *arg, struct job *job), void *arg);
	/* The same, ms from now: a retry after a fault of the host. Dropped without done when the
	 * daemon stops. */
	void (*job_later)(void *ctx, int64_t ms, struct job *job, void (*done)(void *arg, struct job *job), void *arg);

	void *timer_ctx;
	/* Call due on the loop at wake->at, which is copied. Dropped when the daemon stops. */
	void (*wake)(void *ctx, const struct wake *wake, wake_due_cb *due, void *arg);
};

#endif
