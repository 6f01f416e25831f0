/* SPDX-License-Identifier: MIT */
/* When a service serves again, out of what it says: an epoch, a duration, or a clock and maybe a
 * date of some time zone. */
#ifndef AGENT_RESET_H
#define AGENT_RESET_H

#include <stdint.h>

/* When and where it was said. */
struct reset_place {
	int64_t now;		/* ms since the epoch */
	const char *zone;	/* what the program had as TZ, for clocks without a zone;
				 * NULL: the machine's */
	const char *zones;	/* see zone_open() */
};

/* ms since the epoch; ROW_NONE: no time, or an impossible one. A past time becomes a minute from
 * now, because clocks differ and texts leave out seconds. *doubt: malloc'd, how an unknown time
 * zone was read; NULL: no doubt. */
int64_t reset_time(const char *words, const struct reset_place *place, char **doubt);

/* Milliseconds of a number that counts them, or seconds, since the epoch; ROW_NONE stays. */
int64_t reset_ms(int64_t epoch);

/* The same as reset_time() of such a number. */
int64_t reset_epoch(int64_t epoch, int64_t now);

#endif
