/* SPDX-License-Identifier: MIT */
/* Everything the engine does to the world, as function tables. wire.c fills them with the real rooms, the simulation with fakes. */
#ifndef MODEL_PORTS_H
#define MODEL_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/decision.h"
#include "proc/launch.h"

struct work;

enum commit_result { COMMIT_OK, COMMIT_NO_SPACE };

struct ports {
	void *clock_ctx;
	int64_t (*now)(void *ctx);			/* wall clock, ms since the epoch */
	void (*uuid)(void *ctx, char out[37]);		/* a fresh random UUID */
	const char *(*boot_id)(void *ctx);

	void *store_ctx;
	/* Takes d; done gets it back with event numbers assigned and frees it. In order of the calls. */
	void (*commit)(void *ctx, struct decision *d, bool refusable,
	    void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg);
	/* The text of a task; callee of done copies. text NULL: no such row (a bug). */
	void (*task_text)(void *ctx, int64_t run, const char *task,
	    void (*done)(void *arg, const char *text, size_t size), void *arg);

	void *proc_ctx;					/* reports go to engine_proc_sink */
	void (*start)(void *ctx, struct launch *launch);
	void (*end)(void *ctx, int64_t id);
	/* Its result has been read: it may exit, and is ended when it takes more than the time that its job has for that. */
	void (*wind_up)(void *ctx, int64_t id);
	/* It has made no progress for as long as its idle limit, and is ended for that. May be said again and again. */
	void (*stalled)(void *ctx, int64_t id);
	void (*adopt)(void *ctx, const struct adopt *adopt);

	void *files_ctx;
	/* Run work_run(work) off the loop, then done on the loop. */
	void (*work)(void *ctx, struct work *work, void (*done)(void *arg, struct work *work), void *arg);
	/* The same, but not before ms from now: for what waits for a time, or for space. Dropped without done when the daemon stops. */
	void (*work_later)(void *ctx, int64_t ms, struct work *work, void (*done)(void *arg, struct work *work), void *arg);
};

#endif
