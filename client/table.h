/* SPDX-License-Identifier: MIT */
/* A table of text: columns as wide as their widest cell. Empty columns are omitted. On a terminal
 * that is too narrow, spare columns are left out while flexible ones have no useful width; then
 * these are cut until the table fits. */
#ifndef CLIENT_TABLE_H
#define CLIENT_TABLE_H

#include <jansson.h>

#include "client/print.h"

struct table;

/* TABLE_COMMON: left out on a terminal if several rows all have the same text. */
enum { TABLE_RIGHT = 1, TABLE_FLEXIBLE = 2, TABLE_COMMON = 4 };

struct table_column {
	const char *title;
	int flags;
	/* text of the cell; new. See cell.h */
	char *(*text)(const json_t *row, const char *key);
	const char *key;
	enum paint paint;
	/* used instead of paint; NULL: none */
	enum paint (*paint_of)(const char *text);
	int spare;		/* left out if there is no room, 1 first; 0: never */
};

/* A line of titles and a line for each object of rows; nothing if there are none. */
void table_print_rows(const struct print *p, const struct table_column *columns, size_t count, const json_t *rows);
/* The same without titles. */
void table_print_bare(const struct print *p, const struct table_column *columns, size_t count, const json_t *rows);
/* The same as table_print_rows(), with an empty line in front. */
void table_print_apart(const struct print *p, const struct table_column *columns, size_t count, const json_t *rows);

/* Lines "name  value" for one object. Values that are "" are left out. table_fact() takes value;
 *              table_member() shows a text of object. */
struct table *table_facts(void);
void table_fact(struct table *t, const char *name, enum paint paint, char *value);
void table_member(struct table *t, const char *name, enum paint paint, const json_t *object, const char *key);
/* Print and free it. */
void table_print_facts(struct table *t, const struct print *p);

#endif
