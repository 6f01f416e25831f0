/* SPDX-License-Identifier: MIT */
#include "rpc/preview.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/reader.h"
#include "base/memory.h"
#include "base/offload.h"
#include "core/row.h"
#include "engine/json.h"
#include "record/layout.h"
#include "record/output.h"

#define TAIL_MAX (256 * 1024)

struct preview_job {
	struct preview_request request;
	struct call *call;
	char *dir;
	char **lines;
	int64_t updated;	/* ROW_NONE: nothing was written */
	int error;		/* errno */
};

/* The end of a stream, in buffer; what is in front of a gap is of no use. 0 or -errno. */
static int read_tail(int dirfd, const char *stream, char *buffer, struct preview_tail *tail, int64_t *updated)
{
	uint64_t end = 0, from;
	int64_t modified = -1;
	int rv = output_end(dirfd, stream, &end, &modified);

	*tail = (struct preview_tail){ .data = buffer };
	if (rv != 0)
		return rv;
	if (modified >= 0 && modified > *updated)
		*updated = modified;
	from = end > TAIL_MAX ? end - TAIL_MAX : 0;
	tail->cut = from > 0;
	while (tail->size < TAIL_MAX) {
		struct output_chunk chunk = { 0 };

		rv = output_read(dirfd, stream, from, buffer + tail->size, TAIL_MAX - tail->size, &chunk);
		if (rv != 0 || chunk.size == 0)
			return rv;
		if (chunk.dropped > 0) {
			memmove(buffer, buffer + tail->size, chunk.size);
			tail->size = 0;
			tail->cut = true;
		}
		tail->size += chunk.size;
		from = chunk.offset + chunk.size;
	}
	return 0;
}

static void preview_run(void *arg)
{
	struct preview_job *job = arg;
	char *buffers = xcalloc(2, TAIL_MAX);
	struct preview_tail out, err;
	int dirfd = open(job->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv;

	rv = dirfd == -1 ? -errno : read_tail(dirfd, RECORD_STDOUT, buffers, &out, &job->updated);
	if (rv == 0)
		rv = read_tail(dirfd, RECORD_STDERR, buffers + TAIL_MAX, &err, &job->updated);
	if (rv == 0)
		job->lines = reader_preview(job->request.reader, &out, &err, job->request.lines);
	job->error = -rv;
	if (dirfd != -1)
		close(dirfd);
	free(buffers);
}

static void preview_done(void *arg)
{
	struct preview_job *job = arg;
	json_t *lines;

	if (job->error == ENOENT) {
		call_error(job->call, RPC_NOT_FOUND, NULL, "it was removed from the state directory", "there is no record in %s", job->dir);
	} else if (job->error != 0) {
		call_error(job->call, RPC_UNAVAILABLE, NULL, NULL, "cannot read the output in %s: %s", job->dir, strerror(job->error));
	} else {
		lines = json_array();
		for (size_t i = 0; job->lines[i] != NULL; i++)
			json_array_append_new(lines, json_text(job->lines[i]));
		call_ok(job->call, json_pack("{s:o,s:o}", "lines", lines, "updated_at", json_time(job->updated)));
	}
	strings_free(job->lines);
	free(job->dir);
	free(job);
}

void preview_answer(struct call *call, const struct preview_request *request)
{
	struct preview_job *job = xcalloc(1, sizeof(*job));

	job->request = *request;
	job->call = call;
	job->updated = ROW_NONE;
	job->dir = xasprintf("%s/attempts/%lld", request->state_dir, (long long)request->id);
	offload(request->loop, preview_run, preview_done, job);
}
