/* SPDX-License-Identifier: MIT */
/* The lock on the state directory: one rld at a time. */
#ifndef DAEMON_STATE_LOCK_H
#define DAEMON_STATE_LOCK_H

#include <stddef.h>

#define LOCK_WAIT_S 10

/* flock <state_dir>/lock, waiting LOCK_WAIT_S for a predecessor that is shutting down, after a
 * message in the log. Returns the descriptor, which holds the lock until it is closed, or -1 with a
 * sentence that names the holder. */
int state_lock_take(const char *state_dir, char *error, size_t room);

#endif
