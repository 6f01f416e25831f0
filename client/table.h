/* SPDX-License-Identifier: MIT */
/* A table of text: columns as wide as their widest cell, the flexible ones cut until the whole fits the terminal.
 * A column in which nothing was written is left out. */
#ifndef CLIENT_TABLE_H
#define CLIENT_TABLE_H

#include "client/print.h"

enum { TABLE_RIGHT = 1, TABLE_FLEXIBLE = 2 };

struct table_column {
	const char *title;
	int flags;
};

struct table;

/* columns must live as long as the table. */
struct table *table_new(const struct table_column *columns, size_t count);
void table_free(struct table *t);

/* The next cell, row by row. table_take() takes text over and frees it. */
void table_add(struct table *t, enum paint paint, const char *text);
void table_take(struct table *t, enum paint paint, char *text);

/* A table of lines "name  value", printed bare. table_fact() frees value, and is silent when there is nothing to say. */
struct table *table_facts(void);
void table_fact(struct table *t, const char *name, enum paint paint, char *value);

/* With a line of titles unless the table is empty or bare. */
void table_print(struct table *t, const struct print *p, bool bare);

#endif
