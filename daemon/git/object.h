/* SPDX-License-Identifier: MIT */
/* Commit objects: what a replayed commit keeps, and new ones as text. */
#ifndef GIT_OBJECT_H
#define GIT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "git/change.h"
#include "proto/memory.h"

struct commit_object {
	char tree[GIT_ID_MAX];
	char *author;		/* owned: name, address, time, unchanged */
	char *encoding;		/* owned, of the message; NULL: UTF-8 */
	char *message;		/* owned, unchanged */
	size_t message_size;
	int64_t committed;	/* seconds */
};

/* The next one in the output of `cat-file --batch`; *data moves past it. False: none, or not a
 * commit. */
bool commit_object_read(struct commit_object *commit, const char **data, const char *end);
void commit_object_release(struct commit_object *commit);

/* By rld, with author and message of like, which may be NULL: then by rld, with a dummy message.
 * parents: NULL-terminated. */
void commit_object_write(struct buf *out, const char *tree, const char *const *parents,
    const struct commit_object *like, int64_t committed);

#endif
