/* SPDX-License-Identifier: MIT */
/* The hooks of a commit, each as a separate process, all but the last before anything is committed.
 * So a failing hook is a rejection, which git's own failures are not; and changes of hooks to the
 * private index are checked before the commit. What was reviewed is what is committed: a hook that
 * reformats files also rejects, with their names, and the next review covers the new format. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "git/artifact.h"
#include "git/operations.h"
#include "proto/escape.h"
#include "record/host_fault.h"

/* of a hook's output: bytes kept of its beginning, and of its end */
#define WORDS_KEEP 8000
#define MESSAGE_MAX (1 << 20)

char *commit_hooks_message_file(const struct git_op *op)
{
	return xasprintf("%s/message", op->spec.scratch);
}

/* ---- its words ---- */

static bool is_inside_letter(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Beginning and end of a text. */
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

/* Enough of both ends of its output. */
static void add_stream(struct buf *out, const struct buf *stream)
{
	const size_t part = 2 * WORDS_KEEP;
	size_t tail;

	if (stream->data == NULL)
		return;
	if (stream->size <= part) {
		buf_add(out, stream->data, stream->size);
		return;
	}
	tail = stream->size - part > part ? stream->size - part : part;
	buf_add(out, stream->data, part);
	buf_add(out, stream->data + tail, stream->size - tail);
}

static char *words_of(const struct child_end *end)
{
	struct buf raw = { 0 };
	char *text;

	add_stream(&raw, &end->out);
	add_stream(&raw, &end->err);
	while (raw.size > 0 && raw.data[raw.size - 1] == '\n')
		raw.size--;
	text = text_escape(raw.data != NULL ? raw.data : "", raw.size, true);
	buf_release(&raw);
	return clip(text);
}

/* ---- no ---- */

/* Whether the hook rejected: not if it could not be run, or was killed by a signal. */
static bool has_said_no(const struct git_op *op, const char *words)
{
	const char *last = strrchr(words, '\n') != NULL ? strrchr(words, '\n') + 1 : words;

	return WIFEXITED(op->end.status) && strncmp(words, "fatal: cannot run ", 18) != 0 &&
	    (strncmp(last, "error: ", 7) != 0 || strstr(last, " died of signal ") == NULL);
}

static int refused(struct git_op *op, const char *hook)
{
	char *words = words_of(&op->end);
	bool no = has_said_no(op, words);

	if (no)
		op->result.refused = words[0] != '\0' ? xasprintf("%s: %s", hook, words) :
		    xasprintf("%s failed without output", hook);
	free(words);
	return no ? 1 : git_fail_process(op);
}

void commit_hooks_changed(struct git_op *op, struct names *names)
{
	char *text = names_take(names);

	op->result.refused = xasprintf("a hook of the repository changed: %s", text);
	op->result.hook_changed = true;
	free(text);
}

/* ---- a note for a begin after this one ---- */

static char *note_text(const struct git_op *op)
{
	return xasprintf("%s\n%s", op->spec.tree, op->spec.message);
}

static char *note_file(const struct git_op *op)
{
	return xasprintf("%s/hooks", op->spec.scratch);
}

int commit_hooks_note(const struct git_op *op)
{
	char *file = note_file(op), *text = note_text(op);
	int rv = file_write(AT_FDCWD, file, text, strlen(text), 0600, false);

	free(text);
	free(file);
	return rv;
}

bool commit_hooks_noted(const struct git_op *op)
{
	char *file = note_file(op), *text = note_text(op), *data = NULL;
	size_t size;
	bool noted = file_read(AT_FDCWD, file, MESSAGE_MAX, &data, &size) == 0 && strcmp(data, text) == 0;

	free(data);
	free(text);
	free(file);
	return noted;
}

void commit_hooks_forget(const struct git_op *op)
{
	char *note = note_file(op), *message = commit_hooks_message_file(op);

	unlink(note);
	unlink(message);
	free(message);
	free(note);
}

/* ---- before the commit ---- */

/* 0: missing, or it agrees; 1: it rejects; -1. */
static int run_hook(struct git_op *op, const char *hook, const char *message, const char *source)
{
	char *const words[] = { (char *)"--", (char *)message, (char *)source, NULL };
	int rv = git_run_call(op, &(struct git_call){ .flags = GIT_INDEX | GIT_HOOKED | GIT_MAY_FAIL,
	    .more = message != NULL ? words : NULL }, "hook", "run", "--ignore-missing", hook, NULL);

	return rv == 1 ? refused(op, hook) : rv;
}

/* What the hooks changed in the index. */
static int check_index(struct git_op *op, const char *planned, const char *agreed)
{
	struct names names = { 0 };
	bool artifact = false;
	char *text;

	if (git_run(op, 0, "diff-tree", "-r", "-z", "--name-only", "--ignore-submodules=none", planned, agreed) != 0)
		return -1;
	for (const char *p = git_out(op), *end = p + git_out_size(op); p < end; p += strlen(p) + 1) {
		artifact = artifact || artifact_has(op->artifacts, p);
		names_add(&names, p);
	}
	if (!artifact) {
		commit_hooks_changed(op, &names);
		return 1;
	}
	text = names_take(&names);
	git_fail(op, xasprintf("a hook of the repository adds review files to the commit: %s; "
	    "nothing was committed: change the hook, then retry the run", text));
	free(text);
	return -1;
}

int commit_hooks_run(struct git_op *op, const char *planned)
{
	char *message = commit_hooks_message_file(op), *agreed = NULL;
	int rv;

	/* users without a name in git commit as rld */
	rv = git_run(op, GIT_MAY_FAIL, "var", "GIT_COMMITTER_IDENT");
	op->anonymous = rv == 1;
	rv = rv == -1 ? -1 : run_hook(op, "pre-commit", NULL, NULL);
	if (rv == 0) {
		int error = file_write(AT_FDCWD, message, op->spec.message, strlen(op->spec.message), 0600, false);

		if (error != 0)
			rv = git_fail(op, xasprintf("%s: %s", message, host_words(-error)));
	}
	if (rv == 0)
		rv = run_hook(op, "prepare-commit-msg", message, "message");
	if (rv == 0)
		rv = run_hook(op, "commit-msg", message, NULL);
	if (rv == 0)
		rv = disk_tree_write(op, 0, &agreed);
	if (rv == 0 && strcmp(agreed, planned) != 0)
		rv = check_index(op, planned, agreed);
	free(agreed);
	free(message);
	return rv;
}

int commit_hooks_after(struct git_op *op)
{
	int rv = git_run(op, GIT_INDEX | GIT_HOOKED | GIT_MAY_FAIL, "hook", "run", "--ignore-missing", "post-commit");

	return rv == -1 ? -1 : 0;
}
