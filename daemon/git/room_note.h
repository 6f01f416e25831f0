/* SPDX-License-Identifier: MIT */
/* What is known of a room that is reused, in files of the evidence repository. While the room is
 * being made there is none: so after a death in the middle the next one is a clean one. */
#ifndef GIT_ROOM_NOTE_H
#define GIT_ROOM_NOTE_H

#include "git/git_run.h"

#define ROOM_TREE "tree"	/* what was laid out in it */
#define ROOM_SETUP "setup"	/* "KEY TREE": the set-up of prepared_key() ran for that tree */

/* malloc'd; NULL: there is none. */
char *room_note_read(const struct git_op *op, const char *what);
/* Without a note, the room is a clean one, or the set-up runs again. */
void room_note_write(const struct git_op *op, const char *what, const char *text);
void room_note_remove(const struct git_op *op, const char *what);

#endif
