/* SPDX-License-Identifier: MIT */
#include "proto/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void __attribute__((noreturn)) out_of_memory(void)
{
	static const char text[] = "out of memory\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)written;	/* there is nobody else to tell */
	abort();
}

void memory_give_back(void)
{
	if (mallinfo2().fordblks >= 1 << 20)
		malloc_trim(0);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count ? count : 1, size ? size : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

char *xstrdup(const char *text)
{
	return text == NULL ? NULL : xmemdup0(text, strlen(text));
}

char *xmemdup0(const void *data, size_t size)
{
	char *p = xmalloc(size + 1);

	if (size > 0)
		memcpy(p, data, size);
	p[size] = '\0';
	return p;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) == -1)
		out_of_memory();
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return text;
}

void text_set(char **at, const char *text)
{
	char *copy = xstrdup(text);

	free(*at);
	*at = copy;
}

bool text_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

size_t strings_count(char *const *list)
{
	size_t n = 0;

	while (list != NULL && list[n] != NULL)
		n++;
	return n;
}

char **strings_copy(char *const *list)
{
	size_t n = strings_count(list);
	char **copy;

	if (list == NULL)
		return NULL;
	copy = xcalloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(list[i]);
	return copy;
}

void strings_append(char ***list, const char *text)
{
	size_t n = strings_count(*list);

	*list = xreallocarray(*list, n + 2, sizeof(**list));
	(*list)[n] = xstrdup(text);
	(*list)[n + 1] = NULL;
}

bool strings_contain(char *const *list, const char *text)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

void strings_free(char **list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

void strings_wipe(char **list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		explicit_bzero(list[i], strlen(list[i]));
	strings_free(list);
}

static void buf_grow(struct buf *b, size_t more)
{
	size_t need = b->size + more + 1;

	if (more > SIZE_MAX / 2 - b->size)
		out_of_memory();
	if (need <= b->room)
		return;
	b->room = b->room * 2 > need ? b->room * 2 : need;
	b->data = xreallocarray(b->data, b->room, 1);
}

void buf_add(struct buf *b, const void *data, size_t size)
{
	buf_grow(b, size);
	if (size > 0)
		memcpy(b->data + b->size, data, size);
	b->size += size;
	b->data[b->size] = '\0';
}

void buf_adds(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	buf_adds(b, text);
	free(text);
}

void buf_separate(struct buf *b, const char *separator)
{
	if (b->size > 0)
		buf_adds(b, separator);
}

int buf_read(struct buf *b, int fd, size_t max)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		if (b->size + (size_t)n > max)
			return -EFBIG;
		buf_add(b, chunk, (size_t)n);
	}
	return 0;
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

char *buf_take(struct buf *b, size_t *size)
{
	char *data = b->data != NULL ? b->data : xstrdup("");

	if (size != NULL)
		*size = b->size;
	*b = (struct buf){ 0 };
	return data;
}
