/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/offload.h"
#include "model/dirs.h"
#include "proto/memory.h"
#include "rpc/context.h"

#define BLOB_MAX (16 * 1024 * 1024)
#define BLOBS_OF_UID 64
#define BLOB_AGE (24 * 3600)	/* seconds after which an unused blob is removed */

/* A piece being written. Pieces are written one after the other, so that pipelined ones keep their
 * order. */
struct blob_put {
	struct rpc *rpc;
	struct call *call;
	char *dir, *name;	/* "<uid>-<blob>" */
	int64_t offset;
	const char *data;	/* owned by the call */
	size_t size;
	bool check;		/* dry run */
	int code;		/* result */
	const char *field;	/* parameter at fault, NULL: none */
	char message[256];
	TAILQ_ENTRY(blob_put) entry;
};

#define refuse(put, code, ...) refuse_field(put, code, NULL, __VA_ARGS__)

static void refuse_field(struct blob_put *put, int code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void refuse_field(struct blob_put *put, int code, const char *field, const char *fmt, ...)
{
	va_list ap;

	put->code = code;
	put->field = field;
	va_start(ap, fmt);
	vsnprintf(put->message, sizeof(put->message), fmt, ap);
	va_end(ap);
}

static void refuse_errno(struct blob_put *put, const char *what, int error)
{
	bool full = error == ENOSPC || error == EDQUOT;

	refuse(put, full ? RPC_NO_SPACE : RPC_UNAVAILABLE, "cannot %s %s/%s: %s", what, put->dir,
	    put->name, strerror(error));
}

/* Before a new blob: remove old ones of the user, and count the others. */
static void tidy(struct blob_put *put, int dirfd)
{
	size_t prefix = strcspn(put->name, "-") + 1, count = 0;
	int copy = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy == -1 ? NULL : fdopendir(copy);
	struct dirent *entry;
	struct stat st;

	if (dir == NULL) {
		if (copy != -1)
			close(copy);
		refuse_errno(put, "look around for", errno);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, put->name, prefix) != 0 || strcmp(entry->d_name, put->name) == 0)
			continue;
		if (fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtime < time(NULL) - BLOB_AGE)
			unlinkat(dirfd, entry->d_name, 0);
		else
			count++;
	}
	closedir(dir);
	if (count >= BLOBS_OF_UID)
		refuse(put, RPC_LIMIT_REACHED, "%zu blobs are waiting to be submitted already", count);
}

static void write_piece(struct blob_put *put, int fd)
{
	size_t done = 0;

	if (put->offset == 0 && ftruncate(fd, 0) == -1) {
		refuse_errno(put, "empty", errno);
		return;
	}
	while (done < put->size) {
		ssize_t n = pwrite(fd, put->data + done, put->size - done, put->offset + (off_t)done);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			refuse_errno(put, "write", errno);
			if (ftruncate(fd, put->offset) == -1)
				refuse_errno(put, "cut back", errno);
			return;
		}
		done += (size_t)n;
	}
}

static void put_run(void *arg)
{
	struct blob_put *put = arg;
	int rv = file_mkdirs(put->dir, 0700);
	int dirfd = -1, fd = -1, flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
	struct stat st;

	if (rv != 0 || (dirfd = open(put->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		refuse_errno(put, "open the directory of", rv != 0 ? -rv : errno);
		return;
	}
	if (put->offset == 0)
		tidy(put, dirfd);
	if (put->code != RPC_OK)
		goto out;
	if (put->offset == 0 && put->check)
		goto out;	/* it would start again, whatever exists */
	if (put->offset == 0)
		flags |= O_CREAT;
	fd = openat(dirfd, put->name, flags, 0600);
	if (fd == -1 && errno == ENOENT)
		refuse_field(put, RPC_NOT_FOUND, "blob", "no such blob yet: start at offset 0");
	else if (fd == -1 || fstat(fd, &st) == -1)
		refuse_errno(put, "open", errno);
	else if (put->offset > 0 && st.st_size != put->offset)
		refuse_field(put, RPC_CONFLICT, "offset",
		    "the blob has %lld bytes, but the offset is %lld: continue at its size, or "
		    "start again at 0",
		    (long long)st.st_size, (long long)put->offset);
	else if (!put->check)
		write_piece(put, fd);
out:
	if (fd != -1)
		close(fd);
	close(dirfd);
}

static void put_start(struct blob_put *put);

static void put_done(void *arg)
{
	struct blob_put *put = arg;
	struct rpc *rpc = put->rpc;

	TAILQ_REMOVE(&rpc->blobs, put, entry);
	if (!TAILQ_EMPTY(&rpc->blobs))
		put_start(TAILQ_FIRST(&rpc->blobs));
	if (put->code != RPC_OK)
		call_error(put->call, put->code, put->field, NULL, "%s", put->message);
	else
		call_ok(put->call, json_pack("{s:s,s:I}", "blob", strchr(put->name, '-') + 1,
		    "size", (json_int_t)put->offset + (json_int_t)put->size));
	free(put->dir);
	free(put->name);
	free(put);
}

static void put_start(struct blob_put *put)
{
	offload(put->rpc->options.loop, put_run, put_done, put);
}

static bool is_blob_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

	return name[strspn(name, letters)] == '\0';
}

static struct reply put(struct rpc *rpc, struct call *call)
{
	const char *blob = call_text(call, "blob");
	int64_t offset = call_int(call, "offset", 0);
	size_t size = json_string_length(call_param(call, "data"));
	struct blob_put *p;
	bool first;

	if (!is_blob_name(blob))
		return reply_error(call, RPC_INVALID_PARAMS, "blob", NULL,
		    "'blob' must consist of letters, digits, '_' and '-'");
	if (offset + (int64_t)size > BLOB_MAX)
		return reply_error(call, RPC_LIMIT_REACHED, "data", "split the task",
		    "a blob may have at most 16 MiB");
	p = xcalloc(1, sizeof(*p));
	p->rpc = rpc;
	p->call = call;
	p->dir = xasprintf("%s/blobs", rpc->state_dir);
	p->name = dirs_blob_name(call_uid(call), blob);
	p->offset = offset;
	p->data = call_text(call, "data");
	p->size = size;
	p->check = call_flag(call, "check");
	first = TAILQ_EMPTY(&rpc->blobs);
	TAILQ_INSERT_TAIL(&rpc->blobs, p, entry);
	if (first)
		put_start(p);
	return reply_later(call);
}

static const struct schema put_params[] = {
	{ "blob", SCHEMA_TEXT, .required = true, .min = 1, .max = 64,
	    .help = "name chosen by the client: letters, digits, '_' and '-'" },
	{ "offset", SCHEMA_INT, .required = true, .max = BLOB_MAX, .help =
	    "current size of the blob; 0 starts again" },
	{ "data", SCHEMA_TEXT, .required = true, .max = INT_MAX, .help = "text to append" },
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	{ 0 },
};
static const struct result_field put_results[] = {
	{ "blob", "string", "its name" },
	{ "size", "integer", "current size in bytes" },
	{ 0 },
};
static const int put_errors[] = { RPC_NOT_FOUND, RPC_CONFLICT, RPC_LIMIT_REACHED, RPC_NO_SPACE, RPC_UNAVAILABLE, 0 };

const struct method blob_methods[] = {
	{ "blob.put", ACCESS_SUBMIT, false, put_params, put_results, put_errors, put,
	    "upload a piece of a text that is too large for one frame" },
	{ 0 },
};
