/* SPDX-License-Identifier: MIT */
#include "task/op.h"

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
#include "task/op_int.h"

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

enum bd_stage op_fail_with(struct task_op *op, char *error)
{
	free(op->error);
	op->error = error;
	return BD_NONE;
}

/* ---- what is done without a process ---- */

static const char *file_fault(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
		return "is not there";
	case -EFBIG:
		return "is too long";
	case -EINVAL:
		return "is no regular file";
	case -ELOOP:
		return "is a symbolic link, which is not followed here";
	default:
		return host_words(-error);
	}
}

static void load_jsonl(struct task_op *op)
{
	char *name = xasprintf("%s/.beads/issues.jsonl", op->path), *shown = text_escape(name, strlen(name), false), *text, *error;
	size_t size;
	int rv = file_read(AT_FDCWD, name, JSONL_MAX, &text, &size);

	if (rv != 0) {
		op_fail_with(op, xasprintf("bd is not on the PATH of the agents, and %s %s; install bd, or put that file there", shown, file_fault(rv)));
	} else {
		if (beads_read_jsonl(text, size, &op->list, &error) != 0) {
			op_fail_with(op, xasprintf("%s (in %s)", error, op->path));
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
		/* the same again is not worth a new file */
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

	if (op->path == NULL)
		return;
	pthread_mutex_lock(&prd_mutex);
	error = pass_story(op->path, op->task);
	pthread_mutex_unlock(&prd_mutex);
	if (error == NULL)
		return;
	path = text_escape(op->path, strlen(op->path), false);
	id = text_escape(op->task, strlen(op->task), false);
	op_fail_with(op, xasprintf("%s: %s; the story %s has passed, so set \"passes\": true there yourself", path, error, id));
	free(error);
	free(path);
	free(id);
}

/* ---- the face ---- */

struct task_op *task_op_new(const struct task_op_spec *spec)
{
	struct task_op *op = xcalloc(1, sizeof(*op));

	op->kind = spec->kind;
	op->source = spec->source;
	op->path = xstrdup(spec->path);
	op->search = xstrdup(spec->search);
	op->task = xstrdup(spec->task);
	op->actor = xstrdup(spec->actor);
	op->reason = xstrdup(spec->reason);
	op->dirfd = -1;
	return op;
}

void task_op_free(struct task_op *op)
{
	if (op == NULL)
		return;
	task_list_release(&op->list);
	strings_free(op->argv);
	strings_free(op->env);
	free(op->path);
	free(op->search);
	free(op->task);
	free(op->actor);
	free(op->reason);
	free(op->bd);
	free(op->ready);
	free(op->blocked);
	free(op->taken);
	free(op->error);
	free(op);
}

/* The first step; none when there is nothing for a process to do. */
static enum bd_stage begin(struct task_op *op)
{
	if (op->source == SOURCE_STORIES && op->kind == TASK_OP_CLOSE)
		close_story(op);
	if (op->source != SOURCE_BEADS || op->path == NULL)
		return BD_NONE;
	if (op->bd == NULL)
		op->bd = program_find(op->search, "bd");
	if (op->bd != NULL)
		return bd_begin(op);
	if (op->kind == TASK_OP_LOAD)
		load_jsonl(op);
	return BD_NONE;
}

/* What an operation with bd is, and what came of it: the same rows for both ways. */
struct bd_text {
	int kind;
	char *path, *search, *task, *actor, *reason, *bd;
	char *error, *taken, *ready, *blocked;
	int trouble, fault;
};

#define ROW(name, kind) { #name, kind, offsetof(struct bd_text, name), 0, NULL }

static const struct fields_row text_rows[] = {
	{ "kind", FIELDS_NAME, offsetof(struct bd_text, kind), TASK_OPS, task_op_names },
	ROW(path, FIELDS_STRING),
	ROW(search, FIELDS_STRING),
	ROW(task, FIELDS_STRING),
	ROW(actor, FIELDS_STRING),
	ROW(reason, FIELDS_STRING),
	ROW(bd, FIELDS_STRING),
	ROW(error, FIELDS_STRING),
	ROW(trouble, FIELDS_OPTION),
	ROW(fault, FIELDS_OPTION),
	ROW(taken, FIELDS_STRING),
	ROW(ready, FIELDS_STRING),
	ROW(blocked, FIELDS_STRING),
};

static const struct fields_type text_type = {
	.kind = "bd-operation",
	.version = 1,
	.rows = text_rows,
	.count = sizeof(text_rows) / sizeof(text_rows[0]),
	.object_size = sizeof(struct bd_text),
	.file_max = 512 * 1024 * 1024,
};

static struct bd_text text_of(const struct task_op *op)
{
	return (struct bd_text){
		.kind = (int)op->kind, .path = op->path, .search = op->search, .task = op->task, .actor = op->actor, .reason = op->reason, .bd = op->bd,
		.error = op->error, .taken = op->taken, .trouble = (int)op->trouble, .fault = op->fault,
		.ready = op->ready, .blocked = op->blocked,
	};
}

char *task_op_text(const struct task_op *op, size_t *size)
{
	struct bd_text text = text_of(op);

	return fields_text(&text_type, &text, size);
}

struct task_op *task_op_read(int fd)
{
	struct bd_text text;
	struct task_op *op;

	if (fields_read_from(fd, &text_type, &text) != 0)
		return NULL;
	op = task_op_new(&(struct task_op_spec){ .kind = (enum task_op_kind)text.kind, .source = SOURCE_BEADS, .path = text.path, .search = text.search,
	    .task = text.task, .actor = text.actor, .reason = text.reason });
	op->bd = xstrdup(text.bd);
	fields_release(&text_type, &text);
	return op;
}

int task_op_write(const struct task_op *op, int dirfd)
{
	struct bd_text text = text_of(op);

	return fields_write(dirfd, RECORD_RESULT, &text_type, &text, false);
}

int task_op_result(struct task_op *op, int dirfd)
{
	struct exit_record record;
	struct bd_text text;
	int rv;

	if (exit_record_read(dirfd, &record) == 0 && record.by == EXIT_WALL) {
		op_fail_with(op, xasprintf("bd in %s: it did not end in time, and was killed; see what `bd doctor` says there", op->path));
		op->trouble = TROUBLE_PASSES;
		return 0;
	}
	rv = fields_read(dirfd, RECORD_RESULT, &text_type, &text);
	if (rv != 0)
		return rv;
	text_set(&op->error, text.error);
	text_set(&op->taken, text.taken);
	op->trouble = (enum task_trouble)text.trouble;
	op->fault = text.fault;
	bd_take(op, text.ready, text.blocked);
	fields_release(&text_type, &text);
	return 0;
}

enum step_next task_op_begin(struct task_op *op)
{
	struct step_spec step;

	return task_op_next(op, -1, true, &step);
}

enum step_next task_op_next(struct task_op *op, int dirfd, bool ok, struct step_spec *step)
{
	op->dirfd = dirfd;
	op->stage = dirfd == -1 ? begin(op) : bd_result(op, ok);
	if (op->stage == BD_NONE)
		return op->error != NULL ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
	bd_prepare(op, step);
	return STEP_NEXT_RUN;
}

void task_op_redact(struct task_op *op, const struct redactor *redactor)
{
	redact_string(redactor, &op->error);
	redact_string(redactor, &op->taken);
}

const char *task_op_error(const struct task_op *op)
{
	return op->error;
}

enum task_trouble task_op_trouble(const struct task_op *op)
{
	return op->trouble;
}

int task_op_fault(const struct task_op *op)
{
	return op->fault;
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
	return op->taken;
}
