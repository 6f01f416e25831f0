/* SPDX-License-Identifier: MIT */
#include "job/check_finding.h"

#include <stdlib.h>

#include "core/findings.h"
#include "proto/memory.h"
#include "record/layout.h"
#include "record/output.h"

/* of each stream: a difference before that is none for the fixer, who sees less */
#define OUTPUT_END (1024 * 1024)

static int add_end(struct buf *b, int dirfd, const char *stream, uint64_t size)
{
	uint64_t offset = size > OUTPUT_END ? size - OUTPUT_END : 0;
	struct output_chunk chunk = { 0 };
	char *buffer = xcalloc(OUTPUT_END, 1);
	int rv = 0;

	while (rv == 0 && offset < size) {
		rv = output_read(dirfd, stream, offset, buffer, OUTPUT_END, &chunk);
		if (rv != 0 || chunk.size == 0)
			break;
		for (size_t i = 0; i < chunk.size; i++)
			if (buffer[i] == '\0')
				buffer[i] = ' ';
		buf_add(b, buffer, chunk.size);
		offset = chunk.offset + chunk.size;
	}
	free(buffer);
	return rv;
}

char *check_finding(int dirfd, const char *command, int64_t status, uint64_t stdout_bytes, uint64_t stderr_bytes)
{
	struct buf b = { 0 };
	char id[FINDING_ID];
	int rv;

	buf_addf(&b, "status %lld\n", (long long)status);
	rv = add_end(&b, dirfd, RECORD_STDOUT, stdout_bytes);
	buf_adds(&b, "\n");
	if (rv == 0)
		rv = add_end(&b, dirfd, RECORD_STDERR, stderr_bytes);
	if (rv == 0)
		finding_id(command, b.data, id);
	buf_release(&b);
	return rv == 0 ? xstrdup(id) : NULL;
}
