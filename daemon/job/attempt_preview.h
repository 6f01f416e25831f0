/* SPDX-License-Identifier: MIT */
/* The last readable lines of an attempt's output: interpreted by its reader, and redacted. */
#ifndef JOB_ATTEMPT_PREVIEW_H
#define JOB_ATTEMPT_PREVIEW_H

#include <stdint.h>

#include "agent/reader.h"
#include "base/redact.h"

/* Off the loop. *lines: new, NULL-terminated, oldest first, at most `count` (1..PREVIEW_LINES_MAX).
 * *updated is raised to the time of the last byte. Lines saved by preview_keep() take precedence.
 * Returns 0 or -errno: no lines. */
int preview_read(int dirfd, enum reader_kind reader, const struct redactor *redactor, size_t count,
    char ***lines, int64_t *updated);

/* The attempt is over and its run's secrets will be deleted: save the lines, redacted, if they
 * contained a secret. Returns 0 or -errno. */
int preview_keep(int dirfd, enum reader_kind reader, const struct redactor *redactor);

#endif
