/* SPDX-License-Identifier: MIT */
/* A time in words, before it is interpreted at a time and place. Pure. */
#ifndef AGENT_TIME_PHRASE_H
#define AGENT_TIME_PHRASE_H

#include <stdbool.h>
#include <stdint.h>

struct time_phrase {
	enum {
		TIME_PHRASE_EPOCH,		/* 1767225600, or in ms */
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
	int month, day;			/* DATE; from 1, perhaps an invalid day */
	/* WEEKDAY; 0 is Thursday, like the first day of the epoch */
	int weekday;
	/* DATE and following: s after midnight; a date alone is its first second */
	int64_t clock;
	char zone[64];			/* the same: "Europe/Berlin"; "": not given */
	bool has_offset;
	int64_t offset;			/* s ahead of UTC, used without a zone */
};

/* The time at the beginning of words, after optional words such as "at", "in", "after". Returns
 * false if there is none. */
bool time_phrase_parse(const char *words, struct time_phrase *phrase);

#endif
