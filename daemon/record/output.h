/* SPDX-License-Identifier: MIT */
/* A recorded stream: append-only segment files named by the offset of their first byte. Middle
 * segments may have been dropped to keep the cap; offsets always count the stream as the
 * program wrote it. */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include <stdint.h>
#include <sys/types.h>

struct output_chunk {
	uint64_t offset;	/* of the first byte in data: larger than asked for when bytes
				 * were dropped there */
	size_t size;		/* bytes put into the buffer */
	uint64_t end;		/* stream size now, kept and dropped */
	uint64_t dropped;	/* bytes missing in front of offset, counted from the
				 * offset asked for */
};

/* Read up to room bytes of stream ("stdout", "stderr") from offset. 0 or -errno. */
int output_read(int dirfd, const char *stream, uint64_t offset, void *buffer, size_t room, struct output_chunk *chunk);

/* The first max bytes of a stream that has ended: *data is malloc'd, for the caller, with a
 * NUL behind it that size does not count. 0 or -errno, then there is no *data; -ENODATA: some
 * of it was dropped. */
int output_read_all(int dirfd, const char *stream, size_t max, char **data, size_t *size);

/* Where the stream ends now, dropped bytes included, and when that was last written to, in
 * milliseconds since the epoch; both stay as they are when there is none. 0 or -errno. */
int output_end(int dirfd, const char *stream, uint64_t *end, int64_t *modified);

/* Add to *bytes what is kept of a stream. 0 or -errno. */
int output_kept(int dirfd, const char *stream, uint64_t *bytes);

/* Put what is recorded of a stream, and then the names of its segments, on the disk.
 * 0 or -errno. */
int output_sync(int dirfd, const char *stream);

/* Does the exit record in dirfd vouch for what is there of both streams, written with keep_bytes as
 * below: all of it, or with a cap the part that is there for certain? 0; -ENODATA: some is missing,
 * or more is there; or -errno. */
int output_vouched(int dirfd, int64_t keep_bytes);

/* Writer, used by rl-shim. Of what was written the first and the last keep_bytes / 2 are there
 * for certain, all of it when it is not more than keep_bytes, and never more than keep_bytes plus
 * one segment (1/16 of it, at least 64 KiB). keep_bytes 0: all. dirfd and stream are not owned.
 * NULL: no memory. */
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
