/* SPDX-License-Identifier: MIT */
/* The named statements of sql/, prepared when they are used. Rows are bound and read by the field
 * table of core/row.h. */
#ifndef STORE_STATEMENT_H
#define STORE_STATEMENT_H

#include <sqlite3.h>

#include "store/store.h"

struct statement;
struct statements;

/* Check all statements, each parameter and column against the field table. NULL with a sentence in
 * error. */
struct statements *statements_new(sqlite3 *db, char *error, size_t room);
void statements_free(struct statements *all);

/* NULL: no such statement. */
struct statement *statements_find(struct statements *all, const char *name);

const char *statement_name(const struct statement *s);
/* The row type of its columns, ROW_KINDS if it returns no rows. */
enum row_kind statement_rows(const struct statement *s);

/* The i-th statement that writes a row of this kind; NULL: no more. */
struct statement *statements_put(struct statements *all, enum row_kind kind, size_t i);

/* Run a ".put" with row's fields. Returns SQLITE_DONE, or an error code. */
int statement_write(struct statement *s, const void *row);

/* Run any other statement with binds (may be NULL). set gets at most max rows. SQLITE_DONE, or an
 * error code and an empty set. */
int statement_run(struct statement *s, const struct query_bind *binds, size_t max, struct rowset *set);

#endif
