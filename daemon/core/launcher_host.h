/* SPDX-License-Identifier: MIT */
/* A machine of the list of a launcher, as it is in a plan. Pure. */
#ifndef CORE_LAUNCHER_HOST_H
#define CORE_LAUNCHER_HOST_H

#include <stdbool.h>
#include <stdint.h>

#define LAUNCHER_NODE_MAX 255

struct launcher_host {
	char name[LAUNCHER_NODE_MAX + 1];
	int64_t slots;			/* attempts at a time */
};

/* "NAME=SLOTS". False: it is none. */
bool launcher_host_read(const char *word, struct launcher_host *out);

#endif
