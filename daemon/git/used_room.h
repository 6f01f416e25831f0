/* SPDX-License-Identifier: MIT */
/* Used rooms: a room in which nobody works any more makes the next one of its evidence repository
 * cheap, whatever the tree of that. What is as it was laid out moves over: files, and directories
 * in which nothing was touched. Nothing else of the old room gets into the new one. */
#ifndef GIT_USED_ROOM_H
#define GIT_USED_ROOM_H

#include "git/change.h"
#include "git/git_run.h"
#include "git/unpack.h"

struct used_room;

/* Keep the room of an ended task for later ones, with the files of its tree alone: a few for each
 * evidence repository, for two weeks. objects: that repository; NULL: there is none, and the room
 * is removed, as where agents have another user. A failure is no error: then the next room is
 * written as a whole. */
void used_room_keep(const char *room, const char *objects);

/* Remove all that are kept, below a state directory. False: there were none. */
bool used_rooms_remove(const char *state_dir);

/* What is at spec.dir, else a room that was kept. NULL: there is none. The room leaves its place:
 * nobody else has it, and used_room_free() removes what is left of it. */
struct used_room *used_room_open(struct git_op *op);
void used_room_free(struct used_room *used);

/* Move the files of entries that it (NULL: none) has. rest: borrows the others; free only the list.
 * 0 or -errno. */
int used_room_move(struct used_room *used, const struct changes *entries, struct unpack *to, struct changes *rest);

/* Whether it is that of spec.dir, with all that was made there. */
bool used_room_is_own(const struct used_room *used);
/* Move what it has beside the files of its tree, and .git, to where there is nothing yet. 0 or
 * -errno. */
int used_room_move_rest(struct used_room *used, const struct changes *its, struct unpack *to);

#endif
