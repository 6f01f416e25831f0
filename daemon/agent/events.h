/* SPDX-License-Identifier: MIT */
/* Common parts of readers of JSON events: a format is a table of its relevant events. */
#ifndef AGENT_EVENTS_H
#define AGENT_EVENTS_H

#include <jansson.h>

#include "agent/answer.h"
#include "agent/json_stream.h"
#include "agent/reader.h"

struct events;

/* One type of event; all others are ignored. Each revokes an earlier end: the work continues, so a
 * result counts only as the last event. */
struct events_row {
	const char *type;	/* value of the member "type" */
	/* NULL: the event only shows that the work continues */
	void (*on)(struct events *e, const json_t *event);
	bool aside;		/* it may follow the end without cancelling it, unless on() does */
};

struct events_type {
	const struct events_row *rows;	/* ends with type NULL */
	/* member with the conversation id, in any event; NULL: see rows */
	const char *session;
	const char *needs;		/* arguments that the command must have for such events */
	/* Beginning of events that only repeat others, and are not even parsed; NULL: none. */
	const char *passed_over;
	/* Rows that are no part of the answer. Of one that is too long on() gets event NULL. Ends
	 * with NULL; NULL: none. */
	const char *const *wordless;
	/* Events without a "type"; NULL: ignored. */
	void (*on_untyped)(struct events *e, const json_t *event);
};

/* State after the events so far. */
struct events {
	const struct events_type *type;
	struct json_stream stream;
	struct answer answer;
	bool served;		/* the model has produced output */
	/* a tool was used after the last text: the next text is another answer */
	bool tool_since;
	char *session;
	char *model, *version;	/* as in struct agent_result */
	bool ended;		/* they reported the outcome: success, or error */
	bool answered;		/* the last message leaves nothing to do, in a format that marks
				 * the end */
	bool broken_off;	/* this turn was aborted, in a format that has an event for that */
	/* the program's message about a failure that no success followed; NULL: none */
	char *error;
	int64_t status;		/* HTTP status of the service, with the error; 0: none */
	enum provider_result provider;	/* for the error, if neither message nor status tell */
	bool retryable;		/* the program says that the error is temporary */
	char *beside;		/* additional messages about the service with the error; NULL */
	int64_t input, cached, cache_write, output, reasoning;	/* as in struct agent_result */
	bool of_session;
	double cost;
	int denials, tool_errors;
};

void *events_new(const struct events_type *type);
/* For a struct reader_type; the state is a struct events. */
void events_feed(void *state, const char *data, size_t size);
void events_gap(void *state);
bool events_is_over(const void *state);
void events_end(void *state, struct agent_result *out);

/* Text of the agent: a whole message replaces the answer; a piece extends it, unless a tool was
 * used in between. NULL and "" are ignored. */
void events_message(struct events *e, const char *text);
void events_piece(struct events *e, const char *text);

/* A failure, as far as known; words NULL: without a message. */
void events_fail(struct events *e, const char *words, int64_t status, enum provider_result otherwise);
/* An additional message with it, which may name the reset. NULL is ignored. */
void events_beside(struct events *e, const char *name, const char *words);
/* The work has recovered from an earlier failure. */
void events_recovered(struct events *e);

#endif
