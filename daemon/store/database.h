/* SPDX-License-Identifier: MIT */
/* The only connection to the database: open, migrate, transactions, and the meaning of errors. Used
 * by one thread at a time. */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include "store/store.h"

struct backup;
struct database;
struct statement;

/* Results that a caller handles; any other failure ends the process and names file and
 * statement. */
enum database_result {
	DATABASE_OK,
	DATABASE_FULL	/* no space; database_rollback() loses nothing */
};

/* NULL with a sentence in error that names the file and the remedy. */
struct database *database_open(const char *path, char *error, size_t room);
void database_close(struct database *db);

/* Valid as long as db; a name missing in sql/ is a bug and ends the process. */
struct statement *database_statement(struct database *db, const char *name);

enum database_result database_begin(struct database *db);
enum database_result database_put(struct database *db, enum row_kind kind, const void *row);
enum database_result database_change(struct database *db, struct statement *s, const struct query_bind *binds);

/* Write everything but the commit mark to the disk and reserve the space for it. Lack of space
 * shows here, where a rollback is still possible. */
enum database_result database_flush(struct database *db);

/* After database_flush(). Any error ends the process, because the commit may have happened. */
void database_commit(struct database *db);
void database_rollback(struct database *db);

/* Rows of s, which must be of this kind; see statement_run(). */
void database_read(struct database *db, struct statement *s, enum row_kind kind,
    const struct query_bind *binds, size_t max, struct rowset *set);

/* Check the whole file; deep: also its indexes against their tables. fault gets what is wrong. */
enum store_health database_check(struct database *db, bool deep, char *fault, size_t room);

/* See backup_begin(). */
struct backup *database_backup(struct database *db, const char *path, char *error, size_t room);

/* Move the WAL into the database if it is long enough. */
void database_checkpoint(struct database *db);

#endif
