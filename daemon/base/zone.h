/* SPDX-License-Identifier: MIT */
/* Time zones of the system's tz database by name. The TZ of this process is neither read nor
 * changed, so threads may use different zones. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stdint.h>

struct zone;

#define ZONE_DATABASE "/usr/share/zoneinfo"

/* A zone by the meaning of TZ=name: a name in the database ("Europe/Berlin", ":Europe/Berlin"), the
 * path of one of its files, or a POSIX rule ("CET-1CEST,M3.5.0,M10.5.0/3"). NULL and "": the
 * machine's zone, or UTC. Returns NULL if it is unknown. database: ZONE_DATABASE. Reads a file. */
struct zone *zone_open(const char *database, const char *name);
/* NULL is UTC, here and below. */
void zone_close(struct zone *zone);

/* Offset from UTC at a moment, in seconds; moment: s since the epoch. */
int64_t zone_offset(const struct zone *zone, int64_t moment);

/* The moments at which local time is wall, s since the epoch; wall: likewise, as if it were UTC.
 * Both are equal except in the repeated hour; in the skipped hour, local time is taken as before
 * the change. */
void zone_local_to_utc(const struct zone *zone, int64_t wall, int64_t moments[2]);

/* Days from 1970-01-01 to a date of the Gregorian calendar; month 1..12. */
int64_t zone_days(int64_t year, int month, int day);
/* The date so many days after 1970-01-01. */
void zone_date(int64_t days, int64_t *year, int *month, int *day);

#endif
