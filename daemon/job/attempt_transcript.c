/* SPDX-License-Identifier: MIT */
#include "job/attempt_transcript.h"

#include <stdlib.h>
#include <string.h>

#include "agent/reader.h"
#include "proto/memory.h"
#include "record/layout.h"
#include "record/output.h"

#define WINDOW (256 * 1024)	/* what is read at once, unless a line is longer */

/* A contiguous part of stdout. */
struct part {
	char *data;
	size_t size, room;
	int64_t offset;		/* of its first byte */
	int64_t dropped;	/* bytes missing before it */
	bool whole;		/* nothing follows at present, or bytes are missing there */
};

/* Read up to part->room bytes. Returns 0 or -errno. */
static int read_part(int dirfd, int64_t offset, struct part *part)
{
	part->offset = offset;
	part->size = 0;
	part->dropped = 0;
	part->whole = false;
	while (part->size < part->room) {
		struct output_chunk chunk = { 0 };
		int rv = output_read(dirfd, RECORD_STDOUT, (uint64_t)part->offset + part->size, part->data + part->size,
		    part->room - part->size, &chunk);

		if (rv != 0)
			return rv;
		part->whole = chunk.size == 0 || (chunk.dropped > 0 && part->size > 0);
		if (part->whole)
			return 0;
		if (chunk.dropped > 0) {
			part->dropped = (int64_t)chunk.dropped;
			part->offset = (int64_t)chunk.offset;
		}
		part->size += chunk.size;
	}
	return 0;
}

/* Whether a line begins at offset. */
static bool is_line_start(int dirfd, int64_t offset)
{
	struct output_chunk chunk = { 0 };
	char before;

	return offset == 0 || (output_read(dirfd, RECORD_STDOUT, (uint64_t)offset - 1, &before, 1, &chunk) == 0 &&
	    chunk.size == 1 && chunk.dropped == 0 && before == '\n');
}

/* Bytes at the beginning of the part that belong to a line whose beginning is not there. */
static size_t remains(const struct part *part, bool fresh)
{
	const char *end = fresh ? NULL : memchr(part->data, '\n', part->size);

	return fresh ? 0 : end == NULL ? part->size : (size_t)(end - part->data) + 1;
}

/* Bytes were dropped behind this part: its last line has no end. */
static bool is_cut(int dirfd, const struct part *part)
{
	struct output_chunk chunk = { 0 };
	char next;

	return part->whole && part->size > 0 &&
	    output_read(dirfd, RECORD_STDOUT, (uint64_t)part->offset + part->size, &next, 1, &chunk) == 0 &&
	    chunk.dropped > 0;
}

static int read_lines(int dirfd, enum reader_kind reader, int64_t offset, bool complete, struct part *part,
    struct transcript *t)
{
	for (part->room = WINDOW;; part->room *= 4) {
		size_t from, used;
		int rv;

		part->data = xreallocarray(part->data, part->room, 1);
		rv = read_part(dirfd, offset, part);
		if (rv != 0)
			return rv;
		from = remains(part, reader == READER_TEXT || (part->dropped == 0 && is_line_start(dirfd, offset)));
		used = reader_show(reader, &t->show, part->data + from, part->size - from,
		    part->whole && (complete || is_cut(dirfd, part)));
		t->offset = part->offset;
		t->dropped = part->dropped;
		t->next = part->offset + (int64_t)(from + used);
		t->eof = complete && part->whole && from + used == part->size && !is_cut(dirfd, part);
		if (from + used > 0 || part->whole)
			return 0;
		if (part->room > READER_LINE_MAX) {
			show_add(&t->show, SHOW_SKIPPED, "a line of more than 16 MiB");
			t->next = part->offset + (int64_t)part->size;
			return 0;
		}
	}
}

int transcript_read(int dirfd, enum reader_kind reader, const struct redactor *redactor, int64_t offset,
    bool complete, struct transcript *t)
{
	struct part part = { 0 };
	int rv;

	*t = (struct transcript){ .offset = offset, .next = offset };
	rv = read_lines(dirfd, reader, offset, complete, &part, t);
	for (size_t i = 0; i < t->show.count; i++)
		redact_string(redactor, &t->show.items[i].text);
	free(part.data);
	return rv;
}
