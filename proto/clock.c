/* SPDX-License-Identifier: MIT */
#include "proto/clock.h"

#include <time.h>

static int64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_wall(void)
{
	return now(CLOCK_REALTIME);
}

int64_t clock_steady(void)
{
	return now(CLOCK_MONOTONIC);
}
