/* SPDX-License-Identifier: MIT */
/* The last lines of an attempt's output for people: as its reader understands them, and masked. */
#ifndef JOB_ATTEMPT_PREVIEW_H
#define JOB_ATTEMPT_PREVIEW_H

#include <stdint.h>

#include "agent/reader.h"
#include "base/redact.h"

/* Off the loop. *lines: new, NULL-terminated, the oldest first, `count` at most
 * (1..PREVIEW_LINES_MAX). *updated becomes the time of the last byte where that is later. What
 * preview_keep() has kept goes before what is read. 0 or -errno: there are no lines. */
int preview_read(int dirfd, enum reader_kind reader, const struct redactor *redactor, size_t count,
    char ***lines, int64_t *updated);

/* The attempt is over, and its run's secrets will be forgotten: keep the lines, when a secret was
 * among them. 0 or -errno. */
int preview_keep(int dirfd, enum reader_kind reader, const struct redactor *redactor);

#endif
