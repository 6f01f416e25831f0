/* SPDX-License-Identifier: MIT */
#include "record/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/handed_environment.h"

#define END_LINE 21	/* "end ", 16 hex digits, LF */

/* The member of an object that a row describes. */
#define AT(object, row, type) ((type *)(void *)((char *)(object) + (row)->offset))
#define AT_CONST(object, row, type) ((type const *)(const void *)((const char *)(object) + (row)->offset))

/* Counts bytes that do not fit, so a pass without room measures the size. */
struct out {
	char *data;
	size_t size, room;
};

/* FNV-1a. Its step is a bijection, so a single changed byte is always detected. */
static uint64_t checksum(const char *data, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
	return h;
}

static void fields_put(struct out *o, const char *data, size_t size)
{
	if (o->size + size <= o->room)
		memcpy(o->data + o->size, data, size);
	o->size += size;
}

static void put_line(struct out *o, const char *name, const char *value)
{
	fields_put(o, name, strlen(name));
	fields_put(o, " ", 1);
	for (const char *p = value; *p != '\0'; p++) {
		if (*p == '\\')
			fields_put(o, "\\\\", 2);
		else if (*p == '\n')
			fields_put(o, "\\n", 2);
		else
			fields_put(o, p, 1);
	}
	fields_put(o, "\n", 1);
}

static void put_number(struct out *o, const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_line(o, name, text);
}

static void put_row(struct out *o, const struct fields_row *row, const void *object)
{
	switch (row->kind) {
	case FIELDS_INT:
		put_number(o, row->name, *AT_CONST(object, row, int));
		break;
	case FIELDS_OPTION:
		if (*AT_CONST(object, row, int) != 0)
			put_number(o, row->name, *AT_CONST(object, row, int));
		break;
	case FIELDS_INT64:
		put_number(o, row->name, *AT_CONST(object, row, int64_t));
		break;
	case FIELDS_OPTION64:
		if (*AT_CONST(object, row, int64_t) != 0)
			put_number(o, row->name, *AT_CONST(object, row, int64_t));
		break;
	case FIELDS_BOOL:
		put_number(o, row->name, *AT_CONST(object, row, bool));
		break;
	case FIELDS_NAME:
		put_line(o, row->name, row->names[*AT_CONST(object, row, int)]);
		break;
	case FIELDS_OPTION_NAME:
		if (*AT_CONST(object, row, int) != 0)
			put_line(o, row->name, row->names[*AT_CONST(object, row, int)]);
		break;
	case FIELDS_CHARS:
		put_line(o, row->name, AT_CONST(object, row, char));
		break;
	case FIELDS_STRING:
		if (*AT_CONST(object, row, char *) != NULL)
			put_line(o, row->name, *AT_CONST(object, row, char *));
		break;
	case FIELDS_LIST:
		for (char **p = *AT_CONST(object, row, char **); p != NULL && *p != NULL; p++)
			put_line(o, row->name, *p);
		break;
	}
}

static void encode(struct out *o, const struct fields_type *type, const void *object)
{
	char line[64];

	o->size = 0;
	fields_put(o, line, (size_t)snprintf(line, sizeof(line), "rl-%s %d\n", type->kind, type->version));
	for (size_t i = 0; i < type->count; i++)
		put_row(o, &type->rows[i], object);
	fields_put(o, line, (size_t)snprintf(line, sizeof(line), "end %016" PRIx64 "\n",
	    o->size <= o->room ? checksum(o->data, o->size) : 0));
}

static int write_all(int fd, const char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(fd, data + done, size - done, (off_t)done);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static int cut(int fd, size_t size)
{
	while (ftruncate(fd, (off_t)size) == -1)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int fields_write(int dirfd, const char *name, const struct fields_type *type, const void *object, bool durable)
{
	/* large enough for an exit record, which must be written even without memory */
	char small[2048], tmp[64];
	struct out out = { .data = small, .room = sizeof(small) };
	int fd, rv;

	encode(&out, type, object);
	if (out.size > type->file_max)
		return -E2BIG;
	if (out.size > out.room) {
		out.room = out.size;
		out.data = malloc(out.room);
		if (out.data == NULL)
			return -ENOMEM;
		encode(&out, type, object);
	}
	snprintf(tmp, sizeof(tmp), "%s.tmp", name);
	/* rld reads what rl-git writes as another user, but with its group */
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, ids_are_split() ? 0640 : 0600);
	if (fd == -1) {
		rv = -errno;
		goto out_data;
	}
	rv = write_all(fd, out.data, out.size);
	if (rv == 0)
		rv = cut(fd, out.size);
	if (rv == 0 && durable && fsync(fd) == -1)
		rv = -errno;
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	if (rv == 0 && renameat(dirfd, tmp, dirfd, name) == -1)
		rv = -errno;
	if (rv == 0 && durable && fsync(dirfd) == -1)
		rv = -errno;
out_data:
	if (out.data != small)
		free(out.data);
	return rv;
}

/* Undo the escapes in place. -1: an escape that put_line() does not write. */
static int unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		from++;
		if (*from != '\\' && *from != 'n')
			return -1;
		*to++ = *from == 'n' ? '\n' : '\\';
	}
	*to = '\0';
	return 0;
}

static int parse_number(const char *text, int64_t min, int64_t max, int64_t *value)
{
	char *end;
	long long n;

	if (*text != '-' && (*text < '0' || *text > '9'))
		return -EBADMSG;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno != 0 || *end != '\0' || n < min || n > max)
		return -EBADMSG;
	*value = n;
	return 0;
}

static int append(char ***list, const char *text)
{
	size_t n = 0;
	char **more;

	while (*list != NULL && (*list)[n] != NULL)
		n++;
	more = reallocarray(*list, n + 2, sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	*list = more;
	more[n + 1] = NULL;
	more[n] = strdup(text);
	return more[n] == NULL ? -ENOMEM : 0;
}

static int take_value(const struct fields_row *row, const char *value, void *object)
{
	int64_t n = 0;
	int rv = 0;

	switch (row->kind) {
	case FIELDS_INT:
	case FIELDS_OPTION:
		rv = parse_number(value, INT_MIN, INT_MAX, &n);
		*AT(object, row, int) = (int)n;
		return rv;
	case FIELDS_INT64:
	case FIELDS_OPTION64:
		return parse_number(value, INT64_MIN, INT64_MAX, AT(object, row, int64_t));
	case FIELDS_BOOL:
		rv = parse_number(value, 0, 1, &n);
		*AT(object, row, bool) = n != 0;
		return rv;
	case FIELDS_NAME:
	case FIELDS_OPTION_NAME:
		for (size_t i = row->kind == FIELDS_NAME ? 0 : 1; i < row->size; i++) {
			if (strcmp(row->names[i], value) == 0) {
				*AT(object, row, int) = (int)i;
				return 0;
			}
		}
		return -EBADMSG;
	case FIELDS_CHARS:
		if (strlen(value) >= row->size)
			return -EBADMSG;
		memcpy(AT(object, row, char), value, strlen(value) + 1);
		return 0;
	case FIELDS_STRING:
		*AT(object, row, char *) = strdup(value);
		return *AT(object, row, char *) == NULL ? -ENOMEM : 0;
	case FIELDS_LIST:
		return append(AT(object, row, char **), value);
	}
	return -EBADMSG;
}

/* Whether a file is complete without the row. */
static bool may_be_missing(enum fields_kind kind)
{
	return kind == FIELDS_OPTION || kind == FIELDS_OPTION64 || kind == FIELDS_OPTION_NAME ||
	    kind == FIELDS_STRING || kind == FIELDS_LIST;
}

/* The line at *next as name and value, without consuming it. -1: no line left, or a malformed
 * one. */
static int peek(char *next, char **name, char **value)
{
	char *space = strchr(next, ' ');

	if (*next == '\0' || space == NULL)
		return -1;
	*name = next;
	*value = space + 1;
	return 0;
}

/* next: the lines between head and end, each ending with LF, followed by NUL. */
static int decode_rows(char *next, const struct fields_type *type, void *object)
{
	for (size_t i = 0; i < type->count; i++) {
		const struct fields_row *row = &type->rows[i];
		size_t length = strlen(row->name), seen = 0;
		char *name, *value;

		while (peek(next, &name, &value) == 0 && (size_t)(value - name) == length + 1 &&
		    memcmp(name, row->name, length) == 0) {
			char *lf = strchr(value, '\n');
			int rv;

			if (lf == NULL)
				return -EBADMSG;
			*lf = '\0';
			rv = unescape(value) == -1 ? -EBADMSG : take_value(row, value, object);
			if (rv != 0)
				return rv;
			next = lf + 1;
			seen++;
			if (row->kind != FIELDS_LIST)
				break;
		}
		if (seen == 0 && !may_be_missing(row->kind))
			return -EBADMSG;
	}
	return *next == '\0' ? 0 : -EBADMSG;
}

/* data has a NUL at data[size]. */
static int decode(char *data, size_t size, const struct fields_type *type, void *object)
{
	char head[64], end[END_LINE + 1];
	size_t length = (size_t)snprintf(head, sizeof(head), "rl-%s %d\n", type->kind, type->version);

	if (size < length + END_LINE || memchr(data, '\0', size) != NULL || memcmp(data, head, length) != 0)
		return -EBADMSG;
	size -= END_LINE;
	snprintf(end, sizeof(end), "end %016" PRIx64 "\n", checksum(data, size));
	if (memcmp(data + size, end, END_LINE) != 0)
		return -EBADMSG;
	data[size] = '\0';
	return decode_rows(data + length, type, object);
}

static int read_all(int fd, char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)done);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		done += (size_t)n;
	}
	return 0;
}

int fields_read_from(int fd, const struct fields_type *type, void *object)
{
	struct stat st;
	char *data;
	int rv;

	memset(object, 0, type->object_size);
	if (fstat(fd, &st) == -1)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0 || (uint64_t)st.st_size > type->file_max)
		return -EBADMSG;
	data = malloc((size_t)st.st_size + 1);
	if (data == NULL)
		return -ENOMEM;
	data[st.st_size] = '\0';
	rv = read_all(fd, data, (size_t)st.st_size);
	if (rv == 0)
		rv = decode(data, (size_t)st.st_size, type, object);
	if (rv != 0)
		fields_release(type, object);
	free(data);
	return rv;
}

int fields_read(int dirfd, const char *name, const struct fields_type *type, void *object)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rv;

	memset(object, 0, type->object_size);
	if (fd == -1)
		return errno == ELOOP || errno == ENXIO ? -EBADMSG : -errno;
	rv = fields_read_from(fd, type, object);
	close(fd);
	return rv;
}

char *fields_text(const struct fields_type *type, const void *object, size_t *size)
{
	struct out out = { 0 };

	encode(&out, type, object);
	out.room = out.size;
	out.data = out.size <= type->file_max ? malloc(out.room) : NULL;
	if (out.data != NULL)
		encode(&out, type, object);
	*size = out.size;
	return out.data;
}

int fields_copy(const struct fields_type *type, void *to, const void *from)
{
	int rv = 0;

	memcpy(to, from, type->object_size);
	for (size_t i = 0; i < type->count; i++) {
		const struct fields_row *row = &type->rows[i];
		char *const *list;

		if (row->kind == FIELDS_STRING && *AT(to, row, char *) != NULL &&
		    (*AT(to, row, char *) = strdup(*AT(to, row, char *))) == NULL)
			rv = -ENOMEM;
		if (row->kind != FIELDS_LIST)
			continue;
		list = *AT(to, row, char **);
		*AT(to, row, char **) = NULL;
		for (; list != NULL && *list != NULL && rv == 0; list++)
			rv = append(AT(to, row, char **), *list);
	}
	return rv;
}

void fields_release(const struct fields_type *type, void *object)
{
	for (size_t i = 0; i < type->count; i++) {
		const struct fields_row *row = &type->rows[i];

		if (row->kind == FIELDS_STRING) {
			free(*AT(object, row, char *));
		} else if (row->kind == FIELDS_LIST) {
			for (char **p = *AT(object, row, char **); p != NULL && *p != NULL; p++)
				free(*p);
			free(*AT(object, row, char **));
		}
	}
	memset(object, 0, type->object_size);
}
