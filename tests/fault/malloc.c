/* SPDX-License-Identifier: MIT */
/* Loaded before a dynamic program: one of its allocations fails, or of what it forks.
 * FAULT_PROGRAM: its name; FAULT_AT: which allocation, 0 for none; FAULT_STICKY: all later ones as
 * well; FAULT_FLAG: a file, nothing fails after it is gone; FAULT_COUNT: a file that has their
 * number at the end, FAULT_HIT: one that is made when one fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t n, size_t size), *__libc_realloc(void *p, size_t size);

static atomic_long *count;		/* shared with what is forked */
static long at;
static bool on, sticky;
static const char *flag, *hit;

__attribute__((constructor)) static void begin(void)
{
	const char *program = getenv("FAULT_PROGRAM"), *number = getenv("FAULT_AT");

	at = number != NULL ? strtol(number, NULL, 10) : 0;
	sticky = getenv("FAULT_STICKY") != NULL;
	flag = getenv("FAULT_FLAG");
	hit = getenv("FAULT_HIT");
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	on = count != MAP_FAILED && program != NULL && strcmp(program_invocation_short_name, program) == 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	FILE *file = on && path != NULL ? fopen(path, "we") : NULL;

	on = false;
	if (file != NULL) {
		fprintf(file, "%ld\n", (long)*count);
		fclose(file);
	}
}

static bool fails(void)
{
	int saved = errno;
	long n;

	if (!on)
		return false;
	n = ++*count;
	if (at == 0 || !(n == at || (sticky && n > at)))
		return false;
	if (flag != NULL && access(flag, F_OK) == -1) {
		errno = saved;
		return false;
	}
	if (hit != NULL)
		close(open(hit, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}
