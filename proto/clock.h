/* SPDX-License-Identifier: MIT */
/* The two clocks: what time it is, and how much of it goes by. Milliseconds. */
#ifndef PROTO_CLOCK_H
#define PROTO_CLOCK_H

#include <stdint.h>

/* Since the epoch. It may be set. */
int64_t clock_wall(void);

/* Only differences mean anything; it never goes back. */
int64_t clock_steady(void);

#endif
