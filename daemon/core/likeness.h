/* SPDX-License-Identifier: MIT */
/* A text without what differs between two tellings of the same thing. Pure. */
#ifndef CORE_LIKENESS_H
#define CORE_LIKENESS_H

#include <stddef.h>

#include "proto/memory.h"

/* Append text without case, white space, punctuation, line numbers, times, durations and
 * hexadecimal ids: "foo.c:12: X is `unset`" and "foo.c:14: x is unset!" become the same. Other
 * numbers stay: "17 tests fail" and "3 tests fail" differ. text: any bytes. */
void likeness_add(struct buf *out, const char *text, size_t size);

#endif
