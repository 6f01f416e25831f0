/* SPDX-License-Identifier: MIT */
#include "job/read_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"
#include "core/profile.h"
#include "job/misnamed.h"
#include "job/secrets.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "verdict/verdict.h"

#define FILE_MAX (1024 * 1024)
#define LARGE_MAX ((size_t)64 * 1024 * 1024)	/* limit for saving a larger one */

/* What was found in place of a review. It stays where it is, because it must be found again after a
 * crash. */
enum oddity { ODD_NOT, ODD_NO_FILE, ODD_LATE, ODD_LARGE };

static const char *const odd_reasons[] = {
	[ODD_NO_FILE] = "the review file is not a regular file",
	[ODD_LATE] = "the review file was changed after the reviewer was told to stop",
	/* the path follows */
	[ODD_LARGE] = "the review file is larger than 1 MiB; it is saved as ",
};

/* A directory, a link, a device, or a file that is too large. The latter is moved to the attempt's
 * directory: it may be a review that was paid for. */
static bool is_no_file(int rv)
{
	return rv == -EFBIG || rv == -EINVAL || rv == -ELOOP || rv == -EISDIR;
}

/* file times lag by up to a tick of the kernel */
#define TICK_MS 10

/* The reviewer changed the file after its shim began to end it: that is no review. */
static bool is_answer_to_end(int dirfd, int at, const char *path)
{
	struct exit_record record;
	struct stat st;

	if (exit_record_read(dirfd, &record) != 0 || record.by == EXIT_OWN ||
	    record.signalled_ms == 0 || fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return false;
	return (int64_t)st.st_ctim.tv_sec * 1000 + st.st_ctim.tv_nsec / 1000000 + TICK_MS >= record.signalled_ms;
}

/* $RL_VERDICT_FILE. One too large for a verdict is invalid, whatever the text says. Returns 0 or
 * -errno. */
static int read_verdict_file(int dirfd, char **file, size_t *size, enum oddity *odd)
{
	int rv = file_read(dirfd, RECORD_VERDICT, FILE_MAX, file, size);

	if (rv == 0 && *size > 0 && is_answer_to_end(dirfd, dirfd, RECORD_VERDICT))
		*odd = ODD_LATE;
	if (is_no_file(rv)) {
		*file = xstrdup("{");
		*size = 1;
		return 0;
	}
	return rv == -ENOENT ? 0 : rv;
}

/* The carrier file of the working directory. It is first copied to the attempt's directory and read
 * from there, so that it reads the same after a crash. Returns 0 or -errno. */
static int read_carrier(const struct read_verdict_job *job, int dirfd, char **file, size_t *size, enum oddity *odd)
{
	int rv = file_read(dirfd, RECORD_CARRIER, FILE_MAX, file, size);

	if (rv != -ENOENT)
		return rv;
	if (faccessat(dirfd, RECORD_LARGE, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		*odd = ODD_LARGE;
		return 0;
	}
	rv = file_read(AT_FDCWD, job->review_file, FILE_MAX, file, size);
	if (rv == -EFBIG) {
		*odd = ODD_LARGE;
		return file_move(job->review_file, dirfd, RECORD_LARGE, LARGE_MAX);
	}
	if (is_no_file(rv))
		*odd = ODD_NO_FILE;
	else if (rv == 0 && is_answer_to_end(dirfd, AT_FDCWD, job->review_file))
		*odd = ODD_LATE;
	if (rv == -ENOENT || *odd != ODD_NOT)
		return 0;
	if (rv == 0)
		rv = file_write(dirfd, RECORD_CARRIER, *file, *size, 0600, true);
	return rv;
}

static bool is_blank(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0')
			return false;
	return true;
}

/* Put the file where a corrector works; no other role needs it, and a blank one says nothing.
 * Returns 0 or -errno. */
static int place_carrier(const struct read_verdict_job *job, const char *file, size_t size)
{
	bool keep = job->carrier == CARRIER_FILE && file != NULL && !is_blank(file, size);

	if (keep && job->copy_to != NULL)
		return file_write(AT_FDCWD, job->copy_to, file, size, 0644, false);
	if (!keep)
		unlink(job->review_file);
	if (!keep && job->copy_to != NULL)
		unlink(job->copy_to);
	return 0;
}

static void read_verdict_refuse(struct verdict *v, enum oddity odd, const char *dir)
{
	v->kind = VERDICT_NONE;
	v->reason = odd == ODD_LARGE ? xasprintf("%s%s/" RECORD_LARGE, odd_reasons[odd], dir) :
	    xstrdup(odd_reasons[odd]);
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
static int read_given(const struct read_verdict_job *job, int dirfd, struct echo_text texts[GIVEN_TEXTS],
    char *owned[GIVEN_TEXTS])
{
	static const char *const names[GIVEN_TEXTS] = { RECORD_GIVEN, RECORD_DIFF, RECORD_PROMPT };
	int rv = 0;

	if (job->nonce == NULL || job->review_file != NULL)
		return 0;	/* a carrier file is no copy */
	for (size_t i = 0; rv == 0 && i < GIVEN_TEXTS; i++) {
		rv = file_read(dirfd, names[i], GIVEN_MAX, &owned[i], &texts[i].size);
		texts[i].data = owned[i];
		texts[i].diff = i == GIVEN_DIFF;
		if (rv == -ENOENT)
			rv = 0;		/* a profile has no such part */
	}
	return rv;
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
	enum oddity odd = ODD_NOT;
	int dirfd, rv;

	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rv = dirfd == -1 ? -errno : file_read(dirfd, RECORD_ANSWER, AGENT_TEXT_MAX + 1, &text, &in.text_size);
	if (rv == -ENOENT && dirfd != -1)
		rv = 0;		/* no final text */
	if (rv == 0 && job->review_file != NULL) {
		rv = read_carrier(job, dirfd, &file, &in.file_size, &odd);
		if (rv == 0 && odd == ODD_NOT)
			rv = place_carrier(job, file, in.file_size);
	} else if (rv == 0) {
		rv = read_verdict_file(dirfd, &file, &in.file_size, &odd);
	}
	if (rv == 0)
		rv = read_given(job, dirfd, given, owned);
	in.text = text;
	in.file = file;
	in.prompt = given[GIVEN_PROMPT];
	if (rv == 0 && odd != ODD_NOT)
		read_verdict_refuse(&job->verdict, odd, dir);
	else if (rv == 0)
		verdict_read(job->carrier, &in, &job->verdict);
	if (rv == 0)
		rv = look_for_misnamed(job, dir, dirfd, &job->verdict);
	if (rv != 0)
		job->error = xasprintf("cannot read the review in %s: %s", dir, host_words(-rv));
	mask_verdict(job, &job->verdict);
	if (dirfd != -1)
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
	free(w->top);
	free(w->misnamed);
	free(w->copy_to);
	free(w->error);
}

const struct job_type read_verdict_type = { "read_verdict", read_verdict_run, read_verdict_release };
