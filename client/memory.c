/* SPDX-License-Identifier: MIT */
#include "client/memory.h"

#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *mem_grow(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count ? count : 1, size);

	if (p == NULL)
		err(1, "out of memory");
	return p;
}

char *mem_strdup(const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		err(1, "out of memory");
	return copy;
}

char *mem_vprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) == -1)
		err(1, "out of memory");
	return text;
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	return text;
}

static void reserve(struct bytes *b, size_t more)
{
	if (b->room - b->size > more)
		return;
	b->room = (b->size + more + 1) * 2;
	b->data = mem_grow(b->data, b->room, 1);
}

void bytes_add(struct bytes *b, const void *data, size_t size)
{
	reserve(b, size);
	if (size > 0)
		memcpy(b->data + b->size, data, size);
	b->size += size;
	b->data[b->size] = '\0';
}

int bytes_read(struct bytes *b, int fd, size_t max)
{
	for (;;) {
		ssize_t n;

		reserve(b, 65536);
		n = read(fd, b->data + b->size, 65536);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		b->size += (size_t)n;
		b->data[b->size] = '\0';
		if (n == 0)
			return 0;
		if (b->size > max)
			return -EFBIG;
	}
}

int bytes_add_base64(struct bytes *b, const char *text)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t digits = strcspn(text, "=");
	uint32_t held = 0;

	if (strlen(text) % 4 != 0 || strspn(text, alphabet) != digits || strlen(text + digits) > 2 ||
	    strspn(text + digits, "=") != strlen(text + digits))
		return -1;
	reserve(b, digits / 4 * 3 + 3);
	for (size_t i = 0; i < digits; i++) {
		held = held << 6 | (uint32_t)(strchr(alphabet, text[i]) - alphabet);
		/* Each digit but the first of four completes a byte; what is left over stays in held. */
		if (i % 4 != 0)
			b->data[b->size++] = (char)(held >> (6 - 2 * (i % 4)));
	}
	b->data[b->size] = '\0';
	return 0;
}
