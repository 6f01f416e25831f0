/* SPDX-License-Identifier: MIT */
/* Has a running attempt given its final result? Whoever has is silent, so only an output that has not grown since the last look is
 * read, its end alone, and once: the looks at an agent at work cost a stat each, and no memory between them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/reader.h"
#include "base/memory.h"
#include "engine/work.h"
#include "record/layout.h"
#include "record/output.h"

#define ROOM ((size_t)256 * 1024)
#define ROOM_MAX (2 * (uint64_t)READER_LINE_MAX)

/* What a reader makes of the last bytes. *whole: they have a line from its beginning to its end, or all there is. */
static bool is_over(const struct result_work *w, int dirfd, uint64_t from, char *buffer, bool *whole)
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

void result_run(struct result_work *w)
{
	char *dir = work_attempt_dir(w->work.state_dir, w->attempt), *buffer = NULL;
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t before = w->size;
	int64_t modified;
	bool whole = false;

	if (dirfd == -1 || output_end(dirfd, RECORD_STDOUT, &w->size, &modified) != 0)
		goto out;
	if (w->size != before)
		w->over = false;	/* it goes on */
	if (w->size != before || w->size == w->read)
		goto out;
	w->read = w->size;
	buffer = xcalloc(ROOM, 1);
	/* a last line that is longer than that is read in a longer piece */
	for (uint64_t room = ROOM; !w->over && !whole && room <= ROOM_MAX; room *= 8)
		w->over = is_over(w, dirfd, w->size > room ? w->size - room : 0, buffer, &whole);
	free(buffer);
out:
	if (dirfd != -1)
		close(dirfd);
	free(dir);
}
