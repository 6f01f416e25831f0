/* SPDX-License-Identifier: MIT */
/* COMMIT, the hooks of a commit: each is a process of its own, and all but the last run before anything is committed. So one
 * that fails has said no, while the troubles of git are told apart from it; and what they have made of the private index is
 * looked at before it is a commit. What was reviewed is what is committed: a hook that puts files in form says no as well, with
 * their names, and the next review is of the files in that form. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "git/artifact.h"
#include "git/op_int.h"
#include "proto/escape.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"

#define WORDS_KEEP 8000		/* of a hook's words: so many bytes of the head, and of the tail */
#define MESSAGE_MAX (1 << 20)

static char *message_file(const struct git_op *op)
{
	return xasprintf("%s/message", op->scratch);
}

/* ---- its words ---- */

/* At most size bytes of a recorded stream from offset on. */
static void add_range(struct buf *out, int dirfd, const char *stream, uint64_t offset, size_t size)
{
	char chunk[4096];
	struct output_chunk got;

	while (size > 0 && output_read(dirfd, stream, offset, chunk, size < sizeof(chunk) ? size : sizeof(chunk), &got) == 0 && got.size > 0) {
		buf_add(out, chunk, got.size);
		offset = got.offset + got.size;
		size -= got.size;
	}
}

/* Enough of both ends for words_of(). */
static void add_stream(struct buf *out, int dirfd, const char *stream)
{
	const uint64_t part = 2 * WORDS_KEEP;
	struct output_chunk got = { 0 };
	char c;

	if (output_read(dirfd, stream, 0, &c, sizeof(c), &got) != 0)
		return;
	add_range(out, dirfd, stream, 0, part);
	if (got.end > part)
		add_range(out, dirfd, stream, got.end - part > part ? got.end - part : part, part);
}

static bool is_inside_letter(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Head and tail of a text. */
static char *clip(char *text)
{
	size_t size = strlen(text), head = WORDS_KEEP, tail = size - WORDS_KEEP;
	char *cut;

	if (size <= 2 * WORDS_KEEP)
		return text;
	while (is_inside_letter(text[head]))
		head--;
	while (is_inside_letter(text[tail]))
		tail++;
	cut = xasprintf("%.*s\n[... %zu bytes ...]\n%s", (int)head, text, tail - head, text + tail);
	free(text);
	return cut;
}

static char *words_of(int dirfd)
{
	struct buf raw = { 0 };
	char *text;

	add_stream(&raw, dirfd, RECORD_STDOUT);
	add_stream(&raw, dirfd, RECORD_STDERR);
	while (raw.size > 0 && raw.data[raw.size - 1] == '\n')
		raw.size--;
	text = text_escape(raw.data != NULL ? raw.data : "", raw.size, true);
	buf_release(&raw);
	return clip(text);
}

/* ---- no ---- */

/* Nobody said no when the hook could not be run, or was ended by another. */
static bool has_said_no(int dirfd, const char *words)
{
	const char *last = strrchr(words, '\n') != NULL ? strrchr(words, '\n') + 1 : words;
	struct exit_record record;

	if (exit_record_read(dirfd, &record) == 0 && (record.by != EXIT_OWN || record.how != EXIT_BY_CODE))
		return false;
	return strncmp(words, "fatal: cannot run ", 18) != 0 && (strncmp(last, "error: ", 7) != 0 || strstr(last, " died of signal ") == NULL);
}

static enum stage refused(struct git_op *op, const char *hook)
{
	char *words = words_of(op->dirfd);

	if (!has_said_no(op->dirfd, words)) {
		free(words);
		return op_process_failed(op);
	}
	op->refused = words[0] != '\0' ? xasprintf("%s: %s", hook, words) : xasprintf("%s failed without a word", hook);
	free(words);
	return op->kind == GIT_MEASURE ? rehearse_over(op) : STAGE_NONE;
}

enum stage hook_changed(struct git_op *op, const struct names *names)
{
	op->refused = xasprintf("a hook of the repository changed: %s", names->text.data);
	return STAGE_NONE;
}

/* ---- a note for who begins again: hooks have run, and may have put files in form ---- */

static char *note_text(const struct git_op *op)
{
	return xasprintf("%s\n%s", op->given, op->message);
}

static char *note_file(const struct git_op *op)
{
	return xasprintf("%s/hooks", op->scratch);
}

static int note_write(const struct git_op *op)
{
	char *file = note_file(op), *text = note_text(op);
	int rv = file_write(AT_FDCWD, file, text, strlen(text), 0600, false);

	free(text);
	free(file);
	return rv;
}

bool hook_noted(const struct git_op *op)
{
	char *file = note_file(op), *text = note_text(op), *data = NULL;
	size_t size;
	bool noted = file_read(AT_FDCWD, file, MESSAGE_MAX, &data, &size) == 0 && strcmp(data, text) == 0;

	free(data);
	free(text);
	free(file);
	return noted;
}

void hook_over(const struct git_op *op)
{
	char *note = note_file(op), *message = message_file(op);

	unlink(note);
	unlink(message);
	free(message);
	free(note);
}

/* ---- before the commit ---- */

/* The tree that the commit is to have. */
enum stage planned_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	int rv;

	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git write-tree: no tree id in %s", op->workspace));
	op->planned = xmemdup0(data, size - 1);
	rv = op->kind == GIT_MEASURE ? 0 : note_write(op);
	return rv == 0 ? STAGE_HOOK_BEFORE : op_fail(op, xasprintf("%s: %s", op->scratch, host_words(-rv)));
}

static void add_message(struct git_op *op, const char *more)
{
	char *file = message_file(op);

	strings_append(&op->words, file);
	if (more != NULL)
		strings_append(&op->words, more);
	free(file);
}

enum stage hook_before_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *file;
	int rv;

	(void)data, (void)size;
	if (!ok)
		return refused(op, "pre-commit");
	file = message_file(op);
	rv = file_write(AT_FDCWD, file, op->message, strlen(op->message), 0600, false);
	if (rv != 0)
		op_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
	free(file);
	add_message(op, "message");
	return rv == 0 ? STAGE_HOOK_PREPARE : STAGE_NONE;
}

enum stage hook_prepare_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	if (!ok)
		return refused(op, "prepare-commit-msg");
	add_message(op, NULL);
	return STAGE_HOOK_MESSAGE;
}

enum stage hook_message_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	return ok ? STAGE_AGREED : refused(op, "commit-msg");
}

enum stage agreed_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git write-tree: no tree id in %s", op->workspace));
	if (size - 1 != strlen(op->planned) || memcmp(data, op->planned, size - 1) != 0) {
		char *agreed = xmemdup0(data, size - 1);

		strings_append(&op->words, op->planned);
		strings_append(&op->words, agreed);
		free(agreed);
		return STAGE_MEDDLED;
	}
	if (op->kind == GIT_MEASURE)
		return rehearse_over(op);
	add_message(op, NULL);
	return STAGE_COMMIT;
}

enum stage meddled_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct names names = { 0 };
	bool artifact = false;

	(void)ok;
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1) {
		artifact = artifact || artifact_has(op->artifacts, p);
		names_add(&names, p);
	}
	names_end(&names);
	if (artifact)
		op_fail(op, xasprintf("a hook of the repository puts into the commit what is of the review: %s; nothing was committed: make the hook "
		    "leave it out, then retry the run", names.text.data));
	else
		hook_changed(op, &names);
	buf_release(&names.text);
	return op->kind == GIT_MEASURE ? rehearse_over(op) : STAGE_NONE;
}
