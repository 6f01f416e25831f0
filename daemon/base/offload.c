/* SPDX-License-Identifier: MIT */
#include "base/offload.h"

#include <stdlib.h>

#include "base/log.h"
#include "proto/memory.h"

struct offload {
	uv_work_t req;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void offload_run(uv_work_t *req)
{
	struct offload *o = req->data;

	o->run(o->arg);
}

static void offload_cb(uv_work_t *req, int status)
{
	struct offload *o = req->data;

	(void)status;	/* never cancelled */
	o->done(o->arg);
	free(o);
}

void offload(uv_loop_t *loop, void (*run)(void *arg), void (*done)(void *arg), void *arg)
{
	struct offload *o = xcalloc(1, sizeof(*o));
	int rv;

	o->req.data = o;
	o->run = run;
	o->done = done;
	o->arg = arg;
	rv = uv_queue_work(loop, &o->req, offload_run, offload_cb);
	if (rv != 0)
		log_fatal("cannot queue file work: %s", uv_strerror(rv));
}
