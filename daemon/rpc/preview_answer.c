/* SPDX-License-Identifier: MIT */
#include "rpc/preview_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/offload.h"
#include "core/row.h"
#include "model/row_json.h"
#include "job/attempt_preview.h"
#include "job/attempt_transcript.h"
#include "proto/memory.h"

struct preview_job {
	struct preview_request request;
	struct call *call;
	char *state_dir, *dir;
	/* Reads from dirfd: 0 or -errno. The answer if that worked. */
	int (*read)(struct preview_job *job, int dirfd, const struct redactor *redactor);
	json_t *(*result)(const struct preview_job *job);
	char **lines;
	int64_t updated;	/* ROW_NONE: no output yet */
	struct transcript transcript;
	int error;		/* errno */
};

static int read_preview(struct preview_job *job, int dirfd, const struct redactor *redactor)
{
	return preview_read(dirfd, job->request.reader, redactor, job->request.lines, &job->lines, &job->updated);
}

static json_t *preview_result(const struct preview_job *job)
{
	json_t *lines = json_array();

	for (size_t i = 0; job->lines[i] != NULL; i++)
		json_array_append_new(lines, json_text(job->lines[i]));
	return json_pack("{s:o,s:o}", "lines", lines, "updated_at", json_time(job->updated));
}

static int read_transcript(struct preview_job *job, int dirfd, const struct redactor *redactor)
{
	return transcript_read(dirfd, job->request.reader, redactor, job->request.offset, job->request.complete,
	    &job->transcript);
}

static json_t *transcript_result(const struct preview_job *job)
{
	const struct transcript *t = &job->transcript;
	json_t *items = json_array();

	for (size_t i = 0; i < t->show.count; i++)
		json_array_append_new(items, json_pack("{s:s,s:o}", "kind",
		    state_name(&show_kind_names, (int)t->show.items[i].kind), "text",
		    json_text(t->show.items[i].text)));
	return json_pack("{s:s,s:o,s:I,s:I,s:b,s:I}", "reader", state_name(&reader_names, (int)job->request.reader),
	    "items", items, "offset", (json_int_t)t->offset, "next", (json_int_t)t->next, "eof", t->eof,
	    "dropped", (json_int_t)t->dropped);
}

static void preview_run(void *arg)
{
	struct preview_job *job = arg;
	struct redactor *redactor = secrets_redactor(job->state_dir, &job->request.secrets);
	int dirfd = open(job->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	job->error = dirfd == -1 ? errno : -job->read(job, dirfd, redactor);
	if (dirfd == -1 && job->error == ENOENT && !job->request.complete) {
		/* an attempt that starts has no directory yet */
		job->lines = xcalloc(1, sizeof(*job->lines));
		job->updated = ROW_NONE;
		job->transcript.offset = job->transcript.next = job->request.offset;
		job->error = 0;
	}
	if (dirfd != -1)
		close(dirfd);
	redact_free(redactor);
}

static void preview_done(void *arg)
{
	struct preview_job *job = arg;

	if (job->error == ENOENT) {
		call_error(job->call, RPC_NOT_FOUND, "id", "it was removed from the state directory",
		    "no record in %s", job->dir);
	} else if (job->error != 0) {
		call_error(job->call, RPC_UNAVAILABLE, NULL, NULL,
		    "cannot read the output in %s: %s", job->dir, strerror(job->error));
	} else {
		call_ok(job->call, job->result(job));
	}
	strings_free(job->lines);
	show_release(&job->transcript.show);
	secrets_release(&job->request.secrets);
	free(job->state_dir);
	free(job->dir);
	free(job);
}

/* what: read and result. */
static void answer(struct call *call, const struct preview_request *request, const struct preview_job *what)
{
	struct preview_job *job = xcalloc(1, sizeof(*job));

	*job = *what;
	job->request = *request;
	job->call = call;
	job->updated = ROW_NONE;
	job->state_dir = xstrdup(request->state_dir);
	job->dir = xasprintf("%s/attempts/%lld", request->state_dir, (long long)request->id);
	offload(request->loop, preview_run, preview_done, job);
}

void preview_answer(struct call *call, const struct preview_request *request)
{
	answer(call, request, &(struct preview_job){ .read = read_preview, .result = preview_result });
}

void transcript_answer(struct call *call, const struct preview_request *request)
{
	answer(call, request, &(struct preview_job){ .read = read_transcript, .result = transcript_result });
}
