/* SPDX-License-Identifier: MIT */
/* What a running attempt has reported about its service since the last check: the new part of each
 * stream, or only its end if it is long. */
#include "job/read_notice.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/notice.h"
#include "agent/reset.h"
#include "base/zone.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "record/layout.h"
#include "record/output.h"

#define ROOM ((size_t)256 * 1024)

static const char *const streams[NOTICE_STREAMS] = { [NOTICE_STDOUT] = RECORD_STDOUT, [NOTICE_STDERR] = RECORD_STDERR };

/* From *offset on, which moves behind the last whole line. */
static void read_stream(struct notice *n, enum reader_kind kind, enum notice_stream stream,
    int dirfd, uint64_t end, uint64_t *offset, const struct reset_place *place)
{
	struct output_chunk chunk;
	char *buffer;

	if (end <= *offset)
		return;
	buffer = xcalloc(ROOM, 1);
	if (end - *offset > ROOM)
		*offset = end - ROOM;
	while (output_read(dirfd, streams[stream], *offset, buffer, ROOM, &chunk) == 0 && chunk.size > 0) {
		const char *last = memrchr(buffer, '\n', chunk.size);
		size_t whole = last != NULL ? (size_t)(last - buffer) + 1 : chunk.size == ROOM ? chunk.size : 0;

		*offset = chunk.offset + whole;
		notice_read(n, kind, stream, buffer, whole, place);
		if (whole < chunk.size)
			break;
	}
	free(buffer);
}

/* The stream written last is read last; if in doubt stdout is, because the work continued. */
static void read_both(struct notice *n, enum reader_kind kind, int dirfd,
    uint64_t offsets[NOTICE_STREAMS], const struct reset_place *place)
{
	int64_t modified[NOTICE_STREAMS] = { 0 };
	uint64_t ends[NOTICE_STREAMS] = { 0 };
	bool refused_last;

	for (int i = 0; i < NOTICE_STREAMS; i++)
		output_end(dirfd, streams[i], &ends[i], &modified[i]);
	refused_last = modified[NOTICE_STDERR] > modified[NOTICE_STDOUT];
	for (int i = 0; i < NOTICE_STREAMS; i++) {
		enum notice_stream stream = (i == 0) == refused_last ? NOTICE_STDOUT : NOTICE_STDERR;

		read_stream(n, kind, stream, dirfd, ends[stream], &offsets[stream], place);
	}
}

static void read_notice_run(struct job *base)
{
	struct notice_job *w = (struct notice_job *)base;
	char *dir = dirs_attempt(w->job.state_dir, w->attempt);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct reset_place place = { clock_wall(), w->zone, ZONE_DATABASE };

	if (dirfd != -1) {
		read_both(&w->notice, w->reader, dirfd, w->offsets, &place);
		close(dirfd);
	}
	w->decided = notice_decide(&w->notice, place.now);
	free(dir);
}

void notice_last(struct notice *n, enum reader_kind kind, int dirfd, int64_t at, const char *zone)
{
	struct reset_place place = { at, zone, ZONE_DATABASE };
	uint64_t offsets[NOTICE_STREAMS] = { 0 };

	notice_init(n);
	read_both(n, kind, dirfd, offsets, &place);
}

static void read_notice_release(struct job *base)
{
	struct notice_job *w = (struct notice_job *)base;

	free(w->zone);
	notice_release(&w->notice);
}

const struct job_type read_notice_type = { "read_notice", read_notice_run, read_notice_release };
