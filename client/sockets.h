/* SPDX-License-Identifier: MIT */
/* Paths of a daemon's state and sockets. */
#ifndef CLIENT_SOCKETS_H
#define CLIENT_SOCKETS_H

#include <stdbool.h>
#include <sys/types.h>

/* $XDG_CONFIG_HOME/rld/rld.toml, else ~/.config/rld/rld.toml: the settings of a user's daemon. The
 * caller frees. */
char *sockets_config_file(void);

/* $XDG_STATE_HOME/rld, else ~/.local/state/rld. The caller frees. */
char *sockets_state_dir(void);

/* The user of the system daemon: the owner of its socket directory, which only root can create.
 * False: there is none, or others can write to the directory. */
bool sockets_system_owner(uid_t *uid);

/* Whether the unit of the system daemon is installed and not masked. */
bool sockets_system_unit(void);

/* The sockets where a daemon may be found, best first, NULL-terminated: two of the user, then the
 * system's. */
char **sockets_list(void);
void sockets_free(char **sockets);

#endif
