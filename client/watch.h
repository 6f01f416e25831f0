/* SPDX-License-Identifier: MIT */
/* The full screen of rlctl watch: what it shows and what its keys do. */
#ifndef CLIENT_WATCH_H
#define CLIENT_WATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/pager.h"
#include "client/screen.h"
#include "client/transcript.h"
#include "client/watch_data.h"
#include "proto/call.h"
#include "proto/memory.h"

struct client;
struct watch_key;

enum watch_end { GO_ON, END_QUIT, END_GONE, END_REFUSED };

/* What the last line asks for. */
enum asking { ASK_NOTHING, ASK_YES, ASK_TEXT, ASK_FILTER };

struct watch {
	struct client *client;
	struct watch_data data;
	struct screen_choice choice;	/* for a run */
	size_t chosen;			/* for the list */
	char *filter;			/* of the list; NULL: none */
	int quit;			/* signalfd of the signals that end rlctl ... */
	int other;			/* ... and of the terminal's */
	size_t columns, lines;
	bool dirty;			/* the screen is out of date */
	int64_t loaded, drawn, ticked;	/* monotonic times */
	int signal;			/* the signal that ended the loop, 0: none */
	struct call_error error;

	enum asking asking;
	const struct watch_key *key;	/* for ASK_YES and ASK_TEXT: what is asked about ... */
	int64_t subject;		/* ... and the id of its run or hold */
	char *question;
	struct buf typed;
	struct buf unsent;		/* was typed and refused: the next prompt begins with it */
	bool may_be_empty;		/* nothing need be typed */
	char *notice;			/* the last answer or refusal of the daemon; NULL: none */
	enum paint notice_paint;

	struct pager *pager;		/* instead of the run or the list; NULL: none */
	/* of the pager with the logs of an attempt; FIELD_NONE: others */
	int64_t attempt;
	struct transcript transcript;
	bool more;			/* there is output that was not read yet */
	bool ended;			/* all of it was read, and no more comes */
};

/* ---- watch_state.c ---- */

/* The runs of the list that the filter lets through: new; and their number. */
json_t *watch_listed(const struct watch *w);
size_t watch_count(const struct watch *w);
/* The run that keys are about; NULL: none. Borrowed. */
const json_t *watch_run(const struct watch *w);
/* Its open hold: of the task of the chosen slot, or else the first; NULL: none. Borrowed. */
const json_t *watch_hold(const struct watch *w);

/* Number of slots with room for output. */
size_t watch_room(const struct watch *w);
/* What follows a request. */
enum watch_end watch_after(const struct watch *w, enum watch_result result);
/* The same for a failed call of a key: what was refused becomes the notice. */
enum watch_end watch_refused(struct watch *w, const struct call_error *error);
/* A line at the end of the screen until the next key; takes ownership of text. */
void watch_notice(struct watch *w, enum paint paint, char *text);

/* Read the documents again. */
enum watch_end watch_load(struct watch *w);
/* Show this run; FIELD_NONE: the list. */
enum watch_end watch_look_at(struct watch *w, int64_t run);

/* ---- watch_keys.c ---- */

/* A key that is a letter; takes the answers to questions as well. */
enum watch_end watch_take_key(struct watch *w, enum key key, char c);
/* The keys that help here, as many as fit into so many columns. malloc'd. */
char *watch_keys_line(const struct watch *w, size_t columns);
/* What stands over the last line: a question, or a notice. Returns false if there is none. */
bool watch_draw_last(const struct watch *w, struct lines *l);

/* ---- watch_pages.c ---- */

enum watch_end watch_open_logs(struct watch *w);
enum watch_end watch_open_diff(struct watch *w);
enum watch_end watch_open_tasks(struct watch *w);
void watch_open_text(struct watch *w, const char *title, const char *text);
/* Read on in the logs. */
enum watch_end watch_read_logs(struct watch *w);
void watch_close_page(struct watch *w);

#endif
