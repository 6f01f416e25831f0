/* SPDX-License-Identifier: MIT */
/* A check that failed, as a finding. */
#ifndef JOB_CHECK_FINDING_H
#define JOB_CHECK_FINDING_H

#include <stdint.h>

/* Id of the finding that this end of the command is: its exit status (a signal: negative) and the
 * ends of its kept output. dirfd: of its attempt; stdout_bytes, stderr_bytes: their size. malloc'd;
 * NULL: the output cannot be read. */
char *check_finding(int dirfd, const char *command, int64_t status, uint64_t stdout_bytes, uint64_t stderr_bytes);

#endif
