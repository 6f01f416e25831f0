/* SPDX-License-Identifier: MIT */
/* Time zones of the system's tz database by name. The TZ of this process is neither asked nor
 * touched: any thread may look at any zone. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stdint.h>

struct zone;

#define ZONE_DATABASE "/usr/share/zoneinfo"

/* What TZ=name means to a program: a name of the database ("Europe/Berlin", ":Europe/Berlin"),
 * one of its files by path, or a POSIX rule ("CET-1CEST,M3.5.0,M10.5.0/3"). NULL and "": the
 * machine's own, which is UTC when it has none. NULL when nothing here knows it. database:
 * ZONE_DATABASE. Reads a file. */
struct zone *zone_open(const char *database, const char *name);
/* NULL is UTC, here and below. */
void zone_close(struct zone *zone);

/* Seconds that clocks there are ahead of UTC at a moment, s since the epoch. */
int64_t zone_offset(const struct zone *zone, int64_t moment);

/* When clocks there show this, s since the epoch; wall: the same for a clock that shows UTC. Both
 * are one, but for the hour that comes twice; one that is left out is taken as clocks would show it
 * that nobody has put forward. */
void zone_local_to_utc(const struct zone *zone, int64_t wall, int64_t moments[2]);

/* Days from 1970-01-01 to a date of the Gregorian calendar; month 1..12. */
int64_t zone_days(int64_t year, int month, int day);
/* The date that is so many days after 1970-01-01. */
void zone_date(int64_t days, int64_t *year, int *month, int *day);

#endif
