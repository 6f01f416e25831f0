/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of an attempt directory: exit record, job, identity of a shim, an operation
 * of git or bd and its result. They are refused, or read; what was read is written and read again
 * as the same. Bytes are also tried with the sum that makes them whole: no fuzzer would find it. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/git_op.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/identity.h"
#include "record/layout.h"
#include "record/shim_job.h"
#include "task/task_op.h"

static char place[] = "/tmp/rl-fuzz-XXXXXX";
static int dir = -1;

static void leave(void)
{
	static const char *const names[] = { RECORD_EXIT, RECORD_JOB, RECORD_SHIM, RECORD_RESULT, RECORD_OPERATION };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(dir, names[i], 0);
	rmdir(place);
}

static void enter(void)
{
	if (dir != -1)
		return;
	if (mkdtemp(place) == NULL || (dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		abort();
	atexit(leave);
}

static int put(const char *name, const void *data, size_t size)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd == -1 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

static void read_exit(void)
{
	struct exit_record r, again;

	if (exit_record_read(dir, &r) != 0)
		return;
	/* a text of 255 bytes may stand for fewer */
	if (exit_record_write(dir, &r, false) != 0 || exit_record_read(dir, &again) != 0 || again.how != r.how ||
	    again.status != r.status || again.by != r.by || again.stdout_bytes != r.stdout_bytes ||
	    again.dropped != r.dropped || again.tree_empty != r.tree_empty || strcmp(again.error, r.error) != 0)
		abort();
}

static void read_job(void)
{
	struct shim_job job, again;

	if (shim_job_read(dir, &job) != 0)
		return;
	if (job.argv == NULL || job.argv[0] == NULL || job.cwd == NULL || job.cwd[0] != '/' || job.uuid == NULL)
		abort();
	if (shim_job_write(dir, &job) != 0 || shim_job_read(dir, &again) != 0 ||
	    strings_count(again.argv) != strings_count(job.argv) || strcmp(again.cwd, job.cwd) != 0 ||
	    again.wall_ms != job.wall_ms || again.sandbox != job.sandbox ||
	    strings_count(again.writable) != strings_count(job.writable))
		abort();
	shim_job_release(&job);
	shim_job_release(&again);
}

static void read_identity(void)
{
	struct identity id;

	if (identity_read(dir, &id) == 0 && (id.pid <= 0 || id.boot_id[BOOT_ID - 1] != '\0'))
		abort();
}

/* An operation, and the same bytes as its result. */
static void read_git(int fd)
{
	struct git_op *op = git_op_read(fd), *again;
	char *text, *same;
	size_t size, same_size;

	if (op == NULL)
		return;
	text = git_op_text(op, &size);
	fd = put(RECORD_OPERATION, text, size);
	again = git_op_read(fd);
	if (again == NULL)
		abort();
	same = git_op_text(again, &same_size);
	if (same_size != size || memcmp(same, text, size) != 0)
		abort();
	if (git_op_result(again, dir) == 0 && git_op_write(again, dir) != 0)
		abort();
	close(fd);
	free(text);
	free(same);
	git_op_free(op);
	git_op_free(again);
}

static void read_task(int fd)
{
	struct task_op *op = task_op_read(fd);

	if (op == NULL)
		return;
	if (task_op_result(op, dir) == 0 && task_op_write(op, dir) != 0)
		abort();
	task_op_free(op);
}

static void try(const void *data, size_t size)
{
	int fd = put(RECORD_OPERATION, data, size);

	close(put(RECORD_EXIT, data, size));
	close(put(RECORD_JOB, data, size));
	close(put(RECORD_SHIM, data, size));
	close(put(RECORD_RESULT, data, size));
	read_exit();
	read_job();
	read_identity();
	read_git(fd);
	lseek(fd, 0, SEEK_SET);
	if (pwrite(fd, data, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size) == -1)
		abort();
	read_task(fd);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = { 0 };
	const char *end;
	uint64_t sum = 0xcbf29ce484222325;

	enter();
	try(data, size);
	end = memmem(data, size, "\nend ", 5);
	buf_add(&whole, (const char *)data, end != NULL ? (size_t)(end + 1 - (const char *)data) : size);
	for (size_t i = 0; i < whole.size; i++)
		sum = (sum ^ (uint8_t)whole.data[i]) * 0x100000001b3;
	buf_addf(&whole, "end %016" PRIx64 "\n", sum);
	try(whole.data, whole.size);
	buf_release(&whole);
	return 0;
}
