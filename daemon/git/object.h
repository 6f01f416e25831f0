/* SPDX-License-Identifier: MIT */
/* Commits as git stores them: what of one a replayed one keeps, and new ones as text. */
#ifndef GIT_OBJECT_H
#define GIT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "git/change.h"
#include "proto/memory.h"

struct commit_object {
	char tree[GIT_ID_MAX];
	char *author;		/* owned: name, address, time, as it is written */
	char *encoding;		/* owned, of the message; NULL: UTF-8 */
	char *message;		/* owned, as it is written */
	size_t message_size;
	int64_t committed;	/* seconds */
};

/* The next one in the output of `cat-file --batch`; *data is moved behind it. False: there is none,
 * or it is no commit. */
bool commit_object_read(struct commit_object *commit, const char **data, const char *end);
void commit_object_release(struct commit_object *commit);

/* By rld, with author and message of like, which may be NULL: rld's too, and of no meaning.
 * parents: NULL-terminated. */
void commit_object_write(struct buf *out, const char *tree, const char *const *parents,
    const struct commit_object *like, int64_t committed);

#endif
