/* SPDX-License-Identifier: MIT */
/* Locks left behind by a killed git: files FILE.lock, which git never removes. Only those are
 * removed that no other process can hold: because only the repeated operation works there, or
 * because the machine has been restarted since.
 * Blocking: off the loop only. */
#ifndef GIT_LOCK_H
#define GIT_LOCK_H

/* For a ref used only by rld, a full name; NULL: none. common: the repository's common
 * directory. */
void lock_remove_ref(const char *common, const char *ref);

/* For the work tree dir of a task, absolute: its HEAD and index, and its branch if it is one of
 * ours. */
void lock_remove_tree(const char *common, const char *dir);

/* Of an earlier boot: for the directory of a user, which other programs use, too. */
void lock_remove_old(const char *common, const char *dir);

#endif
