/* SPDX-License-Identifier: MIT */
/* limits.disk_floor: agents fill disks, and the database may be on the same one. Blocking. */
#ifndef JOB_DISK_FLOOR_H
#define JOB_DISK_FLOOR_H

#include <stdint.h>

/* The reason to wait, malloc'd: less than floor bytes (0: no limit) are free for the state
 * directory or for dir, even without what is kept only to save time; that is removed. NULL: there
 * is enough. */
char *disk_shortage(const char *state_dir, const char *dir, int64_t floor);

#endif
