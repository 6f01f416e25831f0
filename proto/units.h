/* SPDX-License-Identifier: MIT */
/* Durations, sizes and times as written by people and in settings files. */
#ifndef PROTO_UNITS_H
#define PROTO_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* In milliseconds; a century, which also fits in int64_t as nanoseconds. */
#define DURATION_MAX (36500 * INT64_C(86400000))

/* "90" (seconds), "90s", "15m", "2h", "1d" -> milliseconds. 0, -ERANGE above DURATION_MAX, -EINVAL
 * for anything else. */
int duration_parse(const char *text, int64_t *ms);
/* "850ms", "12s", "3m 05s", "2h 10m", "3d 4h" */
void duration_format(int64_t ms, char *out, size_t room);

/* "4096", "64K", "64M", "1G" (powers of 1024) -> bytes. 0, -ERANGE or -EINVAL. */
int size_parse(const char *text, int64_t *bytes);
/* "812 B", "1.2 KiB", "64 MiB" */
void size_format(int64_t bytes, char *out, size_t room);

/* RFC 3339 UTC with milliseconds, "2026-11-21T22:05:57.123Z"; needs room of 25. */
void time_format(int64_t ms, char *out, size_t room);
/* 0 or -1. */
int time_parse(const char *text, int64_t *ms);

#endif
