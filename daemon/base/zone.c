/* SPDX-License-Identifier: MIT */
#include "base/zone.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "proto/memory.h"

#define LOCALTIME "/etc/localtime"
#define FILE_MAX (256 * 1024)
#define DAY 86400

/* The day of a yearly clock change. */
struct change {
	enum { CHANGE_M, CHANGE_J, CHANGE_N } kind;	/* week of a month, day without and
							 * with the leap day */
	int month, week, day;
	int64_t time;			/* s after midnight, in local time before the change */
};

/* The last part of a POSIX TZ: the rule for all later years. */
struct rule {
	bool given, summer;
	int64_t standard_offset, summer_offset;
	struct change begin, end;	/* of daylight saving time */
};

struct zone {
	int64_t *moments;		/* times of changes, ascending */
	int32_t *offsets;		/* offset from each of them on */
	size_t count;
	int32_t first;			/* offset before the first */
	struct rule rule;		/* rule after the last */
};

/* ---- the calendar ---- */

/* Years begin with March here, so that the leap day is the last. */
int64_t zone_days(int64_t year, int month, int day)
{
	int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void zone_date(int64_t days, int64_t *year, int *month, int *day)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
	int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;

	*day = (int)(of_year - (153 * m + 2) / 5 + 1);
	*month = (int)(m + (m < 10 ? 3 : -9));
	*year = y + era * 400 + (*month <= 2);
}

static int64_t day_of(int64_t seconds)
{
	return seconds / DAY - (seconds % DAY < 0);
}

/* ---- POSIX rules ---- */

/* Names of at least three letters, or anything in angle brackets. */
static const char *skip_name(const char *p)
{
	const char *start = p;

	if (*p == '<') {
		p = strchr(p, '>');
		return p != NULL ? p + 1 : NULL;
	}
	while (isalpha((unsigned char)*p))
		p++;
	return p - start >= 3 ? p : NULL;
}

static const char *read_number(const char *p, int most, int *value)
{
	const char *start = p;

	for (*value = 0; isdigit((unsigned char)*p) && p - start < 4; p++)
		*value = *value * 10 + (*p - '0');
	return p > start && *value <= most ? p : NULL;
}

/* [+-]hh[:mm[:ss]] */
static const char *read_time(const char *p, int64_t *seconds)
{
	static const int scale[] = { 3600, 60, 1 };
	bool minus = *p == '-';
	int value;

	p += *p == '-' || *p == '+';
	*seconds = 0;
	for (size_t i = 0; i < 3; i++) {
		p = read_number(p, i == 0 ? 167 : 59, &value);
		if (p == NULL)
			return NULL;
		*seconds += value * scale[i];
		if (*p != ':' || i == 2)
			break;
		p++;
	}
	if (minus)
		*seconds = -*seconds;
	return p;
}

static const char *read_day(const char *p, struct change *c)
{
	if (*p != 'M') {
		c->kind = *p == 'J' ? CHANGE_J : CHANGE_N;
		return read_number(p + (*p == 'J'), 365, &c->day);
	}
	c->kind = CHANGE_M;
	p = read_number(p + 1, 12, &c->month);
	if (p == NULL || *p != '.' || c->month == 0)
		return NULL;
	p = read_number(p + 1, 5, &c->week);
	if (p == NULL || *p != '.' || c->week == 0)
		return NULL;
	return read_number(p + 1, 6, &c->day);
}

/* ",day[/time]" */
static const char *read_change(const char *p, struct change *c)
{
	if (*p != ',')
		return NULL;
	p = read_day(p + 1, c);
	c->time = INT64_C(2) * 3600;
	return p != NULL && *p == '/' ? read_time(p + 1, &c->time) : p;
}

static bool read_rule(const char *p, struct rule *r)
{
	int64_t west;

	p = skip_name(p);
	p = p != NULL ? read_time(p, &west) : NULL;
	if (p == NULL)
		return false;
	r->standard_offset = -west;
	r->given = true;
	if (*p == '\0')
		return true;
	r->summer = true;
	r->summer_offset = r->standard_offset + 3600;
	p = skip_name(p);
	if (p != NULL && *p != ',' && *p != '\0') {
		p = read_time(p, &west);
		r->summer_offset = -west;
	}
	/* without days: the usual ones since 2007 */
	if (p != NULL && *p == '\0')
		p = ",M3.2.0,M11.1.0";
	p = p != NULL ? read_change(p, &r->begin) : NULL;
	p = p != NULL ? read_change(p, &r->end) : NULL;
	return p != NULL && *p == '\0';
}

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* s since the epoch, in local time before the change. */
static int64_t change_in(int64_t year, const struct change *c)
{
	int64_t day = zone_days(year, 1, 1), next;

	switch (c->kind) {
	case CHANGE_J:
		day += c->day - 1 + (is_leap(year) && c->day >= 60);
		break;
	case CHANGE_N:
		day += c->day;
		break;
	case CHANGE_M:
		day = zone_days(year, c->month, 1);
		next = c->month == 12 ? zone_days(year + 1, 1, 1) : zone_days(year, c->month + 1, 1);
		/* day 0 of the epoch was a Thursday */
		day += (((c->day - (day + 4)) % 7) + 7) % 7 + (c->week - 1) * 7;
		if (day >= next)
			day -= 7;
		break;
	}
	return day * DAY + c->time;
}

static int64_t rule_offset(const struct rule *r, int64_t moment)
{
	int64_t year, begin, end;
	int month, day;
	bool summer;

	if (!r->summer)
		return r->standard_offset;
	zone_date(day_of(moment + r->standard_offset), &year, &month, &day);
	begin = change_in(year, &r->begin) - r->standard_offset;
	end = change_in(year, &r->end) - r->summer_offset;
	/* in the southern hemisphere it spans the new year */
	summer = begin < end ? moment >= begin && moment < end : moment >= begin || moment < end;
	return summer ? r->summer_offset : r->standard_offset;
}

/* ---- files of the database: RFC 8536 ---- */

static int64_t big_endian(const unsigned char *p, size_t bytes)
{
	uint64_t value = (p[0] & 0x80) != 0 ? UINT64_MAX : 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return (int64_t)value;
}

enum { HEADER = 44, IS_UT = 0, IS_STD, LEAPS, TIMES, TYPES, CHARACTERS, COUNTS };

/* Size of a block after its header; width: of a time. */
static size_t block_size(const size_t n[COUNTS], size_t width)
{
	return n[TIMES] * (width + 1) + n[TYPES] * 6 + n[CHARACTERS] + n[LEAPS] * (width + 4) + n[IS_STD] + n[IS_UT];
}

static bool read_header(const char *data, size_t size, size_t n[COUNTS])
{
	if (size < HEADER || memcmp(data, "TZif", 4) != 0)
		return false;
	for (size_t i = 0; i < COUNTS; i++) {
		n[i] = (size_t)big_endian((const unsigned char *)data + 20 + 4 * i, 4);
		if (n[i] > FILE_MAX)
			return false;
	}
	return n[TYPES] > 0;
}

static bool read_changes(struct zone *zone, const unsigned char *p, const size_t n[COUNTS], size_t width)
{
	const unsigned char *kinds = p + n[TIMES] * width, *types = kinds + n[TIMES];

	zone->moments = xcalloc(n[TIMES] + 1, sizeof(*zone->moments));
	zone->offsets = xcalloc(n[TIMES] + 1, sizeof(*zone->offsets));
	zone->first = (int32_t)big_endian(types, 4);
	for (size_t i = 0; i < n[TIMES]; i++) {
		if (kinds[i] >= n[TYPES])
			return false;
		zone->moments[i] = big_endian(p + i * width, width);
		zone->offsets[i] = (int32_t)big_endian(types + 6 * (size_t)kinds[i], 4);
	}
	zone->count = n[TIMES];
	return true;
}

/* The file begins with a 32-bit block for old programs; the block that counts follows, and then a
 * rule. */
static bool read_file(struct zone *zone, const char *data, size_t size)
{
	size_t n[COUNTS], used;
	const char *end;
	char *text;

	if (!read_header(data, size, n))
		return false;
	if (data[4] == '\0')
		return HEADER + block_size(n, 4) <= size &&
		    read_changes(zone, (const unsigned char *)data + HEADER, n, 4);
	used = HEADER + block_size(n, 4);
	if (used > size || !read_header(data + used, size - used, n))
		return false;
	data += used;
	size -= used;
	used = HEADER + block_size(n, 8);
	if (used > size || !read_changes(zone, (const unsigned char *)data + HEADER, n, 8))
		return false;
	end = size > used + 1 && data[used] == '\n' ? memchr(data + used + 1, '\n', size - used - 1) : NULL;
	if (end == NULL || end == data + used + 1)
		return true;
	text = xmemdup0(data + used + 1, (size_t)(end - (data + used + 1)));
	if (!read_rule(text, &zone->rule))
		zone->rule.given = false;
	free(text);
	return true;
}

/* ---- names ---- */

/* The name comes from a program's message: it must not lead out of the database. */
static bool is_name(const char *name)
{
	return isalpha((unsigned char)name[0]) && strlen(name) < 64 &&
	    name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/")] == '\0';
}

static char *path_of(const char *database, const char *name)
{
	size_t n = strlen(ZONE_DATABASE);

	if (strcmp(name, LOCALTIME) == 0 || (strncmp(name, ZONE_DATABASE "/", n + 1) == 0 && is_name(name + n + 1)))
		return realpath(name, NULL);
	if (is_name(name)) {
		char *path = xasprintf("%s/%s", database, name), *real = realpath(path, NULL);

		free(path);
		return real;
	}
	return NULL;
}

static bool read_named(struct zone *zone, const char *database, const char *name)
{
	char *path = path_of(database, name), *data = NULL;
	size_t size = 0;
	bool ok = path != NULL && file_read(AT_FDCWD, path, FILE_MAX, &data, &size) == 0 && read_file(zone, data, size);

	free(path);
	free(data);
	return ok;
}

struct zone *zone_open(const char *database, const char *name)
{
	struct zone *zone = xcalloc(1, sizeof(*zone));
	bool own = name == NULL || name[0] == '\0';

	if (own)
		name = LOCALTIME;
	name += name[0] == ':';
	/* these two need no database */
	if (strcmp(name, "UTC") == 0 || strcmp(name, "GMT") == 0 ||
	    read_named(zone, database, name) || read_rule(name, &zone->rule))
		return zone;
	zone_close(zone);
	return own ? xcalloc(1, sizeof(*zone)) : NULL;
}

void zone_close(struct zone *zone)
{
	if (zone == NULL)
		return;
	free(zone->moments);
	free(zone->offsets);
	free(zone);
}

/* ---- questions ---- */

int64_t zone_offset(const struct zone *zone, int64_t moment)
{
	size_t low = 0, high;

	if (zone == NULL)
		return 0;
	if (zone->rule.given && (zone->count == 0 || moment >= zone->moments[zone->count - 1]))
		return rule_offset(&zone->rule, moment);
	for (high = zone->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (zone->moments[middle] <= moment)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? zone->first : zone->offsets[low - 1];
}

/* Clocks change at most once in two days, so only the offsets on both sides are possible. */
void zone_local_to_utc(const struct zone *zone, int64_t wall, int64_t moments[2])
{
	int64_t before = wall - zone_offset(zone, wall - DAY), after = wall - zone_offset(zone, wall + DAY);
	bool first = before + zone_offset(zone, before) == wall, second = after + zone_offset(zone, after) == wall;

	moments[0] = first || !second ? before : after;
	moments[1] = second ? after : before;
}
