/* SPDX-License-Identifier: MIT */
/* What a live view has asked the daemon for, and what is to be asked again. */
#ifndef CLIENT_WATCH_DATA_H
#define CLIENT_WATCH_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/live.h"
#include "client/print.h"
#include "client/run_view.h"
#include "proto/call.h"

struct watch_data {
	struct call_conn *conn;		/* borrowed */
	int64_t run;			/* the one that is shown; FIELD_NONE: all
					 * that are unfinished */
	json_t *runs;			/* all: documents, newest first */
	json_t *document, *attempts, *previews, *reviews;	/* one: see struct view */
	char *reviewed;			/* what reviews holds: task and number of
					 * reviews of the run */
	struct live *live;		/* one: makes a line of an event */
	struct print print;		/* ... in memory */
	char *last;
	bool stale;			/* something has happened since the documents
					 * were asked for */
};

enum watch_result {
	WATCH_OK,
	WATCH_GONE,			/* the daemon, or we were asked to give up */
	WATCH_REFUSED			/* error says why */
};

void watch_data_init(struct watch_data *d, struct call_conn *conn);
void watch_data_release(struct watch_data *d);

/* Look at this run from now on, or at all (FIELD_NONE): what was known is forgotten,
 * nothing is asked yet. */
enum watch_result watch_data_follow(struct watch_data *d, int64_t run, struct call_error *error);

/* The documents as they are now. chosen: index of the slot whose reviews are wanted.
 * slots: how many of them have room for their output; when there are more, only the chosen
 * one's is asked for. */
enum watch_result watch_data_load(struct watch_data *d, size_t chosen, size_t slots, struct call_error *error);

/* Only what changes without an event: the last lines of the output. */
enum watch_result watch_data_tick(struct watch_data *d, size_t chosen, size_t slots);

/* How many lines were seen says nothing after a single look. */
void watch_data_uncount(struct watch_data *d);

/* Take the events that have arrived. */
enum watch_result watch_data_events(struct watch_data *d);

/* Something goes on that has an age. */
bool watch_data_is_live(const struct watch_data *d);

#endif
