/* SPDX-License-Identifier: MIT */
/* When a service is available again, from its message: an epoch, a duration, or a clock time with
 * an optional date and time zone. */
#ifndef AGENT_RESET_H
#define AGENT_RESET_H

#include <stdint.h>

/* Time and place of the message. */
struct reset_place {
	int64_t now;		/* ms since the epoch */
	/* the program's TZ, for clock times without a zone; NULL: the machine's */
	const char *zone;
	const char *zones;	/* see zone_open() */
};

/* ms since the epoch; ROW_NONE: no time, or an impossible one. A past time becomes a minute from
 * now, because clocks differ and texts leave out seconds. *doubt: malloc'd, how an unknown time
 * zone was read; NULL: no doubt. */
int64_t reset_time(const char *words, const struct reset_place *place, char **doubt);

/* An epoch in seconds or milliseconds, in milliseconds; ROW_NONE stays. */
int64_t reset_ms(int64_t epoch);

/* Like reset_time() for such a number. */
int64_t reset_epoch(int64_t epoch, int64_t now);

#endif
