/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/log.h"
#include "proc/orphans.h"
#include "proc/proc_int.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "record/identity.h"

#define UMASK_DEFAULT 022

/* A shim that works takes up to 62 s beside its grace: 30 for pipes that are held, 2 for strays,
 * 30 for those that survive SIGKILL. After SIGTERM only the last are left. */
static const struct patience patience = {
	.wall = 1000, .wall_end = 90000, .end = 40000, .record = 10000, .kill = 10000,
};

const char *proc_boot_id(void)
{
	static char id[BOOT_ID];	/* constant for the machine's boot */

	if (id[0] == '\0') {
		int rv = boot_id_read(id);

		if (rv != 0)
			log_fatal("cannot read /proc/sys/kernel/random/boot_id: %s", strerror(-rv));
	}
	return id;
}

struct proc *proc_new(uv_loop_t *loop, const char *attempts_dir, const char *shim_path,
    const struct proc_sink *sink, void *arg)
{
	struct proc *proc = xcalloc(1, sizeof(*proc));
	struct rlimit limit;

	proc->loop = loop;
	proc->attempts_dir = xstrdup(attempts_dir);
	proc->shim_path = xstrdup(shim_path);
	proc->sink = sink;
	proc->arg = arg;
	proc->umask = UMASK_DEFAULT;
	proc->patience = patience;
	LIST_INIT(&proc->entries);
	uv_timer_init(loop, &proc->anchor);
	proc->anchor.data = proc;
	proc->anchored = true;
	proc_boot_id();		/* before there are threads */
	if (getrlimit(RLIMIT_CORE, &limit) == 0)
		proc->core = limit.rlim_cur;
	proc->mixed = orphans_mixed();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		log_warn("processes that outlive a killed rl-shim can only be found by their "
		    "environment: %s", strerror(errno));
	return proc;
}

void proc_set_inherited(struct proc *proc, mode_t umask, int64_t nofile, rlim_t core)
{
	proc->umask = umask;
	proc->nofile = nofile;
	proc->core = core;
}

void proc_set_limits(struct proc *proc, const struct start_limits *limits)
{
	proc->limits = *limits;
}

static struct entry *entry_find(const struct proc *proc, int64_t id)
{
	struct entry *e;

	LIST_FOREACH(e, &proc->entries, link)
		if (e->id == id)
			return e;
	return NULL;
}

void proc_start(struct proc *proc, struct launch *launch)
{
	struct entry *e = entry_new(proc, launch->id, launch->job.uuid, proc_boot_id());

	launch->job.umask = (int)proc->umask;
	launch->job.nofile = proc->nofile;
	if (launch->job.follows != NULL)
		launch->job.began_ms = clock_wall();
	e->launch = launch;
	e->wall_ms = launch->job.wall_ms;
	e->grace_ms = launch->job.grace_ms;
	e->prepare = (struct prepare){ .attempts_dir = proc->attempts_dir, .dir = e->dir,
	    .launch = launch, .lock = -1 };
	entry_prepare(e);
}

void proc_end(struct proc *proc, int64_t id)
{
	struct entry *e = entry_find(proc, id);

	if (e == NULL)
		return;
	e->end_wanted = true;
	if (e->state == WATCHING)
		entry_end(e);
}

void proc_wind_up(struct proc *proc, int64_t id)
{
	struct entry *e = entry_find(proc, id);

	if (e == NULL)
		return;
	e->wind_up_wanted = true;
	if (e->state == WATCHING)
		entry_signal(e, SIGUSR1);
}

void proc_stalled(struct proc *proc, int64_t id)
{
	const struct entry *e = entry_find(proc, id);

	if (e != NULL && e->state == WATCHING)
		entry_signal(e, SIGUSR2);
}

void proc_adopt(struct proc *proc, const struct adopt *adopt)
{
	struct entry *e = entry_new(proc, adopt->id, adopt->uuid, adopt->boot_id);

	e->adopting = true;
	entry_look(e);
}

static void anchor_closed_cb(uv_handle_t *handle)
{
	struct proc *proc = handle->data;

	proc->anchored = false;
	proc_check_closed(proc);
}

void proc_close(struct proc *proc, void (*closed)(void *arg), void *arg)
{
	struct entry *e, *next;

	proc->closing = true;
	proc->closed = closed;
	proc->closed_arg = arg;
	/* PREPARING and LOOKING entries are dropped by their callbacks, which always come */
	LIST_FOREACH_SAFE(e, &proc->entries, link, next)
		if (e->state == WATCHING || e->state == PAUSING)
			entry_drop(e);
	uv_close((uv_handle_t *)&proc->anchor, anchor_closed_cb);
}
