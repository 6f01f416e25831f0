/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <errno.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/memory.h"
#include "engine/work.h"
#include "record/layout.h"
#include "record/output.h"

/* Feed the recorded stdout to the reader, gaps included. 0 or -errno; -ENODATA: its end is not there. */
static int feed(struct reader *reader, int dirfd, uint64_t expected)
{
	static const size_t room = 256 * 1024;
	char *buffer = xcalloc(room, 1);
	uint64_t offset = 0;
	int rv;

	for (;;) {
		struct output_chunk chunk;

		rv = output_read(dirfd, RECORD_STDOUT, offset, buffer, room, &chunk);
		if (rv != 0)
			break;
		if (chunk.dropped > 0)
			reader_gap(reader);
		if (chunk.size == 0)
			break;
		reader_feed(reader, buffer, chunk.size);
		offset = chunk.offset + chunk.size;
	}
	free(buffer);
	if ((rv == 0 || rv == -ENOENT) && offset < expected)
		return -ENODATA;	/* a full disk took it; what stands before it is not the last word */
	return rv == -ENOENT ? 0 : rv;
}

void collect_run(struct collect_work *work)
{
	char *dir = work_attempt_dir(work->work.state_dir, work->attempt);
	struct reader *reader = reader_new(work->reader);
	char hex[DIGEST_HEX];
	int dirfd, rv;

	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rv = dirfd == -1 ? -errno : feed(reader, dirfd, work->stdout_bytes);
	reader_end(reader, &work->result);
	if (rv == 0 && work->result.size > 0) {
		/* durable: it is the work that was paid for, and the next prompt is made of it */
		rv = file_write(dirfd, RECORD_ANSWER, work->result.text, work->result.size, 0600, true);
		digest_hex(work->result.text, work->result.size, hex);
		work->answer_hash = xstrdup(hex);
	}
	if (rv == -ENODATA)
		work->error = xasprintf("the end of its output was not kept; make room on the disk of %s", dir);
	else if (rv != 0)
		work->error = xasprintf("output in %s cannot be read: %s", dir, strerror(-rv));
	if (dirfd != -1)
		close(dirfd);
	free(dir);
}

#define VERDICT_FILE_MAX (1024 * 1024)

void judge_run(struct judge_work *work)
{
	char *dir = work_attempt_dir(work->work.state_dir, work->attempt);
	struct verdict_input in = { 0 };
	char *text = NULL, *file = NULL;
	int dirfd, rv;

	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd != -1) {
		if (file_read(dirfd, RECORD_ANSWER, AGENT_TEXT_MAX + 1, &text, &in.text_size) != 0)
			in.text_size = 0;
		/* a verdict file too large to be one is no verdict, whatever the text says */
		rv = file_read(dirfd, RECORD_VERDICT, VERDICT_FILE_MAX, &file, &in.file_size);
		if (rv != 0 && rv != -ENOENT) {
			file = xstrdup("{");
			in.file_size = 1;
		}
		close(dirfd);
	}
	in.text = text;
	in.file = file;
	verdict_read(work->carrier, &in, &work->verdict);
	free(text);
	free(file);
	free(dir);
}
