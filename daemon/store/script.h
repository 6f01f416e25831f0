/* SPDX-License-Identifier: MIT */
/* Scripts of sql/ that run while the database is opened, and their errors as sentences. */
#ifndef STORE_SCRIPT_H
#define STORE_SCRIPT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/* The result of a script that returns one row of up to three values, as text. */
struct script_row {
	char values[3][256];
};

/* Run a "-- once:" script of sql/; row may be NULL. 0, or -1 with a sentence in error. */
int script_once(sqlite3 *db, const char *name, struct script_row *row, char *error, size_t room);

/* Run text (one or more statements). */
int script_text(sqlite3 *db, const char *text, struct script_row *row, char *error, size_t room);

/* A call failed with rc, by errno error, for lack of space. */
bool script_is_full(int rc, int error);

/* The sentence for code rc of the last call on db: the file, what is wrong, the remedy. */
void script_error(sqlite3 *db, int rc, char *error, size_t room);

#endif
