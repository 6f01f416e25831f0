/* SPDX-License-Identifier: MIT */
/* Data of a live view, and what must be requested again. */
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
	int64_t run;			/* run to show; FIELD_NONE: all unfinished runs */
	json_t *runs;			/* all runs: documents, newest first */
	json_t *document, *attempts, *previews, *reviews;	/* one run: see struct view */
	/* what reviews belongs to: task and number of reviews of the run */
	char *reviewed;
	struct live *live;		/* one run: formats events as lines */
	struct print print;		/* ... into memory */
	char *last;
	bool stale;			/* an event has arrived since the documents were read */
};

enum watch_result {
	WATCH_OK,
	/* the daemon has disappeared, or the call was interrupted */
	WATCH_GONE,
	WATCH_REFUSED			/* see error */
};

void watch_data_init(struct watch_data *d, struct call_conn *conn);
void watch_data_release(struct watch_data *d);

/* Show this run from now on, or all (FIELD_NONE): forget everything, request nothing yet. */
enum watch_result watch_data_follow(struct watch_data *d, int64_t run, struct call_error *error);

/* Request the documents. chosen: index of the slot whose reviews are needed. slots: how many have
 * room for their output; if there are more, only the chosen slot's output is requested. */
enum watch_result watch_data_load(struct watch_data *d, size_t chosen, size_t slots, struct call_error *error);

/* Only what changes without events: the last lines of output. */
enum watch_result watch_data_tick(struct watch_data *d, size_t chosen, size_t slots);

/* Line counts mean nothing after a single request. */
void watch_data_uncount(struct watch_data *d);

/* Process the events that have arrived. */
enum watch_result watch_data_events(struct watch_data *d);

/* Whether something is in progress whose age changes. */
bool watch_data_is_live(const struct watch_data *d);

#endif
