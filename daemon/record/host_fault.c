/* SPDX-License-Identifier: MIT */
#include "record/host_fault.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define BUSY(error, remedy) \
	{ error, #error, HOST_FAULT_BUSY, remedy, "try again in a moment; if the problem persists, " remedy }
#define SPACE(error, remedy)	{ error, #error, HOST_FAULT_SPACE, remedy, remedy ", then try again" }
#define BROKEN(error, remedy)	{ error, #error, HOST_FAULT_BROKEN, remedy, remedy ", then try again" }

static const struct {
	int error;
	const char *name;
	enum host_fault_class class;
	const char *remedy, *retry;
} faults[] = {
	SPACE(ENOSPC, "make room on the disk"),
	SPACE(EDQUOT, "make room on the disk, or raise the quota"),
	BUSY(EMFILE, "raise the limit on open files (ulimit -n, LimitNOFILE=)"),
	BUSY(ENFILE, "raise the system's limit on open files (sysctl fs.file-max)"),
	BUSY(EAGAIN, "raise the limit on processes (ulimit -u, TasksMax=), or end some processes"),
	/* proc/starter.c: the service that starts agents */
	BUSY(EHOSTDOWN, "start rld-start.socket (systemctl status rld-start.service)"),
	BUSY(EINTR, "look for what interrupts it in the system log"),
	BROKEN(EIO, "check the disk: see the kernel log (dmesg)"),
	BROKEN(ENOMEM, "free some memory"),
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

/* The row of an errno, FAULTS: none. */
static size_t host_fault_find(int error)
{
	size_t i = 0;

	while (i < FAULTS && faults[i].error != error)
		i++;
	return i;
}

bool host_fault(int error)
{
	return host_fault_find(error) < FAULTS;
}

enum host_fault_class host_fault_class(int error)
{
	size_t i = host_fault_find(error);

	return i < FAULTS ? faults[i].class : HOST_FAULT_NONE;
}

static _Thread_local int noted;

const char *host_words(int error)
{
	if (host_fault(error))
		noted = error;
	return strerror(error);
}

int host_noted(void)
{
	int error = noted;

	noted = 0;
	return error;
}

static bool ends_with(const char *line, size_t size, const char *words)
{
	size_t n = strlen(words);

	return size >= n && memcmp(line + size - n, words, n) == 0;
}

static int line_fault(const char *line, size_t size)
{
	for (size_t i = 0; i < FAULTS; i++)
		if (ends_with(line, size, strerrordesc_np(faults[i].error)))
			return faults[i].error;
	/* what git says of an index that it could write in part */
	return ends_with(line, size, "write error. Out of diskspace") ? ENOSPC : 0;
}

int host_fault_said(const char *text, bool last_only)
{
	int found = 0;

	while (*text != '\0') {
		size_t size = strcspn(text, "\r\n");
		int fault = line_fault(text, size);

		if (size > 0 && (fault != 0 || last_only))
			found = fault;
		text += size;
		text += strspn(text, "\r\n");
	}
	return found;
}

const char *host_fault_remedy(int error)
{
	size_t i = host_fault_find(error);

	return i < FAULTS ? faults[i].remedy : "see the system log";
}

const char *host_fault_retry(int error)
{
	size_t i = host_fault_find(error);

	return i < FAULTS ? faults[i].retry : NULL;
}

const char *host_fault_name(int error)
{
	size_t i = host_fault_find(error);

	return i < FAULTS ? faults[i].name : "EIO";
}
