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
#include "proto/memory.h"

struct preview_job {
	struct preview_request request;
	struct call *call;
	char *state_dir, *dir;
	char **lines;
	int64_t updated;	/* ROW_NONE: no output yet */
	int error;		/* errno */
};

static void preview_run(void *arg)
{
	struct preview_job *job = arg;
	struct redactor *redactor = secrets_redactor(job->state_dir, &job->request.secrets);
	int dirfd = open(job->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	job->error = dirfd == -1 ? errno : -preview_read(dirfd, job->request.reader, redactor,
	    job->request.lines, &job->lines, &job->updated);
	if (dirfd != -1)
		close(dirfd);
	redact_free(redactor);
}

static void preview_done(void *arg)
{
	struct preview_job *job = arg;
	json_t *lines;

	if (job->error == ENOENT) {
		call_error(job->call, RPC_NOT_FOUND, "id", "it was removed from the state directory",
		    "no record in %s", job->dir);
	} else if (job->error != 0) {
		call_error(job->call, RPC_UNAVAILABLE, NULL, NULL,
		    "cannot read the output in %s: %s", job->dir, strerror(job->error));
	} else {
		lines = json_array();
		for (size_t i = 0; job->lines[i] != NULL; i++)
			json_array_append_new(lines, json_text(job->lines[i]));
		call_ok(job->call, json_pack("{s:o,s:o}", "lines", lines, "updated_at", json_time(job->updated)));
	}
	strings_free(job->lines);
	secrets_release(&job->request.secrets);
	free(job->state_dir);
	free(job->dir);
	free(job);
}

void preview_answer(struct call *call, const struct preview_request *request)
{
	struct preview_job *job = xcalloc(1, sizeof(*job));

	job->request = *request;
	job->call = call;
	job->updated = ROW_NONE;
	job->state_dir = xstrdup(request->state_dir);
	job->dir = xasprintf("%s/attempts/%lld", request->state_dir, (long long)request->id);
	offload(request->loop, preview_run, preview_done, job);
}
