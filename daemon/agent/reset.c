/* SPDX-License-Identifier: MIT */
#include "agent/reset.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/time_phrase.h"
#include "base/zone.h"
#include "core/row.h"
#include "proto/memory.h"

#define MINUTE INT64_C(60)
#define HOUR INT64_C(3600)
#define DAY INT64_C(86400)

/* No notice is longer, and the input is not trusted. */
#define WORDS_MAX (32 * 1024)
#define TRIES_MAX 64

/* A clock without seconds may show a time that has just passed; it does not mean tomorrow. */
#define ROUNDED (2 * MINUTE)
/* A time that passed longer ago than STALE, or is farther ahead than FAR, is not a reset time. */
#define STALE HOUR
#define FAR (400 * DAY)

/* Words before a time, and the unit of a bare number there. Long ones before short ones. */
static const struct anchor {
	const char *words;
	double bare_ms;		/* unit of a bare number; 0: not a time */
} anchors[] = {
	{ "resets_in_seconds", 1000 },
	{ "reset_after_seconds", 1000 },
	{ "retry-after-ms", 1 },
	{ "retry-after", 1000 },
	{ "retry_after", 1000 },
	{ "retry after", 1000 },
	{ "retrydelay", 0 },
	{ "quotaresetdelay", 0 },
	{ "quotaresettimestamp", 0 },
	{ "resets_at", 0 },
	{ "resetsat", 0 },
	{ "reset", 0 },		/* resets, will reset */
	{ "try again", 0 },
	{ "retry", 0 },
	{ "please wait", 0 },
	{ "regain access", 0 },
	{ "available again", 0 },
	{ "continuing automatically", 0 },
	{ "limit reached|", 0 },
	{ "限额将在", 0 },	/* your quota will, at ..., be reset */
};

/* ---- moments ---- */

static int64_t fit(int64_t at, int64_t now)
{
	if (at < now - STALE * 1000 || at > now + FAR * 1000)
		return ROW_NONE;
	return at > now ? at : now + MINUTE * 1000;
}

int64_t reset_ms(int64_t epoch)
{
	return epoch >= 0 && epoch < INT64_C(100000000000) ? epoch * 1000 : epoch;
}

int64_t reset_epoch(int64_t epoch, int64_t now)
{
	return epoch >= 0 ? fit(reset_ms(epoch), now) : ROW_NONE;
}

/* The time zone of the clock. *doubt as in reset_time(). */
static struct zone *zone_of(const struct time_phrase *phrase, const struct reset_place *place, char **doubt)
{
	const char *name = phrase->zone;
	struct zone *zone = name[0] != '\0' ? zone_open(place->zones, name) : NULL;

	if (zone != NULL)
		return zone;
	zone = zone_open(place->zones, place->zone);
	if (name[0] != '\0')
		*doubt = xasprintf("unknown time zone %s (on Debian, install tzdata); assumed %s", name,
		    zone == NULL ? "UTC" : place->zone != NULL && place->zone[0] != '\0' ?
		    place->zone : "the zone of this machine");
	else if (zone == NULL)
		*doubt = xasprintf("unknown time zone TZ=%s of the agent (on Debian, install "
		    "tzdata); assumed UTC", place->zone);
	return zone;
}

/* s since the epoch: the first of both that has not passed. */
static int64_t moment_of(const struct time_phrase *phrase, const struct zone *zone, int64_t days, int64_t now)
{
	int64_t wall = days * DAY + phrase->clock, moments[2];

	if (phrase->has_offset)
		return wall - phrase->offset;
	zone_local_to_utc(zone, wall, moments);
	return moments[0] >= now - ROUNDED ? moments[0] : moments[1];
}

static bool is_date(int64_t year, int month, int day)
{
	int64_t y;
	int m, d;

	zone_date(zone_days(year, month, day), &y, &m, &d);
	return y == year && m == month && d == day;
}

/* Without a year, the nearest one. */
static int64_t date_moment(const struct time_phrase *phrase, const struct zone *zone, int64_t year, int64_t now)
{
	int64_t nearest = ROW_NONE;

	for (int64_t y = phrase->year > 0 ? phrase->year : year - 1;
	    y <= (phrase->year > 0 ? phrase->year : year + 1); y++) {
		int64_t at = is_date(y, phrase->month, phrase->day) ?
		    moment_of(phrase, zone, zone_days(y, phrase->month, phrase->day), now) : ROW_NONE;

		if (at != ROW_NONE && (nearest == ROW_NONE || llabs(at - now) < llabs(nearest - now)))
			nearest = at;
	}
	return nearest;
}

static int64_t resolve(const struct time_phrase *phrase, const struct reset_place *place, char **doubt)
{
	struct zone *zone = phrase->has_offset ? NULL : zone_of(phrase, place, doubt);
	int64_t now = place->now / 1000, here = now + (phrase->has_offset ? phrase->offset : zone_offset(zone, now));
	int64_t today = here / DAY, at = ROW_NONE, year;
	int month, day;

	zone_date(today, &year, &month, &day);
	if (phrase->kind == TIME_PHRASE_DATE)
		at = date_moment(phrase, zone, year, now);
	if (phrase->kind == TIME_PHRASE_TOMORROW)
		at = moment_of(phrase, zone, today + 1, now);
	/* start with the day before: midnight may have just passed */
	for (int64_t d = today - 1;
	    (phrase->kind == TIME_PHRASE_CLOCK || phrase->kind == TIME_PHRASE_WEEKDAY) &&
	    d <= today + 8; d++) {
		at = moment_of(phrase, zone, d, now);
		if (at >= now - ROUNDED && (phrase->kind == TIME_PHRASE_CLOCK || d % 7 == phrase->weekday))
			break;
	}
	zone_close(zone);
	return at == ROW_NONE ? ROW_NONE : fit(at * 1000, place->now);
}

/* ---- texts ---- */

static int64_t moment_after(double ms, int64_t now)
{
	return ms <= (double)FAR * 1000 ? fit(now + (int64_t)ms, now) : ROW_NONE;
}

/* *certain: written by a program for programs. */
static int64_t time_behind(const char *p, const struct anchor *anchor,
    const struct reset_place *place, bool *certain, char **doubt)
{
	struct time_phrase phrase;

	*certain = anchor->bare_ms > 0;
	if (!time_phrase_parse(p, &phrase))
		return ROW_NONE;
	switch (phrase.kind) {
	case TIME_PHRASE_EPOCH:
		*certain = true;
		return reset_epoch(phrase.epoch, place->now);
	case TIME_PHRASE_AFTER:
		return moment_after(phrase.amount, place->now);
	case TIME_PHRASE_NUMBER:
		return anchor->bare_ms > 0 ? moment_after(phrase.amount * anchor->bare_ms, place->now) : ROW_NONE;
	case TIME_PHRASE_DATE: case TIME_PHRASE_WEEKDAY: case TIME_PHRASE_TOMORROW: case TIME_PHRASE_CLOCK:
		break;
	}
	return resolve(&phrase, place, doubt);
}

static const struct anchor *anchor_at(const char *p)
{
	for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++)
		if (strncasecmp(p, anchors[i].words, strlen(anchors[i].words)) == 0)
			return &anchors[i];
	return NULL;
}

/* Machine-readable times precede human-readable ones. */
int64_t reset_time(const char *words, const struct reset_place *place, char **doubt)
{
	size_t size = strlen(words), tries = 0;
	int64_t best = ROW_NONE;

	*doubt = NULL;
	if (size > WORDS_MAX)
		words += size - WORDS_MAX;
	for (const char *p = words; *p != '\0' && tries < TRIES_MAX; p++) {
		const struct anchor *anchor = p == words || !isalnum((unsigned char)p[-1]) ? anchor_at(p) : NULL;
		char *said = NULL;
		bool certain;
		int64_t at;

		if (anchor == NULL)
			continue;
		tries++;
		p += strlen(anchor->words);
		at = time_behind(p, anchor, place, &certain, &said);
		p--;
		if (at == ROW_NONE || (best != ROW_NONE && !certain)) {
			free(said);
			continue;
		}
		free(*doubt);
		*doubt = said;
		best = at;
		if (certain)
			break;
	}
	return best;
}
