/* SPDX-License-Identifier: MIT */
/* A recorded stream: append-only segment files named by the offset of their first byte. Middle
 * segments may have been dropped because of the limit; offsets always count the stream as written
 * by the program. */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include <stdint.h>
#include <sys/types.h>

struct output_chunk {
	/* of the first byte in data: greater than the requested one if bytes were dropped there */
	uint64_t offset;
	size_t size;		/* bytes put into the buffer */
	uint64_t end;		/* current size of the stream, including dropped bytes */
	uint64_t dropped;	/* bytes missing before offset, from the requested offset on */
};

/* Read up to room bytes of stream ("stdout", "stderr") from offset. 0 or -errno. */
int output_read(int dirfd, const char *stream, uint64_t offset, void *buffer, size_t room, struct output_chunk *chunk);

/* The first max bytes of a stream that has ended: *data is malloc'd, owned by the caller, with an
 * additional NUL. 0 or -errno, without *data; -ENODATA: some bytes were dropped. */
int output_read_all(int dirfd, const char *stream, size_t max, char **data, size_t *size);

/* Current end of the stream, including dropped bytes, and time of the last write, in milliseconds
 * since the epoch; both unchanged if there is no stream. 0 or -errno. */
int output_end(int dirfd, const char *stream, uint64_t *end, int64_t *modified);

/* Add to *bytes the saved size of a stream. 0 or -errno. */
int output_kept(int dirfd, const char *stream, uint64_t *bytes);

/* Remove a stream. 0 or -errno. */
int output_remove(int dirfd, const char *stream);

/* Sync the content of a stream, and then the names of its segments. 0 or -errno. */
int output_sync(int dirfd, const char *stream);

/* Whether both streams are as the exit record in dirfd says, written with keep_bytes as below:
 * completely, or with a limit the guaranteed part. 0; -ENODATA: bytes are missing, or there are
 * more; or -errno. */
int output_vouched(int dirfd, int64_t keep_bytes);

/* Writer, used by rl-shim. The first and the last keep_bytes / 2 bytes are always kept, everything
 * if it is not more than keep_bytes, and never more than keep_bytes plus one segment (1/16 of it,
 * at least 64 KiB). keep_bytes 0: everything. dirfd and stream are not owned. NULL: no memory. */
struct output_writer;
struct output_writer *output_writer_new(int dirfd, const char *stream, int64_t keep_bytes);
/* Write data. 0 or -errno; the caller continues to drain in any case. Bytes that a fault of the
 * host keeps from the disk stay in memory, up to 256 KiB, and are written before the next ones;
 * older ones, and bytes that fail for another reason, count as dropped. */
int output_write(struct output_writer *w, const void *data, size_t size);
/* Write the bytes in memory. 0: none are left; or -errno. */
int output_flush(struct output_writer *w);
/* Count the bytes in memory as dropped. */
void output_give_up(struct output_writer *w);
uint64_t output_written(const struct output_writer *w);
uint64_t output_dropped(const struct output_writer *w);
void output_writer_free(struct output_writer *w);

#endif
