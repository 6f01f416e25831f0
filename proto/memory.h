/* SPDX-License-Identifier: MIT */
/* Allocation that succeeds or aborts; sizes from outside must be bounded first. */
#ifndef PROTO_MEMORY_H
#define PROTO_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);		/* NULL stays NULL */
char *xmemdup0(const void *data, size_t size);	/* copy with a terminating NUL */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* Replace *at, which is owned, by a copy of text; NULL: none. text may be the old *at. */
void text_set(char **at, const char *text);
/* Both are NULL, or the same text. */
bool text_equal(const char *a, const char *b);

/* Return free memory to the system, if it is a MiB or more. Takes a millisecond for 20 MiB: call it
 * when there is nothing else to do. */
void memory_give_back(void);

/* NULL-terminated lists of strings. */
size_t strings_count(char *const *list);
char **strings_copy(char *const *list);		/* NULL stays NULL */
void strings_append(char ***list, const char *text);
bool strings_contain(char *const *list, const char *text);
void strings_free(char **list);
void strings_wipe(char **list);		/* likewise, and clear the memory */

/* A growing byte buffer; always NUL-terminated once anything was added. */
struct buf {
	char *data;
	size_t size, room;
};

void buf_add(struct buf *b, const void *data, size_t size);
void buf_adds(struct buf *b, const char *text);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add a separator before the next item of a list, unless the buffer is empty. */
void buf_separate(struct buf *b, const char *separator);
/* Read fd to its end, at most max bytes. Returns 0, -EFBIG if there is more, or -errno. */
int buf_read(struct buf *b, int fd, size_t max);
void buf_release(struct buf *b);
/* Return the bytes, to be freed by the caller; never NULL. */
char *buf_take(struct buf *b, size_t *size);

#endif
