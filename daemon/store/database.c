/* SPDX-License-Identifier: MIT */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/memory.h"
#include "store/backup.h"
#include "store/migrate.h"
#include "store/script.h"
#include "store/statement.h"

/* quick_check reads the whole file, 1 ms per MiB: checking larger ones would delay each start by
 * more than a quarter second. */
#define CHECK_MAX (256 << 20)

/* A requested check blocks commits: limit its duration, and steps of SQLite's machine between two
 * looks at the clock. */
#define CHECK_NS (UINT64_C(10) * 1000000000)
#define CHECK_STEPS 20000

/* Frames in the WAL that justify a checkpoint: 4 MiB. */
#define CHECKPOINT_FRAMES 1000

/* The commit mark needs one page of 4 KiB; reserving more at a time saves calls while the WAL
 * grows. */
#define RESERVE_MIN (16 << 10)
#define RESERVE_STEP (256 << 10)

struct database {
	sqlite3 *handle;
	struct statements *statements;
	struct statement *begin, *commit, *rollback;
	char *path;
	/* our own descriptor, for fallocate(2) only; -1 before it is open */
	int wal;
	off_t wal_size;		/* as last seen */
	off_t reserved;		/* blocks of the WAL are allocated up to here */
	int frames;		/* in the WAL after the last commit */
	bool checkpoint_failed;	/* reported once */
};

/* Create the file with mode 0600 before SQLite sees it; the WAL inherits the mode. It is closed
 * again before SQLite opens it, because a later close(2) would drop SQLite's locks. */
static int create_file(const char *path, off_t *size, char *error, size_t room)
{
	struct stat st;
	int fd;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd == -1) {
		const char *remedy = errno == ENOENT ? "its directory does not exist: create it" :
		    errno == EISDIR ? "there is a directory in its place: move it away" :
		    errno == ELOOP ? "there is a symbolic link in its place: move it away" :
		    errno == ENOSPC || errno == EDQUOT ? "free some space" :
		        "change its permissions";

		snprintf(error, room, "%s: %s: %s, or name another place with --state-dir", path,
		    strerror(errno), remedy);
		return -1;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		snprintf(error, room,
		    "%s: not a regular file: move it away, or name another place with --state-dir", path);
		goto failed;
	}
	if ((st.st_mode & 077) != 0 && fchmod(fd, 0600) != 0) {
		snprintf(error, room, "%s: readable by other users: %s: chmod it to 0600", path, strerror(errno));
		goto failed;
	}
	*size = st.st_size;
	close(fd);
	return 0;

failed:
	close(fd);
	return -1;
}

static int check_content(sqlite3 *handle, char *error, size_t room)
{
	struct script_row row = { 0 };

	if (script_once(handle, "connection.check", &row, error, room) != 0)
		return -1;
	if (strcmp(row.values[0], "ok") == 0)
		return 0;
	snprintf(error, room,
	    "%s: damaged (%s): restore a backup, or move it away to start with an empty database",
	    sqlite3_db_filename(handle, "main"), row.values[0]);
	return -1;
}

static int enter_wal(sqlite3 *handle, char *error, size_t room)
{
	struct script_row row = { 0 };

	if (script_once(handle, "connection.journal", &row, error, room) != 0)
		return -1;
	/* a database that was in another mode gets its WAL with the first read */
	if (strcmp(row.values[0], "wal") == 0)
		return script_once(handle, "connection.identity", &row, error, room);
	snprintf(error, room,
	    "%s: the file system does not support write-ahead logging: name another place with "
	    "--state-dir",
	    sqlite3_db_filename(handle, "main"));
	return -1;
}

/* Call it after a read or write in WAL mode, when the file exists. */
static int open_wal(struct database *db, char *error, size_t room)
{
	char *path = xasprintf("%s-wal", db->path);

	db->wal = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (db->wal == -1)
		snprintf(error, room, "%s: %s: check the permissions of its directory", path, strerror(errno));
	free(path);
	return db->wal == -1 ? -1 : 0;
}

static int wal_hook(void *arg, sqlite3 *handle, const char *name, int frames)
{
	struct database *db = arg;

	(void)handle;
	(void)name;
	db->frames = frames;
	return SQLITE_OK;
}

/* Refuse features that would make the connection depend on the content of the file. */
static void harden(sqlite3 *handle)
{
	sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
}

struct database *database_open(const char *path, char *error, size_t room)
{
	struct database *db;
	off_t size;
	int version, rc;

	if (create_file(path, &size, error, room) != 0)
		return NULL;
	db = xcalloc(1, sizeof(*db));
	db->path = xstrdup(path);
	db->wal = -1;
	rc = sqlite3_open_v2(path, &db->handle,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (db->handle == NULL)
		abort();	/* out of memory */
	if (rc != SQLITE_OK) {
		script_error(db->handle, rc, error, room);
		goto failed;
	}
	harden(db->handle);
	if (script_once(db->handle, "connection.setup", NULL, error, room) != 0)
		goto failed;
	version = migrate_version(db->handle, error, room);
	if (version == -1)
		goto failed;
	if (size <= CHECK_MAX && check_content(db->handle, error, room) != 0)
		goto failed;
	if (enter_wal(db->handle, error, room) != 0 || migrate_run(db->handle, version, error, room) != 0)
		goto failed;
	if (open_wal(db, error, room) != 0)
		goto failed;
	db->statements = statements_new(db->handle, error, room);
	if (db->statements == NULL)
		goto failed;
	db->begin = database_statement(db, "transaction.begin");
	db->commit = database_statement(db, "transaction.commit");
	db->rollback = database_statement(db, "transaction.rollback");
	/* replaces the automatic checkpoint, whose errors are ignored */
	sqlite3_wal_hook(db->handle, wal_hook, db);
	/* pages that the checks have read */
	sqlite3_db_release_memory(db->handle);
	return db;

failed:
	database_close(db);
	return NULL;
}

void database_close(struct database *db)
{
	if (db == NULL)
		return;
	if (db->statements != NULL) {
		int rc = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

		if (rc != SQLITE_OK)
			log_warn("%s: checkpoint: %s: the records remain in %s-wal", db->path,
			    sqlite3_errmsg(db->handle), db->path);
		statements_free(db->statements);
	}
	if (db->wal != -1)
		close(db->wal);
	if (sqlite3_close(db->handle) != SQLITE_OK)
		log_bug("%s: %s", db->path, sqlite3_errmsg(db->handle));
	free(db->path);
	free(db);
}

struct statement *database_statement(struct database *db, const char *name)
{
	struct statement *s = statements_find(db->statements, name);

	if (s == NULL)
		log_fatal("bug: no such statement: %s", name);
	return s;
}

_Noreturn static void die(struct database *db, const char *what)
{
	int error = sqlite3_system_errno(db->handle);

	log_fatal("%s: %s: %s%s%s: the next start reads what is on disk", db->path, what, sqlite3_errmsg(db->handle),
	    error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
}

/* Within a transaction only the WAL is written; its file handle keeps the errno, even where the
 * connection does not return it. */
static bool no_space(struct database *db, int rc)
{
	sqlite3_file *wal = NULL;
	int error = 0;

	if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) == SQLITE_OK &&
	    wal != NULL && wal->pMethods != NULL)
		wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &error);
	return script_is_full(rc, error);
}

/* Classify the outcome of s. */
static enum database_result outcome(struct database *db, struct statement *s, int rc)
{
	if (rc == SQLITE_DONE)
		return DATABASE_OK;
	if (no_space(db, rc))
		return DATABASE_FULL;
	die(db, statement_name(s));
}

static int run_plain(struct statement *s, const struct query_bind *binds)
{
	struct rowset none;
	int rc = statement_run(s, binds, 0, &none);

	rowset_release(&none);
	return rc;
}

enum database_result database_begin(struct database *db)
{
	return outcome(db, db->begin, run_plain(db->begin, NULL));
}

enum database_result database_put(struct database *db, enum row_kind kind, const void *row)
{
	enum database_result result = DATABASE_OK;
	struct statement *s;

	for (size_t i = 0; result == DATABASE_OK && (s = statements_put(db->statements, kind, i)) != NULL; i++)
		result = outcome(db, s, statement_write(s, row));
	return result;
}

enum database_result database_change(struct database *db, struct statement *s, const struct query_bind *binds)
{
	return outcome(db, s, run_plain(s, binds));
}

/* Reserve blocks for the commit mark after the end of the WAL, if the file system can. */
static enum database_result reserve(struct database *db)
{
	struct stat st;

	if (fstat(db->wal, &st) != 0)
		log_fatal("%s-wal: %s", db->path, strerror(errno));
	if (st.st_size < db->wal_size)
		db->reserved = 0;	/* it was truncated, including the reserved blocks */
	db->wal_size = st.st_size;
	if (db->reserved >= st.st_size + RESERVE_MIN)
		return DATABASE_OK;
	while (fallocate(db->wal, FALLOC_FL_KEEP_SIZE, st.st_size, RESERVE_STEP) != 0) {
		if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
			return DATABASE_FULL;
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			return DATABASE_OK;
		if (errno != EINTR)
			log_fatal("%s-wal: cannot reserve space: %s", db->path, strerror(errno));
	}
	db->reserved = st.st_size + RESERVE_STEP;
	return DATABASE_OK;
}

enum database_result database_flush(struct database *db)
{
	int rc = sqlite3_db_cacheflush(db->handle);

	if (rc == SQLITE_OK)
		return reserve(db);
	if (no_space(db, rc))
		return DATABASE_FULL;
	log_fatal("%s: writing ahead of the commit: %s", db->path, sqlite3_errstr(rc));
}

void database_commit(struct database *db)
{
	if (run_plain(db->commit, NULL) != SQLITE_DONE)
		die(db, "the commit reported a failure, but may have succeeded");
}

void database_rollback(struct database *db)
{
	if (sqlite3_get_autocommit(db->handle))
		return;		/* the error rolled back already */
	if (run_plain(db->rollback, NULL) != SQLITE_DONE)
		die(db, statement_name(db->rollback));
}

void database_read(struct database *db, struct statement *s, enum row_kind kind,
    const struct query_bind *binds, size_t max, struct rowset *set)
{
	if (statement_rows(s) != kind)
		log_fatal("bug: statement %s returns no %s rows", statement_name(s), row_types[kind].name);
	if (statement_run(s, binds, max, set) != SQLITE_DONE)
		die(db, statement_name(s));
}

static int is_late(void *arg)
{
	return uv_hrtime() > *(const uint64_t *)arg;
}

enum store_health database_check(struct database *db, bool deep, char *fault, size_t room)
{
	uint64_t end = uv_hrtime() + CHECK_NS;
	struct script_row row = { 0 };
	struct stat st;
	int rv;

	if (!deep && stat(db->path, &st) == 0 && st.st_size > CHECK_MAX)
		return STORE_UNCHECKED;
	sqlite3_progress_handler(db->handle, CHECK_STEPS, is_late, &end);
	rv = script_once(db->handle, deep ? "connection.check_all" : "connection.check", &row, fault, room);
	sqlite3_progress_handler(db->handle, 0, NULL, NULL);
	if (rv != 0)
		return sqlite3_errcode(db->handle) == SQLITE_INTERRUPT ? STORE_UNCHECKED : STORE_DAMAGED;
	if (strcmp(row.values[0], "ok") == 0)
		return STORE_WHOLE;
	strlcpy(fault, row.values[0], room);
	return STORE_DAMAGED;
}

struct backup *database_backup(struct database *db, const char *path, char *error, size_t room)
{
	return backup_begin(db->handle, path, error, room);
}

void database_checkpoint(struct database *db)
{
	int rc;

	if (db->frames < CHECKPOINT_FRAMES)
		return;
	rc = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	if (rc == SQLITE_OK) {
		db->frames = 0;
		db->checkpoint_failed = false;
		return;
	}
	if (!script_is_full(rc, sqlite3_system_errno(db->handle)))
		die(db, "checkpoint");
	if (!db->checkpoint_failed)
		log_warn("%s: no space for a checkpoint: %s-wal grows until there is space", db->path, db->path);
	db->checkpoint_failed = true;
}
