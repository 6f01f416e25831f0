/* SPDX-License-Identifier: MIT */
#include "record/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/layout.h"

#define NAME_MAX_LENGTH 64
#define OFFSET_DIGITS 16
#define SEGMENT_UNLIMITED (UINT64_C(64) << 20)	/* segment size without a limit */
#define SEGMENT_MIN UINT64_C(65536)
#define WAITING_MAX ((size_t)256 * 1024)
#define SEGMENTS 64	/* of the tail; at most 10 unless the disk is full */

struct segment {
	uint64_t start, size;
};

/* The first head bytes are in segments that are never removed. After them come segments of
 * segment_size, of which the oldest is removed when the others still contain the last tail bytes.
 * So head + tail bytes are always available, and at most one segment more. */
struct output_writer {
	int dirfd;		/* not owned */
	const char *stream;	/* not owned */
	uint64_t head, tail, segment_size;
	bool capped;
	/* of everything but the waiting bytes: offset of the next byte, and number of missing
	 * ones */
	uint64_t written, dropped;
	/* bytes after that which a host fault keeps from the disk, owned; NULL: none so far */
	char *waiting;
	size_t nwaiting;
	int fd;			/* of the newest segment, -1: the next byte begins one */
	struct segment open;	/* the newest */
	struct segment segments[SEGMENTS];	/* finished ones after the head, oldest first */
	size_t nsegments;
};

static void segment_name(char name[NAME_MAX_LENGTH], const char *stream, uint64_t start)
{
	snprintf(name, NAME_MAX_LENGTH, "%s.%016" PRIx64, stream, start);
}

struct output_writer *output_writer_new(int dirfd, const char *stream, int64_t keep_bytes)
{
	struct output_writer *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->dirfd = dirfd;
	w->stream = stream;
	w->fd = -1;
	w->capped = keep_bytes > 0;
	w->segment_size = SEGMENT_UNLIMITED;
	if (w->capped) {
		w->tail = (uint64_t)keep_bytes / 2;
		w->head = (uint64_t)keep_bytes - w->tail;
		w->segment_size = (uint64_t)keep_bytes / 16 > SEGMENT_MIN ? (uint64_t)keep_bytes / 16 : SEGMENT_MIN;
	}
	return w;
}

static void drop_oldest(struct output_writer *w)
{
	char name[NAME_MAX_LENGTH];

	segment_name(name, w->stream, w->segments[0].start);
	unlinkat(w->dirfd, name, 0);
	w->dropped += w->segments[0].size;
	w->nsegments--;
	memmove(&w->segments[0], &w->segments[1], w->nsegments * sizeof(w->segments[0]));
}

/* Remove segments that are neither head nor needed for the tail. */
static void trim(struct output_writer *w)
{
	while (w->nsegments > 0) {
		uint64_t next = w->nsegments > 1 ? w->segments[1].start : w->open.start;

		if (w->written - next < w->tail)
			break;
		drop_oldest(w);
	}
}

static void segment_finish(struct output_writer *w)
{
	char name[NAME_MAX_LENGTH];

	if (w->fd == -1)
		return;
	close(w->fd);
	w->fd = -1;
	if (w->open.size == 0) {
		segment_name(name, w->stream, w->open.start);
		unlinkat(w->dirfd, name, 0);
	} else if (w->capped && w->open.start >= w->head) {
		if (w->nsegments == SEGMENTS)
			drop_oldest(w);
		w->segments[w->nsegments++] = w->open;
	}
}

static int segment_begin(struct output_writer *w)
{
	char name[NAME_MAX_LENGTH];

	segment_name(name, w->stream, w->written);
	w->fd = openat(w->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (w->fd == -1)
		return -errno;
	w->open = (struct segment){ .start = w->written };
	return 0;
}

static uint64_t segment_left(const struct output_writer *w)
{
	uint64_t full = w->open.start < w->head ? w->head - w->open.start : w->segment_size;

	return full - w->open.size;
}

/* Write up to size bytes. Returns the count, or -errno. */
static ssize_t write_some(struct output_writer *w, const char *data, size_t size)
{
	ssize_t n;
	int rv;

	if (w->fd != -1 && segment_left(w) == 0)
		segment_finish(w);
	if (w->fd == -1) {
		rv = segment_begin(w);
		if (rv != 0)
			return rv;
	}
	do
		n = write(w->fd, data, size < segment_left(w) ? size : segment_left(w));
	while (n == -1 && errno == EINTR);
	if (n > 0)
		return n;
	rv = n == 0 ? -EIO : -errno;
	segment_finish(w);	/* what follows the gap gets a segment with its true offset */
	return rv;
}

/* Write as much as the disk accepts. Returns the count; *error: 0, or -errno of what prevented the
 * rest. */
static size_t write_most(struct output_writer *w, const char *data, size_t size, int *error)
{
	size_t done = 0;

	*error = 0;
	while (done < size) {
		ssize_t n = write_some(w, data + done, size - done);

		if (n < 0) {
			*error = (int)n;
			break;
		}
		done += (size_t)n;
		w->written += (uint64_t)n;
		w->open.size += (uint64_t)n;
		trim(w);
	}
	return done;
}

static void drop(struct output_writer *w, size_t size)
{
	w->written += size;
	w->dropped += size;
}

/* Keep bytes in memory that the disk cannot take now; if there are too many, the last ones. */
static void wait_with(struct output_writer *w, const char *data, size_t size)
{
	size_t excess;

	if (w->waiting == NULL)
		w->waiting = malloc(WAITING_MAX);
	if (w->waiting == NULL) {
		drop(w, size);
		return;
	}
	excess = w->nwaiting + size > WAITING_MAX ? w->nwaiting + size - WAITING_MAX : 0;
	if (excess > 0) {
		size_t old = excess < w->nwaiting ? excess : w->nwaiting;

		memmove(w->waiting, w->waiting + old, w->nwaiting - old);
		w->nwaiting -= old;
		data += excess - old;
		size -= excess - old;
		drop(w, excess);
	}
	memcpy(w->waiting + w->nwaiting, data, size);
	w->nwaiting += size;
}

int output_flush(struct output_writer *w)
{
	int error = 0;
	size_t done = w->nwaiting > 0 ? write_most(w, w->waiting, w->nwaiting, &error) : 0;

	w->nwaiting -= done;
	if (done > 0)
		memmove(w->waiting, w->waiting + done, w->nwaiting);
	if (error != 0 && !host_fault(-error)) {
		drop(w, w->nwaiting);
		w->nwaiting = 0;
	}
	return error;
}

void output_give_up(struct output_writer *w)
{
	drop(w, w->nwaiting);
	w->nwaiting = 0;
}

int output_write(struct output_writer *w, const void *data, size_t size)
{
	int error = output_flush(w);
	size_t done = 0;

	if (w->nwaiting == 0)
		done = write_most(w, data, size, &error);
	if (done < size && host_fault(-error))
		wait_with(w, (const char *)data + done, size - done);
	else if (done < size)
		drop(w, size - done);
	return error;
}

uint64_t output_written(const struct output_writer *w)
{
	return w->written + w->nwaiting;
}

uint64_t output_dropped(const struct output_writer *w)
{
	return w->dropped;
}

void output_writer_free(struct output_writer *w)
{
	if (w == NULL)
		return;
	segment_finish(w);
	free(w->waiting);
	free(w);
}

/* What the directory tells about an offset. */
struct place {
	bool any;
	uint64_t last;		/* newest segment */
	bool at_or_before;
	uint64_t here;		/* newest segment that begins at or before the offset */
	bool after;
	uint64_t next;		/* oldest segment that begins after it */
};

/* The start of a segment of stream, or -1 for another file. */
static int segment_parse(const char *name, const char *stream, uint64_t *start)
{
	size_t length = strlen(stream);
	const char *digits = name + length + 1;

	if (strncmp(name, stream, length) != 0 || name[length] != '.' || strlen(digits) != OFFSET_DIGITS ||
	    strspn(digits, "0123456789abcdef") != OFFSET_DIGITS)
		return -1;
	*start = strtoull(digits, NULL, 16);
	return 0;
}

/* A separate directory stream. NULL with errno. */
static DIR *dir_open(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;
	DIR *dir = fd != -1 ? fdopendir(fd) : NULL;

	if (dir == NULL && fd != -1) {
		error = errno;
		close(fd);
		errno = error;
	}
	return dir;
}

static int place_find(int dirfd, const char *stream, uint64_t offset, struct place *place)
{
	DIR *dir = dir_open(dirfd);
	struct dirent *entry;
	uint64_t start;
	int rv;

	*place = (struct place){ 0 };
	if (dir == NULL)
		return -errno;
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		if (segment_parse(entry->d_name, stream, &start) == -1)
			continue;
		if (!place->any || start > place->last)
			place->last = start;
		place->any = true;
		if (start <= offset && (!place->at_or_before || start > place->here)) {
			place->at_or_before = true;
			place->here = start;
		}
		if (start > offset && (!place->after || start < place->next)) {
			place->after = true;
			place->next = start;
		}
	}
	rv = -errno;
	closedir(dir);
	return rv;
}

static int segment_open(int dirfd, const char *stream, uint64_t start, struct stat *st)
{
	char name[NAME_MAX_LENGTH];
	int fd, rv;

	segment_name(name, stream, start);
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1)
		return -errno;
	rv = fstat(fd, st) == -1 ? -errno : S_ISREG(st->st_mode) ? 0 : -EINVAL;
	if (rv != 0)
		close(fd);
	return rv != 0 ? rv : fd;
}

/* Bytes of the segment at start, from offset on: the count, 0 if it ends before, or -errno. */
static ssize_t segment_read(int dirfd, const char *stream, uint64_t start, uint64_t offset, void *buffer, size_t room)
{
	struct stat st;
	ssize_t n;
	int fd;

	/* beyond any file size, which pread() would report as an error */
	if (offset - start > (uint64_t)INT64_MAX - room)
		return 0;
	fd = segment_open(dirfd, stream, start, &st);
	if (fd < 0)
		return fd;
	do
		n = pread(fd, buffer, room, (off_t)(offset - start));
	while (n == -1 && errno == EINTR);
	if (n == -1)
		n = -errno;
	close(fd);
	return n;
}

/* One pass. -ENOENT: a segment was removed between listing and reading. */
static int read_once(int dirfd, const char *stream, uint64_t offset, char *buffer, size_t room,
    struct output_chunk *chunk)
{
	struct place place;
	struct stat st;
	int rv;

	*chunk = (struct output_chunk){ .offset = offset };
	for (;;) {
		uint64_t at = chunk->offset + chunk->size;
		ssize_t n = 0;

		/* List first: a segment with a newer one after it is complete. */
		rv = place_find(dirfd, stream, at, &place);
		if (rv != 0)
			return rv;
		if (place.at_or_before && chunk->size < room)
			n = segment_read(dirfd, stream, place.here, at, buffer + chunk->size, room - chunk->size);
		if (n < 0)
			return (int)n;
		chunk->size += (size_t)n;
		if (n > 0)
			continue;
		if (chunk->size > 0 || room == 0 || !place.after)
			break;
		chunk->offset = place.next;	/* skip the gap */
	}
	chunk->dropped = chunk->offset - offset;
	if (!place.any)
		return 0;
	rv = segment_open(dirfd, stream, place.last, &st);
	if (rv < 0)
		return rv;
	close(rv);
	chunk->end = place.last + (uint64_t)st.st_size;
	return 0;
}

int output_read(int dirfd, const char *stream, uint64_t offset, void *buffer, size_t room, struct output_chunk *chunk)
{
	int rv;

	do
		rv = read_once(dirfd, stream, offset, buffer, room, chunk);
	while (rv == -ENOENT);	/* the writer has moved on by a segment each time */
	return rv;
}

int output_end(int dirfd, const char *stream, uint64_t *end, int64_t *modified)
{
	struct place place;
	struct stat st;
	int fd;

	do {
		fd = place_find(dirfd, stream, UINT64_MAX, &place);
		if (fd != 0 || !place.any)
			return fd;
		fd = segment_open(dirfd, stream, place.last, &st);
	} while (fd == -ENOENT);	/* the writer has moved on by a segment */
	if (fd < 0)
		return fd;
	close(fd);
	*end = place.last + (uint64_t)st.st_size;
	*modified = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	return 0;
}

int output_read_all(int dirfd, const char *stream, size_t max, char **data, size_t *size)
{
	struct output_chunk got;
	uint64_t end = 0;
	int64_t modified;
	int rv = output_end(dirfd, stream, &end, &modified);

	*data = NULL;
	if (rv != 0)
		return rv;
	*size = end < max ? (size_t)end : max;
	*data = malloc(*size + 1);
	if (*data == NULL)
		return -ENOMEM;
	rv = output_read(dirfd, stream, 0, *data, *size, &got);
	if (rv == 0 && (got.dropped > 0 || got.size < *size))
		rv = -ENODATA;
	if (rv != 0) {
		free(*data);
		*data = NULL;
		return rv;
	}
	(*data)[*size] = '\0';
	return 0;
}

/* Call each for every segment of a stream while it returns 0. 0 or -errno. */
static int each_segment(int dirfd, const char *stream, int (*each)(int dirfd, const char *name, void *arg), void *arg)
{
	DIR *dir = dir_open(dirfd);
	struct dirent *entry;
	uint64_t start;
	int rv = dir != NULL ? 0 : -errno;

	while (rv == 0 && (errno = 0, (entry = readdir(dir)) != NULL))
		if (segment_parse(entry->d_name, stream, &start) == 0)
			rv = each(dirfd, entry->d_name, arg);
	if (rv == 0)
		rv = -errno;
	if (dir != NULL)
		closedir(dir);
	return rv;
}

static int segment_size(int dirfd, const char *name, void *arg)
{
	uint64_t *bytes = arg;
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return -errno;
	*bytes += (uint64_t)st.st_size;
	return 0;
}

int output_kept(int dirfd, const char *stream, uint64_t *bytes)
{
	return each_segment(dirfd, stream, segment_size, bytes);
}

static int segment_sync(int dirfd, const char *name, void *arg)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool *any = arg;
	int rv;

	if (fd == -1)
		return -errno;
	*any = true;
	rv = fdatasync(fd) == -1 ? -errno : 0;
	close(fd);
	return rv;
}

static int segment_remove(int dirfd, const char *name, void *arg)
{
	bool *any = arg;

	*any = true;
	return unlinkat(dirfd, name, 0) == -1 && errno != ENOENT ? -errno : 0;
}

int output_remove(int dirfd, const char *stream)
{
	bool any;
	int rv;

	/* what changes may not be listed whole */
	do {
		any = false;
		rv = each_segment(dirfd, stream, segment_remove, &any);
	} while (rv == 0 && any);
	return rv;
}

int output_sync(int dirfd, const char *stream)
{
	bool any = false;
	int rv = each_segment(dirfd, stream, segment_sync, &any);

	return rv == 0 && any && fsync(dirfd) == -1 ? -errno : rv;
}

/* Whether all bytes from..to exist. 0, -ENODATA or -errno. */
static int has_bytes(int dirfd, const char *stream, uint64_t from, uint64_t to)
{
	struct place place;
	struct stat st;
	int fd;

	while (from < to) {
		fd = place_find(dirfd, stream, from, &place);
		if (fd != 0)
			return fd;
		if (!place.at_or_before)
			return -ENODATA;
		fd = segment_open(dirfd, stream, place.here, &st);
		if (fd < 0)
			return fd;
		close(fd);
		if (place.here + (uint64_t)st.st_size <= from)
			return -ENODATA;
		from = place.here + (uint64_t)st.st_size;
	}
	return 0;
}

/* written: size of the program's output according to the record. */
static int stream_vouched(int dirfd, const char *stream, uint64_t written, int64_t keep_bytes)
{
	uint64_t tail = (uint64_t)keep_bytes / 2, head = (uint64_t)keep_bytes - tail, end = 0;
	int64_t modified;
	int rv = output_end(dirfd, stream, &end, &modified);

	if (rv != 0)
		return rv;
	if (end != written)
		return -ENODATA;
	if (keep_bytes == 0 || written <= (uint64_t)keep_bytes)
		return has_bytes(dirfd, stream, 0, written);
	rv = has_bytes(dirfd, stream, 0, head);
	return rv != 0 ? rv : has_bytes(dirfd, stream, written - tail, written);
}

int output_vouched(int dirfd, int64_t keep_bytes)
{
	struct exit_record record;
	int rv = exit_record_read(dirfd, &record);

	/* without a limit, only a failing disk drops bytes */
	if (rv == 0 && keep_bytes == 0 && record.dropped > 0)
		rv = -ENODATA;
	if (rv == 0)
		rv = stream_vouched(dirfd, RECORD_STDOUT, record.stdout_bytes, keep_bytes);
	return rv != 0 ? rv : stream_vouched(dirfd, RECORD_STDERR, record.stderr_bytes, keep_bytes);
}
