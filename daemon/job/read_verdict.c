/* SPDX-License-Identifier: MIT */
#include "job/read_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"
#include "core/profile.h"
#include "job/carrier_copy.h"
#include "job/misnamed.h"
#include "job/secrets.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "verdict/verdict.h"

#define FILE_MAX (1024 * 1024)

/* A file of the attempt, if it is as recorded. Returns 0, also where none was recorded, or -errno
 * with the job's error. */
static int read_recorded(struct read_verdict_job *job, int dirfd, const char *name, size_t max, const char *hash,
    const char *what, char **data, size_t *size)
{
	int rv = file_read_recorded(dirfd, name, max, hash, data, size);

	if (rv == -ESTALE || (rv == -ENOENT && hash != NULL))
		job->error = xasprintf("the %s in attempts/%lld was %s since the reviewer ended: it is not judged",
		    what, (long long)job->attempt, rv == -ENOENT ? "removed" : "changed");
	return rv == -ENOENT && hash == NULL ? 0 : rv;
}

/* The file in which it handed over its answer: the copy that was made when it had ended. A version
 * without such copies has not made one. */
static int read_carrier(struct read_verdict_job *job, int dirfd, char **file, size_t *size)
{
	struct carrier_copy copy = { 0 };
	int rv = 0;

	if (job->carrier == CARRIER_EXIT)
		return 0;
	if (job->carrier_hash == NULL && job->carrier_fault == NULL) {
		copy.file = xstrdup(job->review_file);
		copy.workspace = xstrdup(job->workspace);
		rv = carrier_copy_make(&copy, job->job.state_dir, job->attempt);
		job->carrier_hash = copy.hash;
		job->carrier_fault = copy.fault;
		copy.hash = copy.fault = NULL;
		carrier_copy_release(&copy);
	}
	if (rv == 0 && job->carrier_fault == NULL)
		rv = read_recorded(job, dirfd, RECORD_CARRIER, FILE_MAX, job->carrier_hash, "review file", file, size);
	return rv;
}

static bool is_blank(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0')
			return false;
	return true;
}

static int put_file(const struct read_verdict_job *job, const char *path, const char *data, size_t size)
{
	return carrier_put(job->job.state_dir, job->workspace, path, data, size);
}

/* Put the file where a corrector works; no other role needs it, and a blank one says nothing.
 * Returns 0 or -errno. */
static int place_carrier(const struct read_verdict_job *job, const char *file, size_t size)
{
	bool keep = job->carrier == CARRIER_FILE && file != NULL && !is_blank(file, size);
	int rv = 0;

	if (keep && job->copy_to != NULL)
		return put_file(job, job->copy_to, file, size);
	if (!keep)
		rv = put_file(job, job->review_file, NULL, 0);
	if (rv == 0 && !keep && job->copy_to != NULL)
		rv = put_file(job, job->copy_to, NULL, 0);
	return rv;
}

/* The reviewer used a wrong file name: save its text, because checkouts are removed; it is no pass.
 * Returns 0 or -errno. */
static int look_for_misnamed(const struct read_verdict_job *job, const char *dir, int dirfd, struct verdict *v)
{
	char *path = NULL, *full, *data = NULL, *shown, *kept;
	size_t size;
	int rv = job->top != NULL ?
	    misnamed_find(job->top, job->job.state_dir, job->review_file, job->misnamed, &path) : 0;

	if (path == NULL)
		return rv;
	full = xasprintf("%s/%s", job->top, path);
	rv = file_read(AT_FDCWD, full, FILE_MAX, &data, &size);
	kept = rv == 0 ? xasprintf("; its text is saved in %s/" RECORD_MISNAMED, dir) : xstrdup("");
	if (rv == 0)
		rv = file_write(dirfd, RECORD_MISNAMED, data, size, 0600, true);
	else if (!host_fault(-rv))
		rv = 0;		/* a link, a device, or too large: name it nevertheless */
	shown = text_escape(path, strlen(path), false);
	verdict_release(v);
	*v = (struct verdict){ .kind = VERDICT_NONE };
	v->reason = xasprintf("misnamed review file: %s was written instead of %s%s", shown,
	    strrchr(job->review_file, '/') + 1, kept);
	free(kept);
	free(shown);
	free(data);
	free(full);
	free(path);
	return rv;
}

/* From here on this is the review that is hashed, shown and fixed. */
static void mask_verdict(const struct read_verdict_job *job, struct verdict *v)
{
	struct redactor *redactor = secrets_redactor(job->job.state_dir, &job->secrets);
	json_t *checks = v->quality_checks != NULL ? json_loads(v->quality_checks, JSON_DECODE_ANY, NULL) : NULL;

	redact_string(redactor, &v->reason);
	redact_string(redactor, &v->feedback);
	redact_string(redactor, &v->beside);
	for (size_t i = 0; i < v->nfindings; i++) {
		redact_string(redactor, &v->findings[i].file);
		redact_string(redactor, &v->findings[i].severity);
		redact_string(redactor, &v->findings[i].text);
	}
	if (secrets_redact_json(redactor, checks)) {
		free(v->quality_checks);
		v->quality_checks = json_dumps(checks, JSON_COMPACT | JSON_ENCODE_ANY);
	}
	json_decref(checks);
	redact_free(redactor);
}

#define GIVEN_MAX ((size_t)512 * 1024 * 1024)

enum { GIVEN_PARTS, GIVEN_DIFF, GIVEN_PROMPT, GIVEN_TEXTS };

/* What the reviewer was given. Returns 0 or -errno. */
static int read_given(struct read_verdict_job *job, int dirfd, struct echo_text texts[GIVEN_TEXTS],
    char *owned[GIVEN_TEXTS])
{
	const struct { const char *name, *what, *hash; } parts[GIVEN_TEXTS] = {
		{ RECORD_GIVEN, "reviewer's material", job->given_hash },
		{ RECORD_DIFF, "reviewer's diff", job->diff_hash },
		{ RECORD_PROMPT, "reviewer's prompt", job->prompt_hash },
	};
	int rv = 0;

	if (job->nonce == NULL || (job->review_file != NULL && !job->silence))
		return 0;	/* a carrier file is no copy, nor is a line with the nonce */
	for (size_t i = 0; rv == 0 && i < GIVEN_TEXTS; i++) {
		rv = read_recorded(job, dirfd, parts[i].name, GIVEN_MAX, parts[i].hash, parts[i].what, &owned[i],
		    &texts[i].size);
		texts[i].data = owned[i];
		texts[i].diff = i == GIVEN_DIFF;
	}
	return rv;
}

static void judge_read(struct read_verdict_job *job, const struct verdict_input *in)
{
	if (job->carrier_fault == NULL) {
		verdict_read(job->carrier, in, &job->verdict);
		return;
	}
	job->verdict.kind = VERDICT_NONE;
	job->verdict.reason = xstrdup(job->carrier_fault);
}

static void read_verdict_run(struct job *base)
{
	struct read_verdict_job *job = (struct read_verdict_job *)base;
	char *dir = dirs_attempt(job->job.state_dir, job->attempt);
	struct echo_text given[GIVEN_TEXTS] = { 0 };
	char *owned[GIVEN_TEXTS] = { 0 };
	struct verdict_input in = { .status = job->status, .nonce = job->nonce, .silence = job->silence,
	    .given = given, .ngiven = GIVEN_PROMPT };
	char *text = NULL, *file = NULL;
	int dirfd, rv;

	dirfd = dirs_open_attempt(job->job.state_dir, job->attempt);
	rv = dirfd < 0 ? dirfd : 0;
	if (rv == 0 && job->answer_hash != NULL)
		rv = read_recorded(job, dirfd, RECORD_ANSWER, AGENT_TEXT_MAX + 1, job->answer_hash, "answer", &text,
		    &in.text_size);
	if (rv == 0)
		rv = read_carrier(job, dirfd, &file, &in.file_size);
	if (rv == 0 && job->review_file != NULL && job->carrier_fault == NULL)
		rv = place_carrier(job, file, in.file_size);
	if (rv == 0)
		rv = read_given(job, dirfd, given, owned);
	in.text = text;
	in.file = file;
	in.prompt = given[GIVEN_PROMPT];
	if (rv == 0)
		judge_read(job, &in);
	if (rv == 0)
		rv = look_for_misnamed(job, dir, dirfd, &job->verdict);
	if (rv != 0 && job->error == NULL)
		job->error = xasprintf("cannot read the review in %s: %s", dir, host_words(-rv));
	mask_verdict(job, &job->verdict);
	if (dirfd >= 0)
		close(dirfd);
	for (size_t i = 0; i < GIVEN_TEXTS; i++)
		free(owned[i]);
	free(text);
	free(file);
	free(dir);
}

static void read_verdict_release(struct job *base)
{
	struct read_verdict_job *w = (struct read_verdict_job *)base;

	secrets_release(&w->secrets);
	verdict_release(&w->verdict);
	free(w->nonce);
	free(w->review_file);
	free(w->workspace);
	free(w->answer_hash);
	free(w->carrier_hash);
	free(w->carrier_fault);
	free(w->prompt_hash);
	free(w->diff_hash);
	free(w->given_hash);
	free(w->top);
	free(w->misnamed);
	free(w->copy_to);
	free(w->error);
}

const struct job_type read_verdict_type = { "read_verdict", read_verdict_run, read_verdict_release };
