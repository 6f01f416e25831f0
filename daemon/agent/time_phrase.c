/* SPDX-License-Identifier: MIT */
#include "agent/time_phrase.h"

#include <ctype.h>
#include <string.h>

#define MINUTE INT64_C(60)
#define HOUR INT64_C(3600)
#define DAY INT64_C(86400)

/* Words that may precede a time. */
static const char *const fillers[] = {
	"s", "on", "at", "in", "after", "again", "automatically", "about", "approximately", "until",
	" ", "\t", "\n", "\r", "\\", "\"", "'", ":", "=", "|", "~", ",",
	"\xc2\xa0" /* no-break */, "\xe2\x80\xaf" /* narrow */,
	"\xc2\xb7" /* · */, "\xe2\x88\x99" /* ∙ */,
};

static const struct {
	const char *words;
	int64_t ms;
} units[] = {
	{ "milliseconds", 1 }, { "millisecond", 1 }, { "ms", 1 },
	{ "seconds", 1000 }, { "second", 1000 }, { "secs", 1000 }, { "sec", 1000 }, { "s", 1000 },
	{ "minutes", MINUTE * 1000 }, { "minute", MINUTE * 1000 }, { "mins", MINUTE * 1000 },
	{ "min", MINUTE * 1000 }, { "m", MINUTE * 1000 },
	{ "hours", HOUR * 1000 }, { "hour", HOUR * 1000 }, { "hrs", HOUR * 1000 },
	{ "hr", HOUR * 1000 }, { "h", HOUR * 1000 },
	{ "days", DAY * 1000 }, { "day", DAY * 1000 }, { "d", DAY * 1000 },
	{ "weeks", 7 * DAY * 1000 }, { "week", 7 * DAY * 1000 }, { "w", 7 * DAY * 1000 },
};

static const char *const months[] = {
	"january", "february", "march", "april", "may", "june", "july", "august", "september",
	"october", "november", "december",
};

/* Starts with day 0 of the epoch. */
static const char *const weekdays[] = { "thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday" };

/* Names missing in the tz database, or with another meaning there. */
static const struct {
	const char *name, *zone;
} known_zones[] = {
	{ "z", "UTC" },
	{ "pt", "America/Los_Angeles" }, { "pacific", "America/Los_Angeles" },
	{ "pst", "America/Los_Angeles" }, { "pdt", "America/Los_Angeles" },
	{ "mt", "America/Denver" }, { "mdt", "America/Denver" },
	{ "ct", "America/Chicago" }, { "cst", "America/Chicago" }, { "cdt", "America/Chicago" },
	{ "et", "America/New_York" }, { "eastern", "America/New_York" },
	{ "est", "America/New_York" }, { "edt", "America/New_York" },
	{ "bst", "Europe/London" }, { "cest", "Europe/Berlin" }, { "cet", "Europe/Berlin" },
};

/* ---- words ---- */

/* Text after the word, ignoring case; NULL: other text. A word of letters must end where they
 * end. */
static const char *skip(const char *p, const char *word)
{
	size_t n = strlen(word);

	if (strncasecmp(p, word, n) != 0)
		return NULL;
	return isalpha((unsigned char)word[n - 1]) && isalpha((unsigned char)p[n]) ? NULL : p + n;
}

static const char *skip_fillers(const char *p)
{
	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]);) {
		const char *next = skip(p, fillers[i]);

		i = next != NULL ? 0 : i + 1;
		p = next != NULL ? next : p;
	}
	return p;
}

static const char *skip_blanks(const char *p)
{
	static const char *const blanks[] = { " ", "\t", ",", "\xc2\xa0", "\xe2\x80\xaf" };

	for (size_t i = 0; i < sizeof(blanks) / sizeof(blanks[0]);) {
		size_t n = strlen(blanks[i]);
		bool here = strncmp(p, blanks[i], n) == 0;

		i = here ? 0 : i + 1;
		p += here ? n : 0;
	}
	return p;
}

/* A name of which three letters suffice; its index or -1. */
static int name_at(const char **p, const char *const *names, int count)
{
	size_t n = 0;

	while (isalpha((unsigned char)(*p)[n]))
		n++;
	for (int i = 0; n >= 3 && i < count; i++) {
		if (n > strlen(names[i]) || strncasecmp(*p, names[i], n) != 0)
			continue;
		*p += n;
		*p += **p == '.';
		return i;
	}
	return -1;
}

/* At most this many digits; NULL: none, or more. */
static const char *digits(const char *p, size_t most, int64_t *value)
{
	size_t n = 0;

	for (*value = 0; isdigit((unsigned char)p[n]) && n <= most; n++)
		*value = *value * 10 + (p[n] - '0');
	return n > 0 && n <= most ? p + n : NULL;
}

/* ---- durations ---- */

/* A number, perhaps with a fraction, or "an". */
static const char *read_amount(const char *p, double *amount)
{
	static const char *const one[] = { "a", "an", "one" };
	const char *start = p;
	double scale = 1;

	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		*amount = 1;
		if (skip(p, one[i]) != NULL)
			return skip(p, one[i]);
	}
	for (*amount = 0; isdigit((unsigned char)*p) && p - start < 18; p++)
		*amount = *amount * 10 + (*p - '0');
	if (p == start)
		return NULL;
	if (*p == '.' && isdigit((unsigned char)p[1])) {
		for (p++; isdigit((unsigned char)*p) && p - start < 40; p++)
			*amount += (*p - '0') * (scale /= 10);
	}
	return p;
}

/* "8h44m7s", "3 days 4 hours", "2 hours and 5 minutes". NULL: none. */
static const char *read_duration(const char *p, double *ms)
{
	const char *end = NULL, *at = p;

	for (*ms = 0;;) {
		double amount;
		int64_t unit = 0;

		at = read_amount(at, &amount);
		if (at == NULL)
			return end;
		at = skip_blanks(at);
		for (size_t i = 0; unit == 0 && i < sizeof(units) / sizeof(units[0]); i++) {
			if (skip(at, units[i].words) == NULL)
				continue;
			at = skip(at, units[i].words);
			unit = units[i].ms;
		}
		if (unit == 0)
			return end;
		*ms += amount * (double)unit;
		end = at;
		at = skip_blanks(at);
		if (skip(at, "and") != NULL)
			at = skip_blanks(skip(at, "and"));
	}
}

/* ---- dates and clocks ---- */

/* "9am", "10:52 p.m.", "22:52:10", "noon"; *p moves only if there is one. */
static bool read_clock(const char **p, int64_t *clock)
{
	static const struct {
		const char *words;
		int64_t clock;
	} names[] = { { "midnight", 0 }, { "noon", 12 * HOUR } };
	static const char *const halves[2][5] = {
		{ "am", "a.m.", "a.m", "a. m.", "a.\xc2\xa0m." }, { "pm", "p.m.", "p.m", "p. m.", "p.\xc2\xa0m." },
	};
	int64_t hour, part[2] = { 0, 0 };
	const char *at, *half_at;
	bool minutes = false;
	int half = -1;

	for (size_t i = 0; i < 2; i++) {
		if (skip(*p, names[i].words) == NULL)
			continue;
		*p = skip(*p, names[i].words);
		*clock = names[i].clock;
		return true;
	}
	at = digits(*p, 2, &hour);
	for (size_t i = 0; at != NULL && i < 2 && *at == ':' && isdigit((unsigned char)at[1]); i++) {
		at = digits(at + 1, 2, &part[i]);
		minutes = true;
	}
	if (at == NULL || part[0] > 59 || part[1] > 60)
		return false;
	if (minutes && *at == '.' && isdigit((unsigned char)at[1]))
		at += 1 + strspn(at + 1, "0123456789");
	half_at = skip_blanks(at);
	for (int i = 0; half == -1 && i < 10; i++) {
		const char *next = skip(half_at, halves[i / 5][i % 5]);

		half = next != NULL ? i / 5 : -1;
		at = next != NULL ? next : at;
	}
	if (half == -1 ? !minutes || hour > 23 : hour > 12)
		return false;
	if (half != -1)
		hour = hour % 12 + 12 * half;
	*clock = hour * HOUR + part[0] * MINUTE + part[1];
	*p = at;
	return true;
}

/* Seconds of "+2", "-05:30", "+0530". */
static const char *read_offset(const char *p, int64_t *seconds)
{
	int64_t hours, minutes = 0;
	bool minus = *p == '-';
	const char *start = p + 1;

	if (*p != '+' && *p != '-')
		return NULL;
	p = digits(start, 4, &hours);
	if (p == NULL)
		return NULL;
	if (p - start > 2) {
		minutes = hours % 100;
		hours /= 100;
	} else if (*p == ':' && isdigit((unsigned char)p[1])) {
		p = digits(p + 1, 2, &minutes);
	}
	if (p == NULL || hours > 14 || minutes > 59)
		return NULL;
	*seconds = (hours * HOUR + minutes * MINUTE) * (minus ? -1 : 1);
	return p;
}

/* "(Europe/Berlin)", "UTC", "(UTC+2)", "+02:00", "PST". An unknown bare word belongs to the
 * sentence. */
static void read_zone(const char *p, struct time_phrase *phrase)
{
	static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
	bool certain;
	size_t n;

	p = skip_blanks(p);
	if (read_offset(p, &phrase->offset) != NULL) {
		phrase->has_offset = true;
		return;
	}
	certain = *p == '(';
	p += certain;
	n = strspn(p, chars);
	if ((certain && p[n] != ')') || n == 0 || n >= sizeof(phrase->zone))
		return;
	if (strncasecmp(p, "UTC", 3) == 0 || strncasecmp(p, "GMT", 3) == 0) {
		phrase->has_offset = n == 3 || read_offset(p + 3, &phrase->offset) != NULL;
		if (phrase->has_offset)
			return;
	}
	for (size_t i = 0; i < sizeof(known_zones) / sizeof(known_zones[0]); i++) {
		if (strlen(known_zones[i].name) != n || strncasecmp(p, known_zones[i].name, n) != 0)
			continue;
		strlcpy(phrase->zone, known_zones[i].zone, sizeof(phrase->zone));
		return;
	}
	if (certain || memchr(p, '/', n) != NULL)
		memcpy(phrase->zone, p, n);
}

/* "2026-01-05", followed by a 'T' or a blank. */
static const char *read_iso(const char *p, struct time_phrase *phrase)
{
	int64_t month, day;

	p = digits(p, 4, &phrase->year);
	if (p == NULL || phrase->year < 1970 || *p != '-')
		return NULL;
	p = digits(p + 1, 2, &month);
	if (p == NULL || *p != '-')
		return NULL;
	p = digits(p + 1, 2, &day);
	if (p == NULL)
		return NULL;
	phrase->month = (int)month;
	phrase->day = (int)day;
	return p + (*p == 'T');
}

/* "Nov 25", "April 28th, 2026", "22 Nov 2026". */
static const char *read_date(const char *p, struct time_phrase *phrase)
{
	static const char *const suffixes[] = { "st", "nd", "rd", "th" };
	int64_t day = 0, year;
	const char *next = digits(p, 2, &day);

	if (next != NULL)
		p = skip_blanks(next);
	phrase->month = 1 + name_at(&p, months, 12);
	if (phrase->month == 0)
		return NULL;
	if (next == NULL) {
		p = digits(skip_blanks(p), 2, &day);
		for (size_t i = 0; p != NULL && i < 4; i++)
			p = skip(p, suffixes[i]) != NULL ? skip(p, suffixes[i]) : p;
	}
	if (p == NULL)
		return NULL;
	phrase->day = (int)day;
	next = digits(skip_blanks(p), 4, &year);
	if (next != NULL && year >= 1970) {
		phrase->year = year;
		p = next;
	}
	return p;
}

/* A date or a clock, or both. */
static bool read_day_and_clock(const char *p, struct time_phrase *phrase)
{
	const char *at, *date;

	phrase->kind = TIME_PHRASE_CLOCK;
	phrase->weekday = name_at(&p, weekdays, 7);
	at = p = skip_blanks(p);
	date = read_iso(p, phrase);
	if (date == NULL) {
		phrase->year = 0;
		date = read_date(p, phrase);
	}
	if (date != NULL) {
		phrase->kind = TIME_PHRASE_DATE;
		at = date;
	} else if (phrase->weekday != -1) {
		phrase->kind = TIME_PHRASE_WEEKDAY;
	} else if (skip(p, "tomorrow") != NULL) {
		phrase->kind = TIME_PHRASE_TOMORROW;
		at = skip(p, "tomorrow");
	}
	p = at;
	at = skip_blanks(at);
	if (skip(at, "at") != NULL)
		at = skip_blanks(skip(at, "at"));
	if (!read_clock(&at, &phrase->clock)) {
		if (phrase->kind == TIME_PHRASE_CLOCK)
			return false;
		at = p;		/* a date alone means its first second */
	}
	read_zone(at, phrase);
	return phrase->kind != TIME_PHRASE_DATE ||
	    (phrase->month >= 1 && phrase->month <= 12 && phrase->day >= 1 && phrase->day <= 31);
}

bool time_phrase_parse(const char *words, struct time_phrase *phrase)
{
	const char *p = skip_fillers(words), *end;
	int64_t small;

	*phrase = (struct time_phrase){ .kind = TIME_PHRASE_EPOCH };
	if (isdigit((unsigned char)*p) && digits(p, 8, &small) == NULL)
		return digits(p, 13, &phrase->epoch) != NULL;
	phrase->kind = TIME_PHRASE_AFTER;
	if (read_duration(p, &phrase->amount) != NULL)
		return true;
	if (read_day_and_clock(p, phrase))
		return true;
	phrase->kind = TIME_PHRASE_NUMBER;
	end = isdigit((unsigned char)*p) ? read_amount(p, &phrase->amount) : NULL;
	return end != NULL && !isalnum((unsigned char)*end);
}
