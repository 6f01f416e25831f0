/* SPDX-License-Identifier: MIT */
/* Notices that the state directory was removed under the daemon, by its lock file, without
 * polling. */
#ifndef DAEMON_STATE_WATCH_H
#define DAEMON_STATE_WATCH_H

#include <uv.h>

struct state_watch;

/* lock: descriptor of the lock file, used until the watch is closed. gone() is called once, from
 * the loop, when the file has no name any more. NULL if the kernel has no watch left, after a line
 * in the log. */
struct state_watch *state_watch_new(uv_loop_t *loop, int lock, void (*gone)(void *arg), void *arg);

/* NULL is allowed. */
void state_watch_close(struct state_watch *watch);

#endif
