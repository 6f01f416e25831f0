/* SPDX-License-Identifier: MIT */
/* A machine named by --host or RLD_HOST, and what ssh runs there. Pure. */
#ifndef CLIENT_HOST_H
#define CLIENT_HOST_H

#include <stdbool.h>

#include "proto/memory.h"

struct host {
	char *url;		/* as given */
	char *target;		/* [USER@]HOST, as ssh takes it */
	char *port;		/* NULL: as ssh is configured */
	/* lines for the user's shell there: to connect, and to return to a daemon that was there */
	char *command, *again;
};

/* Parse ssh://[USER@]HOST[:PORT]. Returns NULL with a sentence about it in *why (static). */
struct host *host_new(const char *url, const char **why);
void host_free(struct host *host);

/* A word of a command line, as any shell takes it: one without special letters stays as it is,
 * others go in single quotes. */
void host_add_word(struct buf *line, const char *word);

/* rlctl there with these words (NULL last), each quoted for any shell. The caller frees. */
char *host_command(const char *const *words);

/* ssh and its arguments, NULL last; a list to free whose strings are borrowed. batch: ssh must ask
 * nothing. */
const char **host_argv(const struct host *host, const char *command, bool batch);

#endif
