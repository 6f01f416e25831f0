/* SPDX-License-Identifier: MIT */
/* Objects that are hashed again when they are read: git believes what lies under an id. */
#ifndef GIT_VERIFIED_H
#define GIT_VERIFIED_H

#include <sha1.h>
#include <sha2.h>
#include <stdbool.h>
#include <stdint.h>

#include "git/git_run.h"

/* An id while its object is read. */
struct verified_id {
	bool sha256;
	union {
		SHA1_CTX sha1;
		SHA2_CTX sha2;
	} context;
};

/* type: "blob", ...; like: an id of the repository. */
void verified_begin(struct verified_id *id, const char *type, unsigned long long size, const char *like);
void verified_add(struct verified_id *id, const void *data, size_t size);
void verified_end(struct verified_id *id, char hex[GIT_ID_MAX]);

/* Of an object: as git does, it is binary if a NUL is among its first bytes. */
struct verified_look {
	uint64_t size;
	bool binary;
};

/* Read objects, an id per line, in the repository that flags name, GIT_EVIDENCE or 0: missing gets
 * the lines of those that it lacks, looks (NULL: not wanted) one element for each line. 0; -1: one
 * is not what its id says, or is damaged. */
int verified_read(struct git_op *op, unsigned flags, const struct buf *ids, struct buf *missing,
    struct verified_look *looks);

/* The same; one that the evidence repository lacks is an error, too. Elsewhere, what reads it then
 * says so. */
int verified_all(struct git_op *op, unsigned flags, const struct buf *ids, struct verified_look *looks);

/* git could not list the tree, and exited: -1, with the error. */
int verified_fail_tree(struct git_op *op, const char *tree);

/* The same for everything in which two trees of the evidence repository differ; they must be there.
 * Without one, nothing is done. */
int verified_difference(struct git_op *op, const char *from, const char *to);
/* ... and for the directories of a tree, of which entries gets all that is in them. */
int verified_list(struct git_op *op, const char *tree, struct changes *entries);

/* The sentence about it, malloc'd; git_dir is where it lies. */
char *verified_error(const struct git_op *op, unsigned flags, const char *id);

#endif
