/* SPDX-License-Identifier: MIT */
#include "task/task_op.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/program.h"
#include "record/exit_record.h"
#include "record/fields.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "task/bead.h"
#include "task/task_op_int.h"

#define PRD_MAX ((size_t)16 * 1024 * 1024)
#define JSONL_MAX ((size_t)64 * 1024 * 1024)

const char *const task_op_names[TASK_OPS] = {
	[TASK_OP_LOAD] = "load",
	[TASK_OP_CLAIM] = "claim",
	[TASK_OP_CLOSE] = "close",
	[TASK_OP_RELEASE] = "release",
};

/* Two slots that pass at the same time read and write the same file. */
static pthread_mutex_t prd_mutex = PTHREAD_MUTEX_INITIALIZER;

int task_op_fail(struct task_op *op, char *error)
{
	free(op->result.error);
	op->result.error = error;
	return -1;
}

/* ---- what is done without a process ---- */

static const char *file_fault(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
		return "does not exist";
	case -EFBIG:
		return "is too long";
	case -EINVAL:
		return "is not a regular file";
	case -ELOOP:
		return "is a symbolic link, which is not followed";
	default:
		return host_words(-error);
	}
}

static void load_jsonl(struct task_op *op)
{
	char *name = xasprintf("%s/.beads/issues.jsonl", op->spec.path),
	    *shown = text_escape(name, strlen(name), false), *text, *error;
	size_t size;
	int rv = file_read(AT_FDCWD, name, JSONL_MAX, &text, &size);

	if (rv != 0) {
		task_op_fail(op, xasprintf("bd is not on the PATH of the agents, and %s %s; "
		    "install bd, or create that file", shown, file_fault(rv)));
	} else {
		if (beads_read_jsonl(text, size, &op->list, &error) != 0) {
			task_op_fail(op, xasprintf("%s (in %s)", error, op->spec.path));
			free(error);
		}
		free(text);
	}
	free(name);
	free(shown);
}

/* NULL, or what is wrong. */
static char *pass_story(const char *path, const char *id)
{
	char *target = realpath(path, NULL), *text, *out, *error;
	size_t size, out_size;
	int rv = target != NULL ? file_read(AT_FDCWD, target, PRD_MAX, &text, &size) : -errno;

	free(target);
	if (rv != 0)
		return xstrdup(file_fault(rv));
	out = stories_pass(text, size, id, &out_size, &error);
	if (out != NULL) {
		/* no change, so no new file */
		rv = out_size == size && memcmp(out, text, size) == 0 ? 0 : file_update(path, out, out_size);
		error = rv == 0 ? NULL : xasprintf("cannot be written: %s", host_words(-rv));
		free(out);
	}
	free(text);
	return error;
}

static void close_story(struct task_op *op)
{
	char *error, *path, *id;

	if (op->spec.path == NULL)
		return;
	pthread_mutex_lock(&prd_mutex);
	error = pass_story(op->spec.path, op->spec.task);
	pthread_mutex_unlock(&prd_mutex);
	if (error == NULL)
		return;
	path = text_escape(op->spec.path, strlen(op->spec.path), false);
	id = text_escape(op->spec.task, strlen(op->spec.task), false);
	task_op_fail(op, xasprintf("%s: %s; the story %s has passed, so set \"passes\": true "
	    "manually",
	    path, error, id));
	free(error);
	free(path);
	free(id);
}

/* ---- there and back ---- */

#define SPEC(name, kind) { #name, kind, offsetof(struct task_op, spec.name), 0, NULL }
#define RESULT(name, kind) { #name, kind, offsetof(struct task_op, result.name), 0, NULL }

/* An operation with bd and its result: the same rows serve both directions. */
static const struct fields_row op_rows[] = {
	{ "kind", FIELDS_NAME, offsetof(struct task_op, spec.kind), TASK_OPS, task_op_names },
	SPEC(path, FIELDS_STRING),
	SPEC(search, FIELDS_STRING),
	SPEC(task, FIELDS_STRING),
	SPEC(actor, FIELDS_STRING),
	SPEC(reason, FIELDS_STRING),
	{ "bd", FIELDS_STRING, offsetof(struct task_op, bd), 0, NULL },
	RESULT(error, FIELDS_STRING),
	RESULT(trouble, FIELDS_OPTION),
	RESULT(fault, FIELDS_OPTION),
	RESULT(taken, FIELDS_STRING),
	RESULT(ready, FIELDS_STRING),
	RESULT(blocked, FIELDS_STRING),
};

static const struct fields_type op_type = {
	.kind = "bd-operation",
	.version = 1,
	.rows = op_rows,
	.count = sizeof(op_rows) / sizeof(op_rows[0]),
	.object_size = sizeof(struct task_op),
	.file_max = 512 * 1024 * 1024,
};

struct task_op *task_op_new(const struct task_op_spec *spec)
{
	struct task_op *op = xcalloc(1, sizeof(*op)), like = { .spec = *spec };

	if (fields_copy(&op_type, op, &like) != 0)
		abort();
	return op;
}

void task_op_free(struct task_op *op)
{
	if (op == NULL)
		return;
	task_list_release(&op->list);
	fields_release(&op_type, op);
	free(op);
}

char *task_op_text(const struct task_op *op, size_t *size)
{
	return fields_text(&op_type, op, size);
}

struct task_op *task_op_read(int fd)
{
	struct task_op *op = xcalloc(1, sizeof(*op));
	int rv = fields_read_from(fd, &op_type, op);

	if (rv == 0)
		return op;
	free(op);
	errno = -rv;
	return NULL;
}

int task_op_write(const struct task_op *op, int dirfd)
{
	return fields_write(dirfd, RECORD_RESULT, &op_type, op, false);
}

/* The tasks, from the output of bd. */
static void take_list(struct task_op *op)
{
	char *words = NULL;
	json_t *answer = op->result.ready != NULL ?
	    bd_answer(op->result.ready, strlen(op->result.ready), &words) : NULL;

	if (answer != NULL)
		bd_list(answer, &op->list, &words);
	json_decref(answer);
	answer = op->result.blocked != NULL ? bd_answer(op->result.blocked, strlen(op->result.blocked), &words) : NULL;
	if (answer != NULL)
		bd_list_blocked(answer, &op->list);
	json_decref(answer);
	free(words);
}

int task_op_result(struct task_op *op, int dirfd)
{
	struct exit_record record;
	struct task_op done;
	int rv;

	if (exit_record_read(dirfd, &record) == 0 && record.by == EXIT_WALL) {
		task_op_fail(op, xasprintf("bd in %s timed out and was killed; see `bd doctor` "
		    "there", op->spec.path));
		op->result.trouble = TROUBLE_PASSES;
		return 0;
	}
	rv = fields_read(dirfd, RECORD_RESULT, &op_type, &done);
	if (rv != 0)
		return rv;
	done.spec.source = op->spec.source;
	fields_release(&op_type, op);
	*op = done;
	take_list(op);
	return 0;
}

enum step_next task_op_begin(struct task_op *op)
{
	if (op->spec.source == SOURCE_STORIES && op->spec.kind == TASK_OP_CLOSE)
		close_story(op);
	if (op->spec.source == SOURCE_BEADS && op->spec.path != NULL) {
		op->bd = program_find(op->spec.search, "bd");
		if (op->bd != NULL)
			return STEP_NEXT_RUN;
		if (op->spec.kind == TASK_OP_LOAD)
			load_jsonl(op);
	}
	return op->result.error != NULL ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
}

void task_op_redact(struct task_op *op, const struct redactor *redactor)
{
	redact_string(redactor, &op->result.error);
	redact_string(redactor, &op->result.taken);
}

/* ---- the result ---- */

const char *task_op_error(const struct task_op *op)
{
	return op->result.error;
}

enum task_trouble task_op_trouble(const struct task_op *op)
{
	return (enum task_trouble)op->result.trouble;
}

int task_op_fault(const struct task_op *op)
{
	return op->result.fault;
}

const struct task_list *task_op_list(const struct task_op *op)
{
	return &op->list;
}

bool task_op_has_bd(const struct task_op *op)
{
	return op->bd != NULL;
}

const char *task_op_taken(const struct task_op *op)
{
	return op->result.taken;
}
