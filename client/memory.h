/* SPDX-License-Identifier: MIT */
/* Allocation that ends the program when there is no memory left: a client has nothing to save. */
#ifndef CLIENT_MEMORY_H
#define CLIENT_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *mem_grow(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
char *mem_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A growing string of bytes; always with a NUL behind once anything was added. data is the owner's to free. */
struct bytes {
	char *data;
	size_t size, room;
};

void bytes_add(struct bytes *b, const void *data, size_t size);

/* Read fd to its end, at most max bytes. 0, or -errno; -EFBIG when there is more. */
int bytes_read(struct bytes *b, int fd, size_t max);

/* The bytes that a base64 text stands for. 0, or -1 when it is none. */
int bytes_add_base64(struct bytes *b, const char *text);

#endif
