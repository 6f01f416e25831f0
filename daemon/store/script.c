/* SPDX-License-Identifier: MIT */
#include "store/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sql.h"

static const struct {
	int code;
	const char *sentence;
} remedies[] = {
	{ SQLITE_BUSY, "in use by another process: end that process first" },
	{ SQLITE_NOTADB, "not a database: move it away, or name another place with --state-dir" },
	{ SQLITE_CORRUPT,
	    "damaged: restore a backup, or move it away to start with an empty database" },
	{ SQLITE_READONLY, "cannot be written: change its owner, or name another place with --state-dir" },
	{ SQLITE_PERM, "cannot be written: change its owner, or name another place with --state-dir" },
	{ SQLITE_CANTOPEN,
	    "cannot be opened: check the permissions of its directory, or name another place with "
	    "--state-dir" },
};

bool script_is_full(int rc, int error)
{
	return (rc & 0xff) == SQLITE_FULL ||
	    ((rc & 0xff) == SQLITE_IOERR && (error == ENOSPC || error == EDQUOT || error == EFBIG));
}

void script_error(sqlite3 *db, int rc, char *error, size_t room)
{
	const char *path = sqlite3_db_filename(db, "main");

	if (script_is_full(rc, sqlite3_system_errno(db))) {
		snprintf(error, room,
		    "%s: no space left: free some space, or name another place with --state-dir", path);
		return;
	}
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
		if (remedies[i].code == (rc & 0xff)) {
			snprintf(error, room, "%s: %s", path, remedies[i].sentence);
			return;
		}
	}
	snprintf(error, room, "%s: %s", path, sqlite3_errmsg(db));
}

static int keep_row(void *arg, int count, char **values, char **names)
{
	struct script_row *row = arg;

	(void)names;
	for (int i = 0; row != NULL && i < count && i < 3; i++)
		strlcpy(row->values[i], values[i] != NULL ? values[i] : "", sizeof(row->values[i]));
	return 0;
}

int script_text(sqlite3 *db, const char *text, struct script_row *row, char *error, size_t room)
{
	int rc = sqlite3_exec(db, text, keep_row, row, NULL);

	if (rc == SQLITE_OK)
		return 0;
	script_error(db, rc, error, room);
	return -1;
}

int script_once(sqlite3 *db, const char *name, struct script_row *row, char *error, size_t room)
{
	for (size_t i = 0; i < sql_statements_count; i++) {
		if (sql_statements[i].once && strcmp(sql_statements[i].name, name) == 0)
			return script_text(db, sql_statements[i].text, row, error, room);
	}
	abort();	/* a name missing in sql/ */
}
