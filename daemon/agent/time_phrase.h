/* SPDX-License-Identifier: MIT */
/* A time as words tell it, before anybody asks where and when they were said. Pure. */
#ifndef AGENT_TIME_PHRASE_H
#define AGENT_TIME_PHRASE_H

#include <stdbool.h>
#include <stdint.h>

struct time_phrase {
	enum {
		TIME_PHRASE_EPOCH,		/* 1767225600, also in ms */
		TIME_PHRASE_AFTER,		/* in 3 days 4 hours, 8h44m7s, 59.6s */
		TIME_PHRASE_NUMBER,		/* 30 */
		TIME_PHRASE_DATE,		/* Nov 25, 9am; Apr 28th, 2026 10:03
						 * PM; 2026-01-05T13:00:00Z */
		TIME_PHRASE_WEEKDAY,		/* Mon 12:00am */
		TIME_PHRASE_TOMORROW,		/* tomorrow at noon */
		TIME_PHRASE_CLOCK		/* 10:52pm */
	} kind;
	int64_t epoch;
	double amount;			/* AFTER: ms; NUMBER */
	int64_t year;			/* DATE; 0: not given */
	int month, day;			/* DATE; from 1, the day maybe not one of the month */
	int weekday;			/* WEEKDAY; 0 is Thursday, as the first day
					 * of the epoch was */
	int64_t clock;			/* from DATE on: s after midnight; a day alone
					 * is its beginning */
	char zone[64];			/* the same: "Europe/Berlin"; "": not given */
	bool has_offset;
	int64_t offset;			/* s ahead of UTC, instead of a zone */
};

/* The time at the beginning of words, behind what may stand between it and the word that speaks of
 * it ("at", "in", "after"). False: there is none. */
bool time_phrase_parse(const char *words, struct time_phrase *phrase);

#endif
