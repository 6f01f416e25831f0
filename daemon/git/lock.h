/* SPDX-License-Identifier: MIT */
/* Locks that a git has left behind that was killed: files FILE.lock, which nobody takes away but
 * people. Only those are removed that nobody else can hold, since what begins again is the only one
 * that works there. Blocking: off the loop only. */
#ifndef GIT_LOCK_H
#define GIT_LOCK_H

/* Of a ref that is ours alone, a full name; NULL: none. common: the repository's common
 * directory. */
void lock_remove_ref(const char *common, const char *ref);

/* Of the work tree dir of a task, absolute: of its HEAD and index, and of the branch of ours that
 * it is on. */
void lock_remove_tree(const char *common, const char *dir);

#endif
