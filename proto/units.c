/* SPDX-License-Identifier: MIT */
#include "proto/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "proto/memory.h"

struct unit {
	char letter;	/* 0: no unit letter */
	int64_t factor;
};

static const struct unit durations[] = {
	{ 0, 1000 }, { 's', 1000 }, { 'm', 60000 }, { 'h', 3600000 }, { 'd', 86400000 },
};
static const struct unit sizes[] = {
	{ 0, 1 },
	{ 'K', INT64_C(1) << 10 },
	{ 'M', INT64_C(1) << 20 },
	{ 'G', INT64_C(1) << 30 },
	{ 'T', INT64_C(1) << 40 },
};

/* Digits, then at most one letter of the table. */
static int parse(const char *text, const struct unit *units, size_t count, int64_t max, int64_t *out)
{
	const char *p = text;
	int64_t value = 0;
	bool large = false;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value))
			large = true;
	}
	if (p == text || (*p != '\0' && p[1] != '\0'))
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (units[i].letter != *p)
			continue;
		if (large || __builtin_mul_overflow(value, units[i].factor, &value) || value > max)
			return -ERANGE;
		*out = value;
		return 0;
	}
	return -EINVAL;
}

int duration_parse(const char *text, int64_t *ms)
{
	return parse(text, durations, ARRAY_SIZE(durations), DURATION_MAX, ms);
}

int size_parse(const char *text, int64_t *bytes)
{
	return parse(text, sizes, ARRAY_SIZE(sizes), INT64_MAX, bytes);
}

void duration_format(int64_t ms, char *out, size_t room)
{
	int64_t s = ms / 1000;

	if (ms < 1000)
		snprintf(out, room, "%lldms", (long long)(ms > 0 ? ms : 0));
	else if (s < 60)
		snprintf(out, room, "%llds", (long long)s);
	else if (s < 3600)
		snprintf(out, room, "%lldm %02llds", (long long)(s / 60), (long long)(s % 60));
	else if (s < 86400)
		snprintf(out, room, "%lldh %02lldm", (long long)(s / 3600), (long long)(s % 3600 / 60));
	else
		snprintf(out, room, "%lldd %lldh", (long long)(s / 86400), (long long)(s % 86400 / 3600));
}

void size_format(int64_t bytes, char *out, size_t room)
{
	static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t i = 0;
	int tenths;

	if (bytes < 1024) {
		snprintf(out, room, "%lld B", (long long)(bytes > 0 ? bytes : 0));
		return;
	}
	/* 1023.5 would be printed as 1024 */
	for (; value >= 1023.5 && i + 1 < ARRAY_SIZE(names); i++)
		value /= 1024;
	tenths = (int)(value * 10 + 0.5);
	if (tenths < 100 && tenths % 10 != 0)
		snprintf(out, room, "%d.%d %s", tenths / 10, tenths % 10, names[i]);
	else
		snprintf(out, room, "%.0f %s", value, names[i]);
}

void time_format(int64_t ms, char *out, size_t room)
{
	int64_t fraction = ms % 1000;
	time_t s = (time_t)(ms / 1000);
	struct tm tm;

	if (fraction < 0) {
		fraction += 1000;
		s--;
	}
	if (gmtime_r(&s, &tm) == NULL) {
		snprintf(out, room, "-");
		return;
	}
	snprintf(out, room, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ", (long long)tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)fraction);
}

/* Exactly count digits at *p, which moves past them. */
static bool digits(const char **p, int count, int *out)
{
	*out = 0;
	for (; count > 0; count--, (*p)++) {
		if (**p < '0' || **p > '9')
			return false;
		*out = *out * 10 + (**p - '0');
	}
	return true;
}

static bool literal(const char **p, char c)
{
	if (toupper((unsigned char)**p) != c)
		return false;
	(*p)++;
	return true;
}

int time_parse(const char *text, int64_t *ms)
{
	int year, month, day, hour, minute, second, zone_hour = 0, zone_minute = 0, fraction = 0, sign = 0;
	const char *p = text;
	struct tm tm = { 0 };
	time_t t;

	if (!digits(&p, 4, &year) || !literal(&p, '-') || !digits(&p, 2, &month) ||
	    !literal(&p, '-') || !digits(&p, 2, &day) || !literal(&p, 'T') ||
	    !digits(&p, 2, &hour) || !literal(&p, ':') || !digits(&p, 2, &minute) ||
	    !literal(&p, ':') || !digits(&p, 2, &second))
		return -1;
	if (*p == '.') {
		int scale = 100;

		p++;
		if (*p < '0' || *p > '9')
			return -1;
		for (; *p >= '0' && *p <= '9'; p++, scale /= 10)
			fraction += (*p - '0') * scale;	/* digits after the third are ignored */
	}
	if (*p == '+' || *p == '-') {
		sign = *p++ == '+' ? 1 : -1;
		if (!digits(&p, 2, &zone_hour) || !literal(&p, ':') ||
		    !digits(&p, 2, &zone_minute) || zone_hour > 23 || zone_minute > 59)
			return -1;
	} else if (!literal(&p, 'Z')) {
		return -1;
	}
	if (*p != '\0' || hour > 23 || minute > 59 || second > 60)
		return -1;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	t = timegm(&tm);
	if (tm.tm_mon != month - 1)
		return -1;	/* a day beyond the end of its month */
	t += hour * 3600 + minute * 60 + second - sign * (zone_hour * 3600 + zone_minute * 60);
	*ms = (int64_t)t * 1000 + fraction;
	return 0;
}
