/* SPDX-License-Identifier: MIT */
#include "store/migrate.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/script.h"
#include "store/sql.h"

#define OUR_ID "1919706161"	/* application_id of 0001-init.sql */

/* Version, application id and count of tables of the database. */
static int identity(sqlite3 *db, int *version, bool *ours, bool *blank, char *error, size_t room)
{
	struct script_row row = { 0 };

	if (script_once(db, "connection.identity", &row, error, room) != 0)
		return -1;
	*version = (int)strtonum(row.values[0], INT_MIN, INT_MAX, NULL);
	*ours = strcmp(row.values[1], OUR_ID) == 0;
	*blank = strcmp(row.values[2], "0") == 0;
	return 0;
}

int migrate_version(sqlite3 *db, char *error, size_t room)
{
	const char *path = sqlite3_db_filename(db, "main");
	bool ours, blank;
	int version;

	if (identity(db, &version, &ours, &blank, error, room) != 0)
		return -1;
	if (blank && version == 0)
		return 0;
	if (!ours || version < 1) {
		snprintf(error, room, "%s: the database of another program: move it away, "
		    "or name another place with --state-dir", path);
		return -1;
	}
	if ((size_t)version > sql_migrations_count) {
		snprintf(error, room,
		    "%s: written by a newer rld (schema %d, this one supports %zu): start the "
		    "newer one, or name another place with --state-dir",
		    path, version, sql_migrations_count);
		return -1;
	}
	return version;
}

static int migrate_one(sqlite3 *db, int version, char *error, size_t room)
{
	const struct sql_migration *m = &sql_migrations[version - 1];
	bool ours, blank;
	int reached;

	if (script_once(db, "migration.begin", NULL, error, room) != 0)
		return -1;
	if (script_text(db, m->text, NULL, error, room) != 0 || identity(db, &reached, &ours, &blank, error, room) != 0)
		goto rollback;
	if (reached != version) {
		snprintf(error, room, "bug: %s leaves the schema at version %d", m->name, reached);
		goto rollback;
	}
	/* on failure the caller gives up, so there is no retry */
	return script_once(db, "migration.commit", NULL, error, room);

rollback:
	if (!sqlite3_get_autocommit(db))
		script_once(db, "migration.rollback", NULL, (char[1]){ 0 }, 1);
	return -1;
}

int migrate_run(sqlite3 *db, int version, char *error, size_t room)
{
	while ((size_t)version < sql_migrations_count) {
		if (migrate_one(db, ++version, error, room) != 0)
			return -1;
	}
	return 0;
}
