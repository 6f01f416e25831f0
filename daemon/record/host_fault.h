/* SPDX-License-Identifier: MIT */
/* Faults of the host: errors of the machine and not of the work, which pass when there is room
 * again. rld, rl-shim and steps wait for them; none is ever a failure of a task. This is their only
 * table. */
#ifndef RECORD_HOST_FAULT_H
#define RECORD_HOST_FAULT_H

#include <stdbool.h>

enum host_fault_class {
	HOST_FAULT_NONE,
	HOST_FAULT_BUSY,	/* a limit is reached: passes when other work ends */
	HOST_FAULT_SPACE,
	HOST_FAULT_BROKEN	/* needs a person */
};

/* error: a positive errno. */
bool host_fault(int error);
enum host_fault_class host_fault_class(int error);

/* The errno of a fault that a program reports in words of the C locale at the end of a line of
 * text, with last_only of its last line. 0: none. */
int host_fault_said(const char *text, bool last_only);

/* strerror(error). Notes a fault of the host for the calling thread, until host_noted(): so the
 * caller of a job learns that the host is to blame, however deep in the job the errno came up. */
const char *host_words(int error);

/* The errno noted last on this thread, 0: none. Clears it. */
int host_noted(void);

/* The remedy, verb first, static; for any other errno "see the system log". */
const char *host_fault_remedy(int error);

/* Likewise for a client whose request was refused because of it, static; NULL: not a host fault. */
const char *host_fault_retry(int error);

/* "ENOSPC", static; for any other errno "EIO". */
const char *host_fault_name(int error);

#endif
