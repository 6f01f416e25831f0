/* SPDX-License-Identifier: MIT */
/* Faults of the host: errors that speak of the machine and not of the work, and pass when somebody
 * makes room. rld, rl-shim and steps wait for them; none of them is ever a failure of a task. This
 * is the one table of them. */
#ifndef RECORD_HOST_FAULT_H
#define RECORD_HOST_FAULT_H

#include <stdbool.h>

enum host_fault_class {
	HOST_FAULT_NONE,
	HOST_FAULT_BUSY,	/* a limit is reached: passes as others end */
	HOST_FAULT_SPACE,
	HOST_FAULT_BROKEN	/* needs a person */
};

/* error: an errno, positive. */
bool host_fault(int error);
enum host_fault_class host_fault_class(int error);

/* The errno of the fault that a program tells of in words of the C locale: one of the lines of text
 * ends with it, or with last_only the last line. 0: none does. */
int host_fault_said(const char *text, bool last_only);

/* strerror(error). A fault of the host is remembered for this thread until host_noted() is asked:
 * so what file work says of an errno tells whoever asked for the work, however deep it was, whether
 * the host is to blame. */
const char *host_words(int error);

/* The errno that was remembered last on this thread, which is forgotten by that; 0: none. */
int host_noted(void);

/* What to do about it, verb first, static; for any other errno "see what the system log says". */
const char *host_fault_remedy(int error);

/* The same for a client whose request it has refused, static; NULL: no fault of the host. */
const char *host_fault_retry(int error);

/* "ENOSPC", static; for any other errno "EIO". */
const char *host_fault_name(int error);

#endif
