/* SPDX-License-Identifier: MIT */
#include "job/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/notice.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/strip.h"
#include "core/backoff.h"
#include "core/dispute.h"
#include "core/question.h"
#include "core/row.h"
#include "core/state.h"
#include "job/attempt_preview.h"
#include "job/check_finding.h"
#include "job/kept_files.h"
#include "job/provider_result.h"
#include "job/read_notice.h"
#include "job/secrets.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/far_status.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"
#include "task/marker.h"
#include "verdict/verdict.h"

/* Feed the recorded stdout to the reader, gaps included, up to end, and add it to digest (NULL:
 * none); *fed: where it ended. Returns 0 or -errno; -ENODATA: bytes are missing. */
static int feed(struct reader *reader, struct digest *digest, int dirfd, uint64_t expected, uint64_t end,
    uint64_t *fed)
{
	static const size_t room = 256 * 1024;
	char *buffer = xcalloc(room, 1);
	uint64_t offset = 0;
	int rv = 0;

	while (offset < end) {
		struct output_chunk chunk;
		size_t size;

		rv = output_read(dirfd, RECORD_STDOUT, offset, buffer, room, &chunk);
		if (rv != 0 || chunk.size == 0)
			break;
		if (chunk.dropped > 0)
			reader_gap(reader);
		size = chunk.offset >= end ? 0 : end - chunk.offset < chunk.size ?
		    (size_t)(end - chunk.offset) : chunk.size;
		reader_feed(reader, buffer, size);
		if (digest != NULL)
			digest_add(digest, buffer, size);
		offset = chunk.offset + chunk.size;
	}
	free(buffer);
	*fed = offset < end ? offset : end;
	if ((rv == 0 || rv == -ENOENT) && offset < (expected < end ? expected : end))
		/* lost to a full disk; what precedes it is not a result */
		return -ENODATA;
	return rv == -ENOENT ? 0 : rv;
}

/* The end of its output is missing: either it was never written, or it was removed later.
 * malloc'd. */
static char *short_output(const struct collect_job *job, int dirfd, const char *dir)
{
	uint64_t kept = 0, vouched = job->stdout_bytes + job->stderr_bytes - job->dropped;
	int rv = output_kept(dirfd, RECORD_STDOUT, &kept);

	if (rv == 0)
		rv = output_kept(dirfd, RECORD_STDERR, &kept);
	if (rv != 0 || kept >= vouched)
		return xasprintf("the end of its output was lost: make room on the disk of %s, "
		    "then run it again with rlctl hold rework", dir);
	if (job->rebooted)
		return xasprintf("the machine went down before the end of its output was on the "
		    "disk of %s; run it again with rlctl hold rework", dir);
	return xasprintf("its output in %s is shorter than its exit record says: a file was "
	    "truncated or removed there; run it again with rlctl hold rework", dir);
}

/* Output after the shim began to end it is not a result. It tells the cost, and why the service
 * refused. */
static void hear_afterwards(struct collect_job *job, int dirfd)
{
	struct reader *reader = reader_new(job->reader);
	struct agent_result *r = &job->result, all;
	uint64_t fed;

	(void)feed(reader, NULL, dirfd, job->stdout_bytes, UINT64_MAX, &fed);
	reader_end(reader, &all);
	r->tokens_input = all.tokens_input;
	r->tokens_cached = all.tokens_cached;
	r->tokens_cache_write = all.tokens_cache_write;
	r->tokens_output = all.tokens_output;
	r->tokens_reasoning = all.tokens_reasoning;
	r->tokens_of_session = all.tokens_of_session;
	r->cost_usd = all.cost_usd;
	if (!r->over && r->provider == PROVIDER_OK && all.provider != PROVIDER_OK) {
		r->provider = all.provider;
		r->transient = all.transient;
		r->reset_at = all.reset_at;
		free(r->notice);
		r->notice = all.notice;
		all.notice = NULL;
	}
	agent_result_release(&all);
}

/* What the end of stderr tells about a failure. Redacted before it is cut. NULL: nothing. */
static char *last_words(const struct collect_job *job, int dirfd, const struct redactor *redactor)
{
	char tail[4096], *masked, *words;
	size_t size;
	struct output_chunk chunk = { 0 };
	uint64_t from = job->stderr_bytes > sizeof(tail) ? job->stderr_bytes - sizeof(tail) : 0;

	if (output_read(dirfd, RECORD_STDERR, from, tail, sizeof(tail), &chunk) != 0)
		return NULL;
	masked = redact_text(redactor, tail, chunk.size, &size);
	words = agent_last_words(job->reader, masked != NULL ? masked : tail, masked != NULL ? size : chunk.size);
	free(masked);
	return words;
}

/* Save the answer, durably: it is the work that was paid for, and the next prompt needs it. The
 * redacted form for reports is saved next to it, because it outlives the secrets. Returns 0 or
 * -errno. */
static int keep_answer(struct collect_job *job, int dirfd, const struct redactor *redactor)
{
	char hex[DIGEST_HEX], *masked;
	size_t size;
	int rv = 0;

	if (job->result.size == 0)
		return 0;
	masked = redact_text(redactor, job->result.text, job->result.size, &size);
	if (masked != NULL)
		rv = file_write(dirfd, RECORD_MASKED, masked, size, 0600, true);
	free(masked);
	if (rv == 0)
		rv = file_write(dirfd, RECORD_ANSWER, job->result.text, job->result.size, 0600, true);
	if (rv == 0) {
		digest_hex(job->result.text, job->result.size, hex);
		job->answer_hash = xstrdup(hex);
	}
	return rv;
}

/* What of it is kept; one that is missing is empty. Returns 0 or -errno. */
static int hash_stderr(struct collect_job *job, int dirfd)
{
	char hex[DIGEST_HEX];
	int rv = kept_output_hash(dirfd, RECORD_STDERR, UINT64_MAX, hex);

	if (rv == 0)
		job->stderr_hash = xstrdup(hex);
	return rv;
}

#define REVIEW_FILE_MAX (1024 * 1024)

/* A review file that is missing or not a regular file has no marks. Marks are redacted like the
 * findings they are compared with. */
static void read_marks(struct collect_job *job, const struct redactor *redactor)
{
	const char *name;
	int dir = carrier_dir(job->job.state_dir, job->workspace, job->review_file, &name);
	char *text = NULL;
	size_t size = 0;

	if (dir >= 0 && file_read(dir, name, REVIEW_FILE_MAX, &text, &size) == 0)
		job->nmarks = verdict_marks(text, size, &job->marks);
	for (size_t i = 0; i < job->nmarks; i++) {
		redact_string(redactor, &job->marks[i].file);
		redact_string(redactor, &job->marks[i].text);
	}
	if (dir >= 0)
		close(dir);
	free(text);
}

/* limit of copies in rows, events and the log */
#define WORDS_MAX 2000
#define WORDS_CUT "..."

static void shorten(char *words)
{
	size_t n = WORDS_MAX - (sizeof(WORDS_CUT) - 1);

	if (words == NULL || strlen(words) <= WORDS_MAX)
		return;
	n -= text_unfinished(words, n);
	memcpy(words + n, WORDS_CUT, sizeof(WORDS_CUT));
}

/* For rows, events and prompts. Redacted before it is cut. */
static void take_line(const struct redactor *redactor, char **text)
{
	char *line;

	redact_string(redactor, text);
	line = strip_line(*text);
	shorten(line);
	free(*text);
	*text = line;
}

static void read_disputes(struct collect_job *job, const struct redactor *redactor)
{
	job->disputes = dispute_lines(job->result.text, job->result.size, DISPUTES_OF_ANSWER, &job->ndisputes,
	    &job->more_disputes);
	for (size_t i = 0; i < job->ndisputes; i++) {
		take_line(redactor, &job->disputes[i].finding);
		take_line(redactor, &job->disputes[i].reason);
	}
}

/* The parts of the result for rows and events. Redacted before they are cut. */
static void redact_result(struct agent_result *result, const struct redactor *redactor)
{
	redact_string(redactor, &result->error);
	redact_string(redactor, &result->notice);
	redact_string(redactor, &result->model);
	redact_string(redactor, &result->version);
	shorten(result->error);
	shorten(result->notice);
	/* then it is not a conversation id */
	if (redact_string(redactor, &result->session)) {
		free(result->session);
		result->session = NULL;
	}
}

#define NO_LIMIT_WORDS "its service refuses every request"

/* The attempt was ended while it waited for its service: its last refusal before that
 * counts, not its output while ending. A refusal without a reset time that was no limit is
 * assumed to be short. */
static void take_refusal(struct collect_job *job, int dirfd)
{
	struct agent_result *r = &job->result;
	struct notice n;

	notice_last(&n, job->reader, dirfd, job->ended_at, job->zone);
	free(r->error);
	free(r->notice);
	r->error = xstrdup(n.words != NULL ? n.words : NO_LIMIT_WORDS);
	r->notice = xstrdup(n.words);
	r->is_error = true;
	r->incomplete = r->over = r->transient = false;
	r->provider = job->refused;
	r->reset_at = n.reset_at;
	if (r->reset_at == ROW_NONE && n.provider == PROVIDER_THROTTLED)
		r->reset_at = job->ended_at + BACKOFF_MAX_MS;
	notice_release(&n);
}

#define DISK_FILES_MAX 500000

/* Disk usage of a tree, without following links; as far as it is readable. */
static int64_t disk_use(const char *dir)
{
	char *paths[] = { (char *)dir, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	const FTSENT *entry;
	int64_t bytes = 0, files = 0;

	while (fts != NULL && files < DISK_FILES_MAX && (entry = fts_read(fts)) != NULL) {
		if (entry->fts_info == FTS_DP || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
			continue;
		bytes += (int64_t)entry->fts_statp->st_blocks * 512;
		files++;
	}
	if (fts != NULL)
		fts_close(fts);
	return bytes;
}

/* The machine on which its launcher has placed it. */
static void take_node(struct collect_job *job, int dirfd)
{
	struct far_status far;

	far_status_read(dirfd, RECORD_FAR, job->uuid, &far);
	if (far.node[0] != '\0')
		job->node = xstrdup(far.node);
}

static void collect_run(struct job *base)
{
	struct collect_job *job = (struct collect_job *)base;
	char *dir = dirs_attempt(job->job.state_dir, job->attempt);
	struct reader *reader = reader_new(job->reader);
	struct redactor *redactor = secrets_redactor(job->job.state_dir, &job->secrets);
	struct digest *digest = digest_new();
	char hex[DIGEST_HEX];
	uint64_t fed = 0;
	int dirfd, rv;

	dirfd = dirs_open_attempt(job->job.state_dir, job->attempt);
	rv = dirfd < 0 ? dirfd : feed(reader, digest, dirfd, job->stdout_bytes, job->unasked, &fed);
	digest_end(digest, hex);
	job->output_hash = rv == 0 ? xstrdup(hex) : NULL;
	job->output_size = (int64_t)fed;
	reader_end(reader, &job->result);
	if (rv == 0 && job->unasked < job->stdout_bytes)
		hear_afterwards(job, dirfd);
	job->cut = rv == -ENODATA;
	if (job->cut)
		job->error = short_output(job, dirfd, dir);
	else if (rv != 0)
		job->error = xasprintf("output in %s cannot be read: %s", dir, host_words(-rv));
	else
		rv = keep_answer(job, dirfd, redactor);
	if (rv == 0 && job->hands_over)
		rv = carrier_copy_make(&job->carrier, job->job.state_dir, job->attempt);
	if (rv == 0)
		rv = hash_stderr(job, dirfd);
	if (rv == 0)
		rv = preview_keep(dirfd, job->reader, redactor);
	if (dirfd >= 0 && job->uuid != NULL)
		take_node(job, dirfd);
	if (dirfd >= 0)
		job->last_words = last_words(job, dirfd, redactor);
	if (job->check != NULL && rv == 0)
		job->finding = check_finding(dirfd, job->check, job->check_status,
		    job->stdout_bytes, job->stderr_bytes);
	if (job->review_file != NULL)
		read_marks(job, redactor);
	job->stop = job->result.size > 0 && marker_in(job->result.text, job->result.size, job->markers) != NULL;
	job->says_no_change = job->result.size > 0 &&
	    marker_in(job->result.text, job->result.size, job->no_change_markers) != NULL;
	if (job->may_ask && job->result.size > 0)
		job->question = question_of(job->result.text, job->result.size);
	if (job->question != NULL)
		take_line(redactor, &job->question);
	if (job->fixes && job->result.size > 0)
		read_disputes(job, redactor);
	if (job->worktree != NULL)
		job->disk_bytes = disk_use(job->worktree);
	if (rv != 0 && job->error == NULL)
		job->error = xasprintf("its answer cannot be written to %s: %s", dir, host_words(-rv));
	if (dirfd >= 0 && job->refused != PROVIDER_NONE)
		take_refusal(job, dirfd);
	else
		ending_judge(job);
	if (dirfd >= 0)
		close(dirfd);
	redact_result(&job->result, redactor);
	redact_free(redactor);
	free(dir);
}

static void collect_release(struct job *base)
{
	struct collect_job *w = (struct collect_job *)base;

	secrets_release(&w->secrets);
	agent_result_release(&w->result);
	free(w->output_hash);
	free(w->stderr_hash);
	free(w->workspace);
	carrier_copy_release(&w->carrier);
	free(w->check);
	free(w->finding);
	free(w->uuid);
	free(w->node);
	free(w->answer_hash);
	free(w->last_words);
	free(w->zone);
	free(w->doubt);
	free(w->review_file);
	strings_free(w->markers);
	strings_free(w->no_change_markers);
	free(w->worktree);
	verdict_findings_free(w->marks, w->nmarks);
	free(w->question);
	dispute_lines_free(w->disputes, w->ndisputes);
	free(w->error);
}

const struct job_type collect_type = { "collect", collect_run, collect_release };
