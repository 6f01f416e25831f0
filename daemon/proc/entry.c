/* SPDX-License-Identifier: MIT */
/* One attempt under way.
 *
 *   proc_start ─▶ PREPARING ── spawned ──▶ WATCHING ── pidfd readable ──▶ LOOKING ──▶ ended()
 *   proc_adopt ─▶ LOOKING ─── running ──▶ found(), WATCHING
 *                    │ ▲
 *                    │ └ PAUSING: the inspection gave no answer, or orphans of a killed shim
 *                    │          are still there; once more in a moment
 *                    └─ the shim was killed, its agent is placed elsewhere and has an rl-shim
 *                       there ──▶ PAUSING ──▶ PREPARING ── another one spawned ──▶ WATCHING
 *
 * A shim that outlasts its limits is looked at from WATCHING, and killed if it stands still.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/offload.h"
#include "proc/orphans.h"
#include "proc/proc_int.h"
#include "proc/spawn.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define PAUSE_MS 20		/* a shim starts in less */
#define BUSY_MS 500
/* searches for processes that outlive a killed shim: 5 s in total */
#define ORPHANS_MAX 250
#define TOLD_MAX 250		/* looks for what rl-start says: 5 s in total */
#define NAMELESS_MS 30000	/* how long a held lock may be without an identity */
/* before another shim follows an agent: none for the first, then doubled up to a limit, until one
 * has lasted */
#define FOLLOW_MS UINT64_C(500)
#define FOLLOW_DOUBLED 7
#define FOLLOW_LASTS_MS 60000
/* an agent that is to be ended gets so many; then its cancel command is run without one */
#define FOLLOWERS_OF_AN_END 3

struct entry *entry_new(struct proc *proc, int64_t id, const char *uuid, const char *boot_id)
{
	struct entry *e = xcalloc(1, sizeof(*e));

	e->proc = proc;
	e->id = id;
	e->dir = xasprintf("%s/%lld", proc->attempts_dir, (long long)id);
	e->uuid = xstrdup(uuid);
	e->boot_id = xstrdup(boot_id);
	e->pidfd = e->conn = -1;
	uv_timer_init(proc->loop, &e->timer);
	e->timer.data = e;
	e->handles = 1;
	LIST_INSERT_HEAD(&proc->entries, e, link);
	proc->count++;
	return e;
}

void proc_check_closed(struct proc *proc)
{
	if (!proc->closing || proc->anchored || proc->count > 0)
		return;
	proc->closed(proc->closed_arg);
	free(proc->attempts_dir);
	free(proc->shim_path);
	free(proc);
}

static void entry_handle_closed(struct entry *e)
{
	struct proc *proc = e->proc;

	if (--e->handles > 0)
		return;
	if (e->pidfd != -1)
		close(e->pidfd);
	if (e->conn != -1)
		close(e->conn);
	launch_free(e->launch);
	free(e->dir);
	free(e->uuid);
	free(e->boot_id);
	free(e);
	proc->count--;
	proc_check_closed(proc);
}

static void entry_closed_cb(uv_handle_t *handle)
{
	entry_handle_closed(handle->data);
}

void entry_drop(struct entry *e)
{
	LIST_REMOVE(e, link);
	if (e->polling)
		uv_close((uv_handle_t *)&e->poll, entry_closed_cb);
	uv_close((uv_handle_t *)&e->timer, entry_closed_cb);
}

/* How the shim ended, from rl-start. Returns false if that has not been said yet; after a while it
 * is not expected any more. */
static bool entry_told(struct entry *e)
{
	int status = starter_status(e->conn, 0);

	if (status == -EAGAIN && e->asked++ < TOLD_MAX)
		return false;
	close(e->conn);
	e->conn = -1;
	if (status >= 0 && WIFEXITED(status))
		e->exited = WEXITSTATUS(status);
	return true;
}

/* Reap a dead shim of ours. Returns false if it is not dead yet. Never waits. */
static bool entry_reap(struct entry *e)
{
	siginfo_t info = { 0 };
	int rv;

	if (e->conn != -1)
		return entry_told(e);
	if (e->child == 0)
		return true;
	rv = e->pidfd != -1 ? waitid(P_PIDFD, (id_t)e->pidfd, &info, WEXITED | WNOHANG)
			    : waitid(P_PID, (id_t)e->child, &info, WEXITED | WNOHANG);
	if (rv == 0 && info.si_pid == 0)
		return false;
	e->child = 0;
	if (rv == 0 && info.si_code == CLD_EXITED)
		e->exited = info.si_status;
	else if (rv == 0)
		e->killed = info.si_status;
	return true;
}

void entry_signal(const struct entry *e, int sig)
{
	int rv = pidfd_send_signal(e->pidfd, sig, NULL, 0);

	/* an agent may stop its shim, which must run to handle SIGTERM */
	if (rv == 0 && sig == SIGTERM)
		rv = pidfd_send_signal(e->pidfd, SIGCONT, NULL, 0);
	if (rv == -1 && errno != ESRCH)
		log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: cannot signal rl-shim: %s", (long long)e->id,
		    strerror(errno));
}

static void pause_cb(uv_timer_t *timer)
{
	entry_look(timer->data);
}

static void entry_pause(struct entry *e)
{
	e->state = PAUSING;
	uv_timer_start(&e->timer, pause_cb, e->inspection.result == INSPECTION_BUSY ? BUSY_MS : PAUSE_MS, 0);
}

static void watch_closed_cb(uv_handle_t *handle)
{
	struct entry *e = handle->data;

	close(e->pidfd);
	e->pidfd = -1;
	e->polling = false;
	e->handles--;
	if (e->proc->closing)
		entry_drop(e);
	else
		entry_look(e);
}

static void entry_unwatch(struct entry *e)
{
	e->state = LOOKING;
	uv_timer_stop(&e->timer);
	uv_close((uv_handle_t *)&e->poll, watch_closed_cb);
}

static void watch_cb(uv_poll_t *poll, int status, int events)
{
	struct entry *e = poll->data;

	(void)status, (void)events;	/* an error shows up in the inspection */
	entry_reap(e);
	entry_unwatch(e);
}

static void expired_cb(uv_timer_t *timer)
{
	struct entry *e = timer->data;

	e->expired = true;
	entry_unwatch(e);
}

/* Look at the shim after so many ms, or earlier where that is due already. */
static void entry_expect(struct entry *e, uint64_t ms)
{
	if (e->delay == KILLED || (e->delay == OVERDUE && uv_is_active((uv_handle_t *)&e->timer) &&
	    uv_timer_get_due_in(&e->timer) <= ms))
		return;
	e->delay = OVERDUE;
	uv_timer_start(&e->timer, expired_cb, ms, 0);
}

void entry_end(struct entry *e)
{
	entry_signal(e, SIGTERM);
	entry_expect(e, (uint64_t)e->grace_ms + e->proc->patience.end);
}

/* An agent may have stopped its shim, which then does not know that it is time. */
static void wall_cb(uv_timer_t *timer)
{
	struct entry *e = timer->data;

	entry_signal(e, SIGCONT);
	entry_expect(e, (uint64_t)e->grace_ms + e->proc->patience.wall_end);
}

/* The shim runs, and may be late. Nothing is left of the tree of one that may wait for space for
 * its record, so it is not killed for its limit. */
static void entry_judge(struct entry *e)
{
	const struct inspection *l = &e->inspection;
	bool expired = e->expired;

	e->expired = false;
	if (expired && (e->end_wanted || l->recorded || l->at_work)) {
		log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: rl-shim does not %s; killing it", (long long)e->id,
		    l->recorded ? "exit after its exit record" : e->end_wanted ? "end after SIGTERM" :
		    "keep the wall clock limit");
		entry_signal(e, SIGKILL);
		e->delay = KILLED;
		uv_timer_start(&e->timer, expired_cb, e->proc->patience.kill, 0);
	} else if (expired) {
		wall_cb(&e->timer);
	} else if (l->recorded) {
		entry_expect(e, e->proc->patience.record);
	}
}

/* Wait for the end of the shim; takes ownership of pidfd. Without one, or without memory for it,
 * inspect repeatedly. */
static void entry_watch(struct entry *e, int pidfd)
{
	e->since = 0;
	if (pidfd == -1) {
		entry_pause(e);
		return;
	}
	if (uv_poll_init(e->proc->loop, &e->poll, pidfd) != 0) {
		close(pidfd);
		entry_pause(e);
		return;
	}
	e->state = WATCHING;
	e->pidfd = pidfd;
	e->poll.data = e;
	e->polling = true;
	e->handles++;
	uv_poll_start(&e->poll, UV_READABLE, watch_cb);
	if (e->wind_up_wanted)
		entry_signal(e, SIGUSR1);
	if (e->end_wanted)
		entry_end(e);
	else if (e->wall_ms > 0 && e->delay == IN_TIME)
		uv_timer_start(&e->timer, wall_cb, (uint64_t)e->wall_ms + e->proc->patience.wall, 0);
}

/* started() was reported, the shim is gone. */
static void report_ended(struct entry *e)
{
	const struct proc_sink *sink = e->proc->sink;
	struct exit_record none = { .how = EXIT_NOT_STARTED, .status = ECHILD, .tree_empty = true };

	switch (e->inspection.result) {
	case INSPECTION_ENDED:
		sink->ended(e->proc->arg, e->id, &e->inspection.record);
		break;
	case INSPECTION_NEVER_STARTED:
		if (access(e->dir, F_OK) == -1) {
			log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: %s was removed while it ran",
			    (long long)e->id, e->dir);
			sink->ended(e->proc->arg, e->id, NULL);
			break;
		}
		/* The identity is written before the fork, so without one there was no fork. If a
		 * host fault prevents it, the shim exits with its errno. A signal ends it for lack
		 * of memory: the kernel's, or of its start, before main(). */
		if (e->killed != 0)
			none.status = ENOMEM;
		else if (host_fault(e->exited))
			none.status = e->exited;
		if (e->killed != 0)
			snprintf(none.error, sizeof(none.error),
			    "rl-shim was killed by signal %d before it started anything: see %s", e->killed, e->dir);
		else
			snprintf(none.error, sizeof(none.error),
			    "rl-shim exited before it started anything%s%s: see %s", none.status != ECHILD ? ": " : "",
			    none.status != ECHILD ? strerror(none.status) : "", e->dir);
		sink->ended(e->proc->arg, e->id, &none);
		break;
	case INSPECTION_LOST:
	case INSPECTION_UNREADABLE:
		log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: %s", (long long)e->id, e->inspection.detail);
		sink->ended(e->proc->arg, e->id, e->inspection.placed ? &e->inspection.record : NULL);
		break;
	case INSPECTION_RUNNING:
	case INSPECTION_FOLLOWED:
	case INSPECTION_AGAIN:
	case INSPECTION_BUSY:
		log_bug("attempt %lld: an end is reported, but the attempt has not ended", (long long)e->id);
		break;
	}
}

static void report_found(struct entry *e)
{
	static const enum proc_found found[] = {
		[INSPECTION_RUNNING] = FOUND_RUNNING,
		[INSPECTION_FOLLOWED] = FOUND_RUNNING,
		[INSPECTION_ENDED] = FOUND_ENDED,
		[INSPECTION_NEVER_STARTED] = FOUND_NEVER_STARTED,
		[INSPECTION_LOST] = FOUND_LOST,
		[INSPECTION_UNREADABLE] = FOUND_UNREADABLE,
	};

	enum proc_found how = e->inspection.placed ? FOUND_ENDED : found[e->inspection.result];

	e->adopting = false;
	e->proc->sink->found(e->proc->arg, e->id, how, how == FOUND_ENDED ? &e->inspection.record : NULL,
	    e->inspection.detail[0] != '\0' ? e->inspection.detail : NULL);
}

static void entry_found_running(struct entry *e)
{
	e->wall_ms = e->inspection.wall_ms;
	e->grace_ms = e->inspection.grace_ms;
	entry_watch(e, e->inspection.pidfd);
	if (e->state == WATCHING)
		entry_judge(e);
	if (e->adopting)
		report_found(e);
}

/* The entry leaves the list first: the id is unknown when the report is made. A shim that the
 * kernel does not end is not reaped. */
static void entry_finish(struct entry *e)
{
	if (!entry_reap(e) && !e->inspection.killed) {
		entry_pause(e);	/* its lock is free already, so it will end in a moment */
		return;
	}
	if (e->followers > 0)
		orphans_reap(e->proc);	/* what the first shim has left */
	entry_drop(e);
	if (e->adopting)
		report_found(e);
	else
		report_ended(e);
}

static void follow_cb(uv_timer_t *timer)
{
	struct entry *e = timer->data;

	e->following = true;
	e->asked = e->tries = e->exited = e->killed = 0;
	e->delay = IN_TIME;
	e->expired = e->wind_up_wanted = false;
	e->prepare = (struct prepare){ .attempts_dir = e->proc->attempts_dir, .dir = e->dir, .lock = -1 };
	entry_prepare(e);
}

/* The agent is at work where it was placed, or its end is known there: only a shim is missing here.
 * Nothing of it is decided by that, so nothing is committed: the next rld finds the same. */
static void entry_follow(struct entry *e)
{
	uint64_t now = uv_now(e->proc->loop), pause;

	if (!entry_reap(e)) {
		entry_pause(e);
		return;
	}
	if (e->followers > 0 && now - e->followed >= FOLLOW_LASTS_MS)
		e->followers = 0;
	pause = e->followers == 0 ? 0 : FOLLOW_MS << (e->followers < FOLLOW_DOUBLED ? e->followers : FOLLOW_DOUBLED);
	log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: %s; an rl-shim where its launcher placed it has its "
	    "agent, and another one here follows it", (long long)e->id, e->inspection.detail);
	e->followers++;
	e->followed = now + pause;
	e->wall_ms = e->inspection.wall_ms;
	e->grace_ms = e->inspection.grace_ms;
	e->state = PAUSING;
	uv_timer_start(&e->timer, follow_cb, pause, 0);
	if (e->adopting)
		report_found(e);
}

static void orphans_cb(uv_timer_t *timer);

/* No shim has waited for the end of its tree: the attempt is over when the tree is. */
static void entry_lost(struct entry *e)
{
	if (orphans_end(e->proc) == 0) {
		entry_finish(e);
	} else if (e->tries++ == ORPHANS_MAX) {
		log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: some of its processes could not be killed",
		    (long long)e->id);
		entry_finish(e);
	} else {
		e->state = PAUSING;
		uv_timer_start(&e->timer, orphans_cb, PAUSE_MS, 0);
	}
}

static void orphans_cb(uv_timer_t *timer)
{
	entry_lost(timer->data);
}

static void entry_no_answer(struct entry *e)
{
	if (e->inspection.result == INSPECTION_BUSY)
		e->since = 0;	/* failures to look do not count against the shim */
	else if (e->since == 0)
		e->since = uv_now(e->proc->loop);
	if (e->inspection.result == INSPECTION_BUSY && !e->warned) {
		log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: %s; retrying", (long long)e->id,
		    e->inspection.detail);
		e->warned = true;
	}
	entry_pause(e);
}

static void inspect_run(void *arg)
{
	struct entry *e = arg;

	inspect(&e->inspection);
}

static void inspect_cb(void *arg)
{
	struct entry *e = arg;

	if (e->proc->closing) {
		if (e->inspection.pidfd != -1)
			close(e->inspection.pidfd);
		entry_drop(e);
		return;
	}
	switch (e->inspection.result) {
	case INSPECTION_RUNNING:
		entry_found_running(e);
		break;
	case INSPECTION_AGAIN:
	case INSPECTION_BUSY:
		entry_no_answer(e);
		break;
	case INSPECTION_FOLLOWED:
		entry_follow(e);
		break;
	case INSPECTION_ENDED:
	case INSPECTION_NEVER_STARTED:
		entry_finish(e);
		break;
	case INSPECTION_LOST:
	case INSPECTION_UNREADABLE:
		entry_lost(e);
		break;
	}
}

void entry_look(struct entry *e)
{
	e->state = LOOKING;
	e->inspection = (struct inspection){ .dir = e->dir, .uuid = e->uuid, .boot_id = e->boot_id, .pidfd = -1 };
	e->inspection.over = e->end_wanted && (e->delay == KILLED || e->followers >= FOLLOWERS_OF_AN_END);
	e->inspection.killed = e->delay == KILLED && e->expired;
	e->inspection.last = e->since != 0 && uv_now(e->proc->loop) - e->since >= NAMELESS_MS;
	offload(e->proc->loop, inspect_run, inspect_cb, e);
}

static int entry_spawn(struct entry *e)
{
	/* what follows has the environment of cancel commands: that of the agent is not kept */
	int rv = spawn_shim(e->proc->shim_path, e->dir, e->prepare.lock, e->following ? environ : e->launch->envp,
	    e->uuid, e->proc->core, &e->limits, &e->spawned);

	if (rv != 0 && rv != -ETIMEDOUT) {
		e->prepare.status = -rv;
		snprintf(e->prepare.error, sizeof(e->prepare.error), "%s: %s",
		    starter_used() ? "rl-start" : e->proc->shim_path, rv == -EHOSTDOWN ? "it does not answer" :
		    strerror(-rv));
	}
	return rv;
}

/* rl-start is asked off the loop, which it must not hold up. */
static void prepare_run(void *arg)
{
	struct entry *e = arg;

	if (e->following)
		prepare_another(&e->prepare);
	else
		prepare(&e->prepare);
	e->spawn_rv = -ECANCELED;
	if (e->prepare.lock != -1 && starter_used())
		e->spawn_rv = entry_spawn(e);
}

/* rld stops while its shim starts: the next rld takes it back. */
static void entry_release(struct spawned *spawned)
{
	if (spawned->pidfd != -1)
		close(spawned->pidfd);
	if (spawned->conn != -1)
		close(spawned->conn);
}

static void prepare_cb(void *arg);

void entry_prepare(struct entry *e)
{
	e->state = PREPARING;
	if (!e->following && e->launch->job.tells_limits == 1)
		e->limits = e->proc->limits;
	offload(e->proc->loop, prepare_run, prepare_cb, e);
}

static void prepare_cb(void *arg)
{
	struct entry *e = arg;
	struct proc *proc = e->proc;
	bool following = e->following;
	int rv = e->spawn_rv;

	if (e->prepare.lock != -1 && !proc->closing && !starter_used())
		rv = entry_spawn(e);
	if (e->prepare.lock != -1 && rv != 0 && rv != -ETIMEDOUT && !proc->closing)
		prepare_undo(&e->prepare);
	if (e->prepare.lock != -1)
		close(e->prepare.lock);
	launch_free(e->launch);
	e->launch = NULL;
	e->following = false;
	if (proc->closing) {
		if (rv == 0)
			entry_release(&e->spawned);
	} else if (rv == 0 || rv == -ETIMEDOUT) {
		/* without an answer of rl-start the lock tells whether it runs */
		e->child = e->spawned.conn == -1 ? e->spawned.pid : 0;
		e->conn = e->spawned.conn;
		entry_watch(e, e->spawned.pidfd);
		if (!following)
			proc->sink->started(proc->arg, e->id);
		return;
	} else if (following) {
		log_about(LOG_LEVEL_WARN, 0, e->id, "attempt %lld: nothing follows its agent: %s", (long long)e->id,
		    e->prepare.error);
		entry_look(e);
		return;
	}
	entry_drop(e);
	if (proc->closing)
		return;
	if (e->prepare.vacant != 0)
		proc->sink->taken(proc->arg, e->id, e->prepare.vacant);
	else
		proc->sink->refused(proc->arg, e->id, e->prepare.status, e->prepare.error);
}
