/* SPDX-License-Identifier: MIT */
/* How a request is refused whose file work failed by a fault of the host (record/host_fault.h),
 * which passes, or by one of the request. */
#ifndef JOB_HOST_REFUSAL_H
#define JOB_HOST_REFUSAL_H

/* error: an errno, positive. The code of the host's fault, else the given one. */
int host_refusal_code(int error, int code);

/* What to do about the host's fault, else the given hint; static or hint. */
const char *host_refusal_hint(int error, const char *hint);

#endif
