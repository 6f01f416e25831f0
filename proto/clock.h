/* SPDX-License-Identifier: MIT */
/* Two clocks: the time of day, and elapsed time. Milliseconds. */
#ifndef PROTO_CLOCK_H
#define PROTO_CLOCK_H

#include <stdint.h>

/* Since the epoch. It may be set. */
int64_t clock_wall(void);

/* Only differences are meaningful; it never goes back. */
int64_t clock_steady(void);

#endif
