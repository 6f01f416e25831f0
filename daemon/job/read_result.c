/* SPDX-License-Identifier: MIT */
/* Whether a running attempt has given its final result, and whether it makes progress. An attempt
 * with a result is silent, so only an output that has not grown since the last check is read, once,
 * and only its end. For progress, new output is read up to the first event that shows it. So
 * checking a working agent costs a stat and an event each time, and little memory. */
#include "job/read_result.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/progress.h"
#include "agent/reader.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "record/layout.h"
#include "record/output.h"

#define ROOM ((size_t)256 * 1024)
#define ROOM_MAX (2 * (uint64_t)READER_LINE_MAX)

/* What a reader makes of the last bytes. *whole: they include a complete line, or everything. */
static bool is_over(const struct result_job *w, int dirfd, uint64_t from, char *buffer, bool *whole)
{
	struct reader *reader = reader_new(w->reader);
	struct agent_result result;
	struct output_chunk chunk;
	bool over;

	*whole = from == 0;
	if (from > 0)
		reader_gap(reader);
	while (output_read(dirfd, RECORD_STDOUT, from, buffer, ROOM, &chunk) == 0 && chunk.size > 0) {
		const char *end = memchr(buffer, '\n', chunk.size);

		if (chunk.dropped > 0)
			reader_gap(reader);
		reader_feed(reader, buffer, chunk.size);
		from = chunk.offset + chunk.size;
		*whole |= end != NULL && from - (uint64_t)(buffer + chunk.size - end) + 1 < w->size;
	}
	over = reader_is_over(reader);
	reader_end(reader, &result);
	agent_result_release(&result);
	return over;
}

/* Read new bytes, up to the first sign of progress. */
static bool shows_progress(struct result_job *w, int dirfd, char *buffer)
{
	struct output_chunk chunk;
	bool seen = false;

	while (!seen && w->seen < w->size &&
	    output_read(dirfd, RECORD_STDOUT, w->seen, buffer, ROOM, &chunk) == 0 && chunk.size > 0) {
		if (chunk.dropped > 0)
			progress_gap(w->progress);
		seen = progress_feed(w->progress, buffer, chunk.size);
		w->seen = chunk.offset + chunk.size;
	}
	if (seen)
		w->seen = w->size;
	return seen;
}

/* An attempt with a result waits for nothing, and has a limit of its own. */
static void look_for_progress(struct result_job *w, int dirfd)
{
	bool first = w->progress == NULL;
	char *buffer;

	if (w->idle_ms == 0)
		return;
	if (first) {
		w->progress = progress_new(w->reader);
		if (w->size > 0)
			progress_gap(w->progress);
		w->seen = w->size;
	}
	buffer = w->seen < w->size ? xcalloc(ROOM, 1) : NULL;
	if (first || w->over || (buffer != NULL && shows_progress(w, dirfd, buffer)))
		w->progress_at = clock_steady();
	w->stalled = clock_steady() - w->progress_at >= w->idle_ms;
	free(buffer);
}

static void read_result_run(struct job *base)
{
	struct result_job *w = (struct result_job *)base;
	char *dir = dirs_attempt(w->job.state_dir, w->attempt), *buffer = NULL;
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t before = w->size;
	int64_t modified;
	bool whole = false;

	if (dirfd == -1 || output_end(dirfd, RECORD_STDOUT, &w->size, &modified) != 0)
		goto out;
	if (w->size != before)
		w->over = false;	/* it continues */
	look_for_progress(w, dirfd);
	if (w->size != before || w->size == w->read)
		goto out;
	w->read = w->size;
	buffer = xcalloc(ROOM, 1);
	/* read a longer piece if the last line is longer */
	for (uint64_t room = ROOM; !w->over && !whole && room <= ROOM_MAX; room *= 8)
		w->over = is_over(w, dirfd, w->size > room ? w->size - room : 0, buffer, &whole);
	free(buffer);
out:
	if (dirfd != -1)
		close(dirfd);
	free(dir);
}

static void read_result_release(struct job *base)
{
	progress_free(((struct result_job *)base)->progress);
}

const struct job_type read_result_type = { "read_result", read_result_run, read_result_release };
