/* SPDX-License-Identifier: MIT */
/* A day of one daemon on virtual time: runs arrive by day and by night, their agents take minutes
 * to hours, accounts are exhausted, humans answer in the daytime, the daemon dies, its machine is
 * suspended and restarted, and the disk is full for a while. The clock goes from one event to the
 * next. A run that ended an hour ago is compared with the reference, and forgotten. */
#ifndef SIM_DAY_H
#define SIM_DAY_H

#include "run/submission.h"
#include "world.h"

struct day;

struct day_figures {
	int64_t runs, retries;			/* submitted, and retried by humans */
	int64_t passed, failed, cancelled, held;	/* held: a human was asked about them */
	/* agents: attempts that are no checks; refused: by their service */
	int64_t attempts, agents, lost, refused;
	int64_t commits, events, deaths, no_space, unanswered;
	int64_t most_slots, most_queued;
	double busy_ms;				/* of slots */
	int64_t *waits, nwaits;			/* of each run for its start, ms, in order */
	int64_t ended_ms;			/* when the last run ended, from the beginning */
	char digest[65];			/* of what became of each run */
};

struct day *day_new(struct world *w, int64_t runs);
void day_free(struct day *day);

/* Plays it to the end of its last run. Its figures are valid until the world is freed. */
const struct day_figures *day_play(struct world *w);

/* For the files of the world. */
struct fate;
void day_fate(struct world *w, struct fate *f);
/* A process begins, and what depends on role and account is decided: how long it takes. row: of an
 * attempt; NULL: it is an operation, or a hook. */
int64_t day_begins(struct world *w, const struct attempt_row *row);
/* The process of an attempt ends by itself. */
void day_ends(struct world *w, const struct attempt_row *row);
void day_draw(struct world *w, struct plan *plan, struct submission *s);
void day_submit(struct world *w, struct submission *s);
/* The daemon has died: submits that it has not answered are made again. */
void day_unanswered(struct world *w);
/* A decision is on disk. */
void day_committed(struct world *w, const struct decision *d);

#endif
