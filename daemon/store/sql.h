/* SPDX-License-Identifier: MIT */
/* The text of sql/, embedded at build by embed.awk. C holds no SQL of its own. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <stdbool.h>
#include <stddef.h>

/* The file NNNN-name.sql upgrades the schema from version NNNN-1 to NNNN. */
struct sql_migration {
	const char *name;	/* "0001-init.sql" */
	const char *text;
};

/* A "-- name: N", "-- name: N rows: R" or "-- once: N" of the other files. */
struct sql_statement {
	const char *name;
	bool once;		/* run at open, not kept prepared */
	const char *rows;	/* row type of the columns, NULL: returns no rows */
	const char *text;
};

extern const struct sql_migration sql_migrations[];	/* [0] leads to version 1 */
extern const size_t sql_migrations_count;
extern const struct sql_statement sql_statements[];
extern const size_t sql_statements_count;

#endif
