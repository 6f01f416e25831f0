/* SPDX-License-Identifier: MIT */
#include "rpc/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/offload.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/output.h"
#include "rpc/pruned.h"

struct chunk_job {
	struct chunk_request request;
	struct call *call;
	char *state_dir;
	int64_t id;		/* the record being read */
	size_t left;		/* records after it */
	char *data;
	struct output_chunk chunk;
	int error;		/* errno */
};

/* Control characters take six bytes in JSON, so text with many of them is shorter as base64. */
static bool is_text(const char *data, size_t size)
{
	size_t controls = 0;

	for (size_t i = 0; i < size; i++) {
		if (data[i] == '\0')
			return false;
		controls += (unsigned char)data[i] < 0x20 && data[i] != '\n' && data[i] != '\t' && data[i] != '\r';
	}
	return controls <= size / 8 && text_is_utf8(data, size);
}

static json_t *base64(const unsigned char *p, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = (size + 2) / 3 * 4;
	char *text = xcalloc(1, length + 1), *out = text;
	json_t *json;

	for (size_t i = 0; i < size; i += 3) {
		uint32_t bits = (uint32_t)p[i] << 16 | (i + 1 < size ? (uint32_t)p[i + 1] << 8 :
		    0) | (i + 2 < size ? p[i + 2] : 0);

		*out++ = letters[bits >> 18];
		*out++ = letters[bits >> 12 & 63];
		*out++ = i + 1 < size ? letters[bits >> 6 & 63] : '=';
		*out++ = i + 2 < size ? letters[bits & 63] : '=';
	}
	json = json_stringn_nocheck(text, length);
	free(text);
	return json;
}

json_t *chunk_encode(const char *data, size_t size, bool last, size_t *used, const char **encoding)
{
	size_t cut = last ? 0 : text_unfinished(data, size);

	*used = size;
	*encoding = "utf-8";
	if (size > cut && is_text(data, size - cut)) {
		*used = size - cut;
		return json_stringn_nocheck(data, size - cut);
	}
	if (size == 0)
		return json_string("");
	*encoding = "base64";
	return base64((const unsigned char *)data, size);
}

static int read_plain(int dirfd, const char *name, int64_t offset, char *data, size_t room, struct output_chunk *chunk)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n;
	int rv = 0;

	chunk->offset = (uint64_t)offset;
	if (fd == -1)
		return errno == ENOENT ? 0 : -errno;	/* nothing was written: empty */
	if (fstat(fd, &st) == -1) {
		rv = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		rv = -EINVAL;
	} else {
		/* beyond any file size, which pread() would report as an error */
		n = offset > INT64_MAX - (int64_t)room ? 0 : pread(fd, data, room, offset);
		if (n == -1)
			rv = -errno;
		else
			chunk->size = (size_t)n;
		chunk->end = (uint64_t)st.st_size;
	}
	close(fd);
	return rv;
}

static char *directory(const struct chunk_job *job)
{
	return xasprintf("%s/attempts/%lld", job->state_dir, (long long)job->id);
}

/* 0 or -errno. Offsets count from the beginning of the current record. */
static int read_one(struct chunk_job *job, uint64_t offset)
{
	const struct chunk_request *r = &job->request;
	char *dir = directory(job);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv;

	free(dir);
	if (dirfd == -1)
		return -errno;
	job->chunk = (struct output_chunk){ 0 };
	rv = r->segments ? output_read(dirfd, r->name, offset, job->data, (size_t)r->limit, &job->chunk)
			 : read_plain(dirfd, r->name, (int64_t)offset, job->data, (size_t)r->limit, &job->chunk);
	close(dirfd);
	return rv;
}

static void chunk_run(void *arg)
{
	struct chunk_job *job = arg;
	const struct chunk_request *r = &job->request;
	uint64_t before = 0;		/* size of the records skipped */
	int rv;

	job->data = xcalloc(1, (size_t)r->limit);
	job->id = r->id;
	job->left = r->nothers;
	while ((rv = read_one(job, (uint64_t)r->offset - before)) == 0 && job->left > 0 &&
	    (uint64_t)r->offset - before >= job->chunk.end) {
		before += job->chunk.end;
		job->id = r->others[r->nothers - job->left--];
	}
	if (rv == -ENOENT && !r->complete) {
		/* an attempt that starts has no directory yet */
		job->chunk = (struct output_chunk){ .offset = (uint64_t)r->offset - before };
		rv = 0;
	}
	job->chunk.offset += before;
	job->chunk.end += before;
	job->error = -rv;
}

static json_t *chunk_result(struct chunk_job *job)
{
	const struct output_chunk *c = &job->chunk;
	bool at_end = c->offset + c->size >= c->end && job->request.complete, eof = at_end && job->left == 0;
	const char *encoding;
	json_t *data, *json;
	size_t used;

	data = chunk_encode(job->data, c->size, at_end, &used, &encoding);
	json = json_pack("{s:I,s:I,s:o,s:s,s:b,s:I}", "offset", (json_int_t)c->offset, "next",
	    (json_int_t)(c->offset + used),
	    job->request.key, data, "encoding", encoding, "eof", eof, "dropped", (json_int_t)c->dropped);
	if (job->request.more != NULL)
		json_object_update_missing(json, job->request.more);
	return json;
}

static void chunk_done(void *arg)
{
	struct chunk_job *job = arg;
	char *dir = directory(job);
	bool ended = job->request.complete && job->left == 0;

	if (job->request.hold_back != NULL &&
	    job->request.hold_back(job->request.arg, job->error == 0 && job->chunk.size == 0 && !ended))
		job->call = NULL;
	if (job->call == NULL)
		;
	else if (job->error == ENOENT && job->request.rpc != NULL)
		call_no_record(job->request.rpc, job->call, job->request.run, job->id);
	else if (job->error == ENOENT)
		call_error(job->call, RPC_NOT_FOUND, "id",
		    job->request.gone != NULL ? job->request.gone : "it was removed from the state directory",
		    "no record in %s", dir);
	else if (job->error != 0)
		call_error(job->call, RPC_UNAVAILABLE, NULL, NULL, "cannot read %s/%s: %s", dir,
		    job->request.name, strerror(job->error));
	else
		call_ok(job->call, chunk_result(job));
	free(dir);
	json_decref(job->request.more);
	free(job->request.others);
	free(job->request.gone);
	free(job->data);
	free(job->state_dir);
	free(job);
}

void chunk_answer(struct call *call, const struct chunk_request *request)
{
	struct chunk_job *job = xcalloc(1, sizeof(*job));

	job->request = *request;
	job->call = call;
	job->state_dir = xstrdup(request->state_dir);
	offload(request->loop, chunk_run, chunk_done, job);
}
