/* SPDX-License-Identifier: MIT */
/* Where a daemon keeps its state and its sockets. */
#ifndef CLIENT_PLACE_H
#define CLIENT_PLACE_H

/* $XDG_STATE_HOME/rld, else ~/.local/state/rld. The caller frees. */
char *place_state_dir(void);

/* The sockets at which a daemon may be found, best first, ending with NULL: the user's two, then the system's. */
char **place_sockets(void);
void place_sockets_free(char **sockets);

#endif
