/* SPDX-License-Identifier: MIT */
/* How to refuse a request whose file work failed: because of a temporary fault of the host
 * (record/host_fault.h), or of the request itself. */
#ifndef JOB_HOST_REFUSAL_H
#define JOB_HOST_REFUSAL_H

/* error: a positive errno. The code of the host's fault, otherwise the given one. */
int host_refusal_code(int error, int code);

/* The remedy for the host's fault, otherwise the given hint; static or hint. */
const char *host_refusal_hint(int error, const char *hint);

#endif
