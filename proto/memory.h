/* SPDX-License-Identifier: MIT */
/* Allocation that succeeds or aborts: the bounds on what others may make us allocate come first. */
#ifndef PROTO_MEMORY_H
#define PROTO_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);		/* NULL stays NULL */
char *xmemdup0(const void *data, size_t size);	/* copy with a NUL behind */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* *at, which is owned, becomes a copy of text, NULL: none. text may be what *at was. */
void text_set(char **at, const char *text);
/* Both are NULL, or the same text. */
bool text_equal(const char *a, const char *b);

/* NULL-terminated lists of strings. */
size_t strings_count(char *const *list);
char **strings_copy(char *const *list);		/* NULL stays NULL */
void strings_append(char ***list, const char *text);
bool strings_contain(char *const *list, const char *text);
void strings_free(char **list);
void strings_wipe(char **list);		/* the same, and nothing of them stays in memory */

/* A growing byte buffer; always NUL-terminated once anything was added. */
struct buf {
	char *data;
	size_t size, room;
};

void buf_add(struct buf *b, const void *data, size_t size);
void buf_adds(struct buf *b, const char *text);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* separator, unless the buffer is empty: in front of each item of a list. */
void buf_separate(struct buf *b, const char *separator);
/* Read fd to its end, at most max bytes. 0, -EFBIG when there is more, or -errno. */
int buf_read(struct buf *b, int fd, size_t max);
void buf_release(struct buf *b);
/* Hand the bytes to the caller, who frees them; never NULL. */
char *buf_take(struct buf *b, size_t *size);

#endif
