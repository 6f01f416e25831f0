/* SPDX-License-Identifier: MIT */
#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/memory.h"
#include "store/script.h"

/* 1 MiB: some milliseconds, after which commits have their turn. */
#define PAGES 256

struct backup {
	char *path, *partial;
	int fd;			/* of partial, for fsync(2) */
	sqlite3 *copy;
	sqlite3_backup *pages;
	int64_t size;
};

/* Returns NULL, after a sentence. */
static struct backup *give_up(struct backup *b, char *error, size_t room, const char *file, const char *why,
    const char *remedy)
{
	snprintf(error, room, "%s: %s: %s", file, why, remedy);
	backup_end(b);
	return NULL;
}

static const char *remedy_of(int error)
{
	return error == ENOENT ? "its directory does not exist: create it" :
	    error == ENOSPC || error == EDQUOT ? "free some space, or name another place" :
	    error == EACCES || error == EPERM || error == EROFS ? "rld may not write there: name another place" :
	        "name another place";
}

struct backup *backup_begin(sqlite3 *source, const char *path, char *error, size_t room)
{
	struct backup *b = xcalloc(1, sizeof(*b));
	struct stat st;

	b->fd = -1;
	b->path = xstrdup(path);
	if (lstat(path, &st) == 0)
		return give_up(b, error, room, path, "it exists", S_ISDIR(st.st_mode) ? "name a new file in it" :
		    "name another file, or remove this one");
	b->partial = xasprintf("%s.partial", path);
	b->fd = open(b->partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (b->fd == -1) {
		int saved = errno;
		char *partial = b->partial;

		b->partial = NULL;	/* it is not ours */
		give_up(b, error, room, saved == EEXIST ? partial : path, strerror(saved), saved == EEXIST ?
		    "another backup is being written, or was cut off: remove it then" : remedy_of(saved));
		free(partial);
		return NULL;
	}
	if (sqlite3_open_v2(b->partial, &b->copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK ||
	    script_once(b->copy, "connection.copy", NULL, error, room) != 0 ||
	    (b->pages = sqlite3_backup_init(b->copy, "main", source, "main")) == NULL)
		return give_up(b, error, room, b->partial, sqlite3_errmsg(b->copy), "name another place");
	return b;
}

/* Give the whole copy its name. */
static int finish(struct backup *b)
{
	char *slash = strrchr(b->path, '/'), *dir = xmemdup0(b->path, slash == b->path ? 1 : (size_t)(slash - b->path));
	struct stat st;
	int fd = -1, rv = -1;

	if (fsync(b->fd) == 0 && fstat(b->fd, &st) == 0 && renameat2(AT_FDCWD, b->partial, AT_FDCWD, b->path,
	    RENAME_NOREPLACE) == 0) {
		free(b->partial);
		b->partial = NULL;
		b->size = st.st_size;
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rv = fd != -1 ? fsync(fd) : -1;
	}
	rv = rv == 0 ? 0 : errno;
	/* the name may not be on the disk: then there is no copy */
	if (rv != 0 && b->partial == NULL)
		unlink(b->path);
	if (fd != -1)
		close(fd);
	free(dir);
	return rv;
}

enum backup_result backup_step(struct backup *b, char *error, size_t room)
{
	int rc = sqlite3_backup_step(b->pages, PAGES), saved;

	/* the disk writes meanwhile, so that the fsync at the end is short */
	if (rc == SQLITE_OK && fdatasync(b->fd) == 0)
		return BACKUP_MORE;
	saved = rc == SQLITE_OK ? errno : 0;
	if (rc == SQLITE_DONE) {
		sqlite3_backup_finish(b->pages);
		b->pages = NULL;
		rc = sqlite3_close(b->copy);
		b->copy = NULL;
		saved = rc == SQLITE_OK ? finish(b) : 0;
		if (rc == SQLITE_OK && saved == 0)
			return BACKUP_DONE;
	}
	if (saved == 0 && script_is_full(rc, sqlite3_system_errno(b->copy)))
		saved = ENOSPC;
	snprintf(error, room, "%s: %s: %s", b->path, saved != 0 ? strerror(saved) : sqlite3_errstr(rc),
	    saved == EEXIST ? "another process has created it meanwhile: name another file" : remedy_of(saved));
	return BACKUP_FAILED;
}

int64_t backup_size(const struct backup *b)
{
	return b->size;
}

void backup_end(struct backup *b)
{
	if (b == NULL)
		return;
	if (b->pages != NULL)
		sqlite3_backup_finish(b->pages);
	sqlite3_close(b->copy);
	if (b->partial != NULL && b->fd != -1)
		unlink(b->partial);
	if (b->fd != -1)
		close(b->fd);
	free(b->partial);
	free(b->path);
	free(b);
}
