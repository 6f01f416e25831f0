/* SPDX-License-Identifier: MIT */
/* Tells the service manager that the loop and the thread of the database are alive: WatchdogSec= in
 * systemd.service(5). */
#ifndef DAEMON_WATCHDOG_H
#define DAEMON_WATCHDOG_H

#include <uv.h>

struct store;
struct watchdog;

/* Takes $WATCHDOG_USEC and $WATCHDOG_PID out of the environment, so that agents do not get them.
 * socket: $NOTIFY_SOCKET, kept by the caller until the watchdog is closed. NULL: the manager does
 * not watch this process. */
struct watchdog *watchdog_new(uv_loop_t *loop, struct store *store, const char *socket);

/* Before the store is closed. NULL is allowed. */
void watchdog_close(struct watchdog *watchdog);

#endif
