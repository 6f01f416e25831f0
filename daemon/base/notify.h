/* SPDX-License-Identifier: MIT */
/* State reports to the service manager: the datagrams of sd_notify(3). */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

/* socket: the value of $NOTIFY_SOCKET, "@name" for an abstract one; NULL or "": no manager, 0. Else
 * 0 or -errno; -EAGAIN at once when the manager does not read. */

/* Started, or done with a reload. status: a line for "systemctl status", may be NULL. */
int notify_ready(const char *socket, const char *status);
/* A reload has begun; notify_ready() ends it. */
int notify_reloading(const char *socket);
int notify_stopping(const char *socket);
/* The process is alive. */
int notify_alive(const char *socket);

#endif
