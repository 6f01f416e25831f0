/* SPDX-License-Identifier: MIT */
/* Migrations of the schema to the version of this program, one transaction each. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include <sqlite3.h>
#include <stddef.h>

/* The version of a database, or -1 with a sentence in error: of another program, or newer than this
 * one. Only reads. */
int migrate_version(sqlite3 *db, char *error, size_t room);

/* Run all migrations after version. 0, or -1 with a sentence in error; the failed migration is
 * rolled back. */
int migrate_run(sqlite3 *db, int version, char *error, size_t room);

#endif
