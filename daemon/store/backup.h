/* SPDX-License-Identifier: MIT */
/* A copy of the database, made in small steps between commits. It begins as FILE.partial, is on the
 * disk before it gets its name, and never replaces a file. Used by the thread of the database. */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

struct backup;

enum backup_result { BACKUP_MORE, BACKUP_DONE, BACKUP_FAILED };

/* path: absolute. NULL with a sentence in error that names the file and the remedy. */
struct backup *backup_begin(sqlite3 *source, const char *path, char *error, size_t room);

/* Copy some pages. What source commits in between is in the copy. FAILED: with a sentence in
 * error. */
enum backup_result backup_step(struct backup *backup, char *error, size_t room);

/* Bytes of the copy, 0 before it is DONE. */
int64_t backup_size(const struct backup *backup);

/* Removes the file that is not DONE. backup may be NULL. */
void backup_end(struct backup *backup);

#endif
