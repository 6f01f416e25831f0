/* SPDX-License-Identifier: MIT */
/* The form of the small text files in an attempt's directory, by one table per struct:
 *
 *	rl-KIND VERSION
 *	name value		one line per row, in the order of the table
 *	end CHECKSUM		FNV-1a of all before it
 *
 * Backslash and LF are escaped in values, every other byte but NUL stands as it is. A file that was
 * cut short, changed or written by another version does not read. Shims outlive an upgrade of rld,
 * and an rld may start the shim of a newer one: so what comes later is a row that may be missing
 * (FIELDS_OPTION, FIELDS_OPTION64, FIELDS_OPTION_NAME, FIELDS_STRING, FIELDS_LIST). A file without
 * it is what the older ones write and read; one that has it they refuse, rather than pass over what
 * they cannot do. Used by rl-shim too: nothing but libc. */
#ifndef RECORD_FIELDS_H
#define RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum fields_kind {
	FIELDS_INT,	/* int */
	FIELDS_OPTION,	/* int; 0: no line */
	FIELDS_INT64,	/* int64_t; also uint64_t below 2^63 */
	FIELDS_OPTION64,	/* likewise; 0: no line */
	FIELDS_BOOL,	/* bool, as 0 and 1 */
	FIELDS_NAME,	/* an enum, as one of names[0..size) */
	FIELDS_OPTION_NAME,	/* the same; 0: no line, and names[0] is not used */
	FIELDS_CHARS,	/* char[size] */
	FIELDS_STRING,	/* char *, owned; NULL: no line */
	FIELDS_LIST	/* char **, owned, NULL-terminated; one line each */
};

struct fields_row {
	const char *name;
	enum fields_kind kind;
	size_t offset;
	size_t size;
	const char *const *names;
};

struct fields_type {
	const char *kind;		/* "exit" */
	int version;
	const struct fields_row *rows;
	size_t count;
	size_t object_size;
	size_t file_max;		/* largest file that is read */
};

/* Replace dirfd/name atomically through name.tmp, mode 0600. An existing name.tmp is overwritten
 * without being truncated first, so that space reserved in it counts. durable: fsync file and
 * directory. 0 or -errno. */
int fields_write(int dirfd, const char *name, const struct fields_type *type, const void *object, bool durable);

/* Fills in object. 0; -ENOENT; -EBADMSG: not a file of this type and version; -errno: temporarily
 * unreadable. On failure object is all zero. */
int fields_read(int dirfd, const char *name, const struct fields_type *type, void *object);

/* Likewise from an open descriptor, which remains the caller's. */
int fields_read_from(int fd, const struct fields_type *type, void *object);

/* The text that fields_write() would write, malloc'd; NULL: no memory, or more than file_max. */
char *fields_text(const struct fields_type *type, const void *object, size_t *size);

/* A deep copy, to be released like one that was read. 0 or -ENOMEM. */
int fields_copy(const struct fields_type *type, void *to, const void *from);

/* Free what fields_read allocated and zero the object. */
void fields_release(const struct fields_type *type, void *object);

#endif
