/* SPDX-License-Identifier: MIT */
#include "store/statement.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "proto/memory.h"
#include "store/shared_text.h"
#include "store/sql.h"

/* A column that is not a field: the value of ":after" for the next page. */
#define AFTER "after"

enum { PUTS_MAX = 4 };

struct statement {
	struct statements *all;
	const struct sql_statement *sql;
	sqlite3_stmt *stmt;		/* NULL: not used yet */
	enum row_kind put;		/* kind written by a ".put", otherwise ROW_KINDS */
	enum row_kind rows;		/* kind of the columns, otherwise ROW_KINDS */
	const struct field **params;	/* for a ".put": [i] is the field of parameter i + 1 */
	const struct field **columns;	/* [i] is the field of column i, NULL for the
					 * column AFTER */
	int nparams, ncolumns;
	int after;			/* index of the column AFTER, -1: not paged */
};

struct statements {
	sqlite3 *db;
	struct statement *list;
	size_t count;
	struct statement *puts[ROW_KINDS][PUTS_MAX];
	struct shared_texts *texts;
};

static enum row_kind kind_named(const char *name, size_t size)
{
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		if (strlen(row_types[kind].name) == size && memcmp(row_types[kind].name, name, size) == 0)
			return (enum row_kind)kind;
	}
	return ROW_KINDS;
}

static const struct field *field_named(enum row_kind kind, const char *name)
{
	const struct row_type *type = &row_types[kind];

	for (size_t i = 0; i < type->nfields; i++) {
		if (strcmp(type->fields[i].name, name) == 0)
			return &type->fields[i];
	}
	return NULL;
}

/* Whether it is "<table>.put" or "<table>.put-something"; *kind: that of the table, if any. */
static bool is_put(const char *name, enum row_kind *kind)
{
	const char *dot = strchr(name, '.');

	if (dot == NULL || strncmp(dot, ".put", 4) != 0 || (dot[4] != '\0' && dot[4] != '-'))
		return false;
	*kind = kind_named(name, (size_t)(dot - name));
	return true;
}

static int map_params(struct statement *s, char *error, size_t room)
{
	s->nparams = sqlite3_bind_parameter_count(s->stmt);
	s->params = xcalloc((size_t)s->nparams, sizeof(*s->params));
	for (int i = 0; i < s->nparams; i++) {
		const char *name = sqlite3_bind_parameter_name(s->stmt, i + 1);

		s->params[i] = name != NULL ? field_named(s->put, name + 1) : NULL;
		if (s->params[i] == NULL) {
			snprintf(error, room, "statement %s: parameter %s is not a field of %s", s->sql->name,
			    name != NULL ? name : "?", row_types[s->put].name);
			return -1;
		}
	}
	return 0;
}

static int map_columns(struct statement *s, char *error, size_t room)
{
	s->ncolumns = sqlite3_column_count(s->stmt);
	s->columns = xcalloc((size_t)s->ncolumns, sizeof(*s->columns));
	for (int i = 0; i < s->ncolumns; i++) {
		const char *name = sqlite3_column_name(s->stmt, i);

		if (strcmp(name, AFTER) == 0) {
			s->after = i;
			continue;
		}
		s->columns[i] = field_named(s->rows, name);
		if (s->columns[i] == NULL) {
			snprintf(error, room, "statement %s: column %s is not a field of %s", s->sql->name, name,
			    row_types[s->rows].name);
			return -1;
		}
	}
	return 0;
}

static int prepare(struct statement *s)
{
	return s->stmt != NULL ? SQLITE_OK :
	    sqlite3_prepare_v3(s->all->db, s->sql->text, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL);
}

/* Most statements are rarely used, and a prepared one takes 10 KiB. */
static void unprepare(struct statement *s)
{
	sqlite3_finalize(s->stmt);
	s->stmt = NULL;
}

static int statement_init(struct statement *s, const struct sql_statement *sql, char *error, size_t room)
{
	s->sql = sql;
	s->put = s->rows = ROW_KINDS;
	s->after = -1;
	if (prepare(s) != SQLITE_OK) {
		snprintf(error, room, "statement %s: %s", sql->name, sqlite3_errmsg(s->all->db));
		return -1;
	}
	if (is_put(sql->name, &s->put)) {
		if (s->put != ROW_KINDS)
			return map_params(s, error, room);
		snprintf(error, room, "statement %s: no such row type", sql->name);
		return -1;
	}
	if (sql->rows == NULL)
		return 0;
	s->rows = kind_named(sql->rows, strlen(sql->rows));
	if (s->rows != ROW_KINDS)
		return map_columns(s, error, room);
	snprintf(error, room, "statement %s: no row type %s", sql->name, sql->rows);
	return -1;
}

static sqlite3_stmt *keep(struct statements *all, const char *name)
{
	struct statement *s = statements_find(all, name);

	if (prepare(s) != SQLITE_OK)
		log_fatal("statement %s: %s", name, sqlite3_errmsg(all->db));
	return s->stmt;
}

/* Every kind must have a ".put", otherwise a decision could not be recorded. */
static int collect_puts(struct statements *all, char *error, size_t room)
{
	size_t count[ROW_KINDS] = { 0 };

	for (size_t i = 0; i < all->count; i++) {
		struct statement *s = &all->list[i];

		if (s->put == ROW_KINDS)
			continue;
		if (count[s->put] == PUTS_MAX) {
			snprintf(error, room, "statement %s: too many for one row type", s->sql->name);
			return -1;
		}
		all->puts[s->put][count[s->put]++] = s;
	}
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		if (count[kind] == 0) {
			snprintf(error, room, "no statement %s.put", row_types[kind].name);
			return -1;
		}
	}
	return 0;
}

struct statements *statements_new(sqlite3 *db, char *error, size_t room)
{
	struct statements *all = xcalloc(1, sizeof(*all));

	all->db = db;
	all->list = xcalloc(sql_statements_count, sizeof(*all->list));
	for (size_t i = 0; i < sql_statements_count; i++) {
		if (sql_statements[i].once)
			continue;
		all->list[all->count].all = all;
		if (statement_init(&all->list[all->count++], &sql_statements[i], error, room) != 0)
			goto failed;
		unprepare(&all->list[all->count - 1]);
	}
	if (collect_puts(all, error, room) != 0)
		goto failed;
	all->texts = shared_texts_new(keep(all, "plan.add"), keep(all, "plan.text"));
	return all;

failed:
	statements_free(all);
	return NULL;
}

void statements_free(struct statements *all)
{
	if (all == NULL)
		return;
	for (size_t i = 0; i < all->count; i++) {
		sqlite3_finalize(all->list[i].stmt);
		free(all->list[i].params);
		free(all->list[i].columns);
	}
	free(all->list);
	shared_texts_free(all->texts);
	free(all);
}

struct statement *statements_find(struct statements *all, const char *name)
{
	for (size_t i = 0; i < all->count; i++) {
		if (strcmp(all->list[i].sql->name, name) == 0)
			return &all->list[i];
	}
	return NULL;
}

const char *statement_name(const struct statement *s)
{
	return s->sql->name;
}

enum row_kind statement_rows(const struct statement *s)
{
	return s->rows;
}

struct statement *statements_put(struct statements *all, enum row_kind kind, size_t i)
{
	return i < PUTS_MAX ? all->puts[kind][i] : NULL;
}

static int bind_number(sqlite3_stmt *stmt, int at, int64_t number)
{
	return number == ROW_NONE ? sqlite3_bind_null(stmt, at) : sqlite3_bind_int64(stmt, at, number);
}

/* Of a text that is stored elsewhere its hash, which outlives the step, too. */
static int bind_shared(struct statement *s, int at, const char *text)
{
	const char *column;
	int rc = shared_text_put(s->all->texts, text, &column);

	return rc != SQLITE_DONE ? rc : sqlite3_bind_text(s->stmt, at, column, -1, SQLITE_STATIC);
}

/* SQLITE_STATIC: the row outlives the step. */
static int bind_field(struct statement *s, int at, const struct field *f, const void *row)
{
	sqlite3_stmt *stmt = s->stmt;
	const void *value = (const char *)row + f->offset;
	double real;

	switch (f->kind) {
	case FIELD_INT:
	case FIELD_TIME:
		return bind_number(stmt, at, *(const int64_t *)value);
	case FIELD_REAL:
		real = *(const double *)value;
		return isnan(real) ? sqlite3_bind_null(stmt, at) : sqlite3_bind_double(stmt, at, real);
	case FIELD_TEXT:
	case FIELD_JSON:
		if (f->shared && *(char *const *)value != NULL && !shared_text_is_hash(*(char *const *)value))
			return bind_shared(s, at, *(char *const *)value);
		return sqlite3_bind_text(stmt, at, *(char *const *)value, -1, SQLITE_STATIC);
	case FIELD_STATE:
		return sqlite3_bind_text(stmt, at, state_name(f->names, *(const int *)value), -1, SQLITE_STATIC);
	}
	abort();
}

/* A hash without its text stays in the row, so that it is not lost when the row is written. What
 * needs the text says so, and a check of the record names the row. */
static char *read_shared(const struct statement *s, const struct field *f, const char *hash)
{
	const char *file = sqlite3_db_filename(s->all->db, "main");
	char *text = NULL;
	int rc = shared_text_get(s->all->texts, hash, &text);

	if (rc == SQLITE_ROW)
		return text;
	if (rc != SQLITE_DONE)
		log_fatal("%s: plan.text: %s: the next start reads what is on disk", file, sqlite3_errstr(rc));
	log_error("%s: statement %s: column %s names %s, which is not in the table plan: restore a backup", file,
	    s->sql->name, f->name, hash);
	return xstrdup(hash);
}

static void read_field(const struct statement *s, int column, const struct field *f, void *row)
{
	void *value = (char *)row + f->offset;
	const char *text;

	if (sqlite3_column_type(s->stmt, column) == SQLITE_NULL)
		return;		/* as row_init() left it */
	switch (f->kind) {
	case FIELD_INT:
	case FIELD_TIME:
		*(int64_t *)value = sqlite3_column_int64(s->stmt, column);
		break;
	case FIELD_REAL:
		*(double *)value = sqlite3_column_double(s->stmt, column);
		break;
	case FIELD_TEXT:
	case FIELD_JSON:
		text = (const char *)sqlite3_column_text(s->stmt, column);
		if (text == NULL)
			abort();	/* out of memory */
		if (f->shared && shared_text_is_hash(text)) {
			*(char **)value = read_shared(s, f, text);
			break;
		}
		*(char **)value = xmemdup0(text, (size_t)sqlite3_column_bytes(s->stmt, column));
		break;
	case FIELD_STATE:
		text = (const char *)sqlite3_column_text(s->stmt, column);
		if (text == NULL)
			abort();
		*(int *)value = state_value(f->names, text);
		if (*(int *)value == -1)
			log_fatal("%s: statement %s: column %s contains '%s', which is not a valid %s: "
			    "restore a backup",
			    sqlite3_db_filename(sqlite3_db_handle(s->stmt), "main"), s->sql->name, f->name, text,
			    f->names->what);
		break;
	}
}

int statement_write(struct statement *s, const void *row)
{
	int rc = prepare(s);

	if (rc != SQLITE_OK)
		return rc;
	for (int i = 0; i < s->nparams; i++) {
		rc = bind_field(s, i + 1, s->params[i], row);
		if (rc != SQLITE_OK)
			return rc;
	}
	rc = sqlite3_step(s->stmt);
	sqlite3_reset(s->stmt);
	return rc;
}

static int bind_query(struct statement *s, const struct query_bind *binds)
{
	int rc = prepare(s);

	if (rc == SQLITE_OK)
		sqlite3_clear_bindings(s->stmt);
	for (const struct query_bind *b = binds; b != NULL && b->name != NULL && rc == SQLITE_OK; b++) {
		int at = sqlite3_bind_parameter_index(s->stmt, b->name);

		if (at == 0)
			log_fatal("bug: statement %s has no parameter %s", s->sql->name, b->name);
		rc = b->text != NULL ? sqlite3_bind_text(s->stmt, at, b->text, -1, SQLITE_STATIC) :
		    bind_number(s->stmt, at, b->number);
	}
	return rc;
}

static void *read_row(const struct statement *s)
{
	void *row = row_new(s->rows);

	for (int i = 0; i < s->ncolumns; i++) {
		if (s->columns[i] != NULL)
			read_field(s, i, s->columns[i], row);
	}
	return row;
}

int statement_run(struct statement *s, const struct query_bind *binds, size_t max, struct rowset *set)
{
	int64_t after = ROW_NONE;
	size_t room = 0;
	int rc;

	*set = (struct rowset){ .kind = s->rows, .after = ROW_NONE };
	rc = bind_query(s, binds);
	if (rc != SQLITE_OK)
		return rc;
	while ((rc = sqlite3_step(s->stmt)) == SQLITE_ROW) {
		assert(s->rows != ROW_KINDS);
		if (set->count == max) {	/* there is another one, so there is a next page */
			set->after = after;
			rc = SQLITE_DONE;
			break;
		}
		if (set->count == room) {
			room = room > 0 ? room * 2 : 16;
			set->rows = xreallocarray(set->rows, room, sizeof(*set->rows));
		}
		set->rows[set->count++] = read_row(s);
		if (s->after != -1)
			after = sqlite3_column_int64(s->stmt, s->after);
	}
	/* immediately: an unfinished SELECT would block checkpoints of the WAL */
	sqlite3_reset(s->stmt);
	if (rc != SQLITE_DONE)
		rowset_release(set);
	return rc;
}

void rowset_release(struct rowset *set)
{
	for (size_t i = 0; i < set->count; i++)
		row_free(set->kind, set->rows[i]);
	free(set->rows);
	set->rows = NULL;
	set->count = 0;
}
