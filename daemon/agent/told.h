/* SPDX-License-Identifier: MIT */
/* A time as words tell it, before anybody asks where and when they were said. Pure. */
#ifndef AGENT_TOLD_H
#define AGENT_TOLD_H

#include <stdbool.h>
#include <stdint.h>

struct told {
	enum {
		TOLD_EPOCH,		/* 1767225600, also in ms */
		TOLD_AFTER,		/* in 3 days 4 hours, 8h44m7s, 59.6s */
		TOLD_NUMBER,		/* 30 */
		TOLD_DATE,		/* Nov 25, 9am; Apr 28th, 2026 10:03 PM; 2026-01-05T13:00:00Z */
		TOLD_WEEKDAY,		/* Mon 12:00am */
		TOLD_TOMORROW,		/* tomorrow at noon */
		TOLD_CLOCK		/* 10:52pm */
	} kind;
	int64_t epoch;
	double amount;			/* AFTER: ms; NUMBER */
	int64_t year;			/* DATE; 0: not told */
	int month, day;			/* DATE; from 1, the day maybe not one of the month */
	int weekday;			/* WEEKDAY; 0 is Thursday, as the first day of the epoch was */
	int64_t clock;			/* from DATE on: s after midnight; a day alone is its beginning */
	char zone[64];			/* the same: "Europe/Berlin"; "": not told */
	bool has_offset;
	int64_t offset;			/* s ahead of UTC, instead of a zone */
};

/* The time at the beginning of words, behind what may stand between it and the word that speaks of it ("at", "in", "after"). False:
 * there is none. */
bool told_read(const char *words, struct told *told);

#endif
