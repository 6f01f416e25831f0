/* SPDX-License-Identifier: MIT */
/* Brings the schema of a database up to this program's, one transaction per migration. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include <sqlite3.h>
#include <stddef.h>

/* Refuse what is not ours, or newer than this program. The version found, or -1 with a sentence in
 * error. Only reads. */
int migrate_version(sqlite3 *db, char *error, size_t room);

/* From version on, as found. 0, or -1 with a sentence in error; the migration that
 * failed is rolled back. */
int migrate_run(sqlite3 *db, int version, char *error, size_t room);

#endif
