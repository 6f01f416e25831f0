/* SPDX-License-Identifier: MIT */
/* Where a daemon keeps its state and its sockets. */
#ifndef CLIENT_SOCKETS_H
#define CLIENT_SOCKETS_H

#include <stdbool.h>
#include <sys/types.h>

/* $XDG_STATE_HOME/rld, else ~/.local/state/rld. The caller frees. */
char *sockets_state_dir(void);

/* The user of the system's daemon: the owner of the directory that holds its socket, which only
 * root can make. False: there is none, or others can write the directory. */
bool sockets_system_owner(uid_t *uid);

/* Is the unit of the system's daemon installed? One that is masked is not. */
bool sockets_system_unit(void);

/* The sockets at which a daemon may be found, best first, ending with NULL: the user's two,
 * then the system's. */
char **sockets_list(void);
void sockets_free(char **sockets);

#endif
