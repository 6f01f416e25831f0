/* SPDX-License-Identifier: MIT */
#include "job/attempt_preview.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "proto/memory.h"
#include "record/layout.h"
#include "record/output.h"

#define TAIL_MAX (256 * 1024)
#define KEPT_MAX (64 * 1024)

/* The end of a stream, in buffer; bytes before a gap are not used. Returns 0 or -errno. */
static int read_tail(int dirfd, const char *stream, char *buffer, struct preview_tail *tail, int64_t *updated)
{
	uint64_t end = 0, from;
	int64_t modified = -1;
	int rv = output_end(dirfd, stream, &end, &modified);

	*tail = (struct preview_tail){ .data = buffer };
	if (rv != 0)
		return rv;
	if (modified >= 0 && modified > *updated)
		*updated = modified;
	from = end > TAIL_MAX ? end - TAIL_MAX : 0;
	tail->cut = from > 0;
	while (tail->size < TAIL_MAX) {
		struct output_chunk chunk = { 0 };

		rv = output_read(dirfd, stream, from, buffer + tail->size, TAIL_MAX - tail->size, &chunk);
		if (rv != 0 || chunk.size == 0)
			return rv;
		if (chunk.dropped > 0) {
			memmove(buffer, buffer + tail->size, chunk.size);
			tail->size = 0;
			tail->cut = true;
		}
		tail->size += chunk.size;
		from = chunk.offset + chunk.size;
	}
	return 0;
}

/* The current lines. Returns 0 or -errno. */
static int attempt_preview_read(int dirfd, enum reader_kind reader, size_t count, char ***lines, int64_t *updated)
{
	char *buffers = xcalloc(2, TAIL_MAX);
	struct preview_tail out, err;
	int rv = read_tail(dirfd, RECORD_STDOUT, buffers, &out, updated);

	if (rv == 0)
		rv = read_tail(dirfd, RECORD_STDERR, buffers + TAIL_MAX, &err, updated);
	if (rv == 0)
		*lines = reader_preview(reader, &out, &err, count);
	free(buffers);
	return rv;
}

static bool redact_lines(char **lines, const struct redactor *redactor)
{
	bool changed = false;

	for (size_t i = 0; lines[i] != NULL; i++)
		changed |= redact_string(redactor, &lines[i]);
	return changed;
}

/* The last of the saved lines; NULL: none were saved. */
static char **read_kept(int dirfd, size_t count)
{
	char *text = NULL, **lines = NULL;
	size_t size = 0, n = 0;

	if (file_read(dirfd, RECORD_PREVIEW, KEPT_MAX, &text, &size) != 0)
		return NULL;
	lines = xcalloc(1, sizeof(*lines));
	for (size_t i = 0; i < size; i++)
		n += text[i] == '\n';
	for (char *rest = text, *line; n > 0 && (line = strsep(&rest, "\n")) != NULL; n--)
		if (n <= count)
			strings_append(&lines, line);
	free(text);
	return lines;
}

int preview_read(int dirfd, enum reader_kind reader, const struct redactor *redactor, size_t count,
    char ***lines, int64_t *updated)
{
	char **kept = read_kept(dirfd, count);
	int rv = attempt_preview_read(dirfd, reader, count, lines, updated);

	if (rv != 0) {
		strings_free(kept);
		return rv;
	}
	if (kept != NULL) {
		strings_free(*lines);
		*lines = kept;
	}
	redact_lines(*lines, redactor);
	return 0;
}

int preview_keep(int dirfd, enum reader_kind reader, const struct redactor *redactor)
{
	struct buf text = { 0 };
	int64_t updated = 0;
	char **lines = NULL;
	int rv = attempt_preview_read(dirfd, reader, PREVIEW_LINES_MAX, &lines, &updated);

	if (rv != 0)
		return rv == -ENOENT ? 0 : rv;
	if (redact_lines(lines, redactor)) {
		for (size_t i = 0; lines[i] != NULL; i++)
			buf_addf(&text, "%s\n", lines[i]);
		rv = file_write(dirfd, RECORD_PREVIEW, text.data, text.size, 0600, false);
	}
	buf_release(&text);
	strings_free(lines);
	return rv;
}
