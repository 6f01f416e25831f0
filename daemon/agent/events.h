/* SPDX-License-Identifier: MIT */
/* What readers of JSON events have in common: a format is a table of the events that mean
 * something in it. */
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
	const char *type;	/* of the member "type" */
	/* NULL: the event only says that the work continues */
	void (*on)(struct events *e, const json_t *event);
	bool aside;		/* it may follow the end and takes nothing back, unless on() does */
};

struct events_type {
	const struct events_row *rows;	/* end with type NULL */
	const char *session;		/* the member that names the conversation, in whatever
					 * event; NULL: see rows */
	const char *needs;		/* what the command must have for such events */
	/* First bytes of events that only repeat what others say, and are not even
	 * parsed; NULL: none. */
	const char *passed_over;
	/* Rows that are no part of the answer. Of one that is too long on() gets event NULL. Ends
	 * with NULL; NULL: none. */
	const char *const *wordless;
	/* Events without a "type"; NULL: noise. */
	void (*on_untyped)(struct events *e, const json_t *event);
};

/* What the events so far have said. */
struct events {
	const struct events_type *type;
	struct json_stream stream;
	struct answer answer;
	bool served;		/* something was said or asked for by the model */
	bool tool_since;	/* a tool was used after the last text: the next one
				 * is another answer */
	char *session;
	bool ended;		/* they said how the work went: well, or error */
	bool answered;		/* the last message leaves nothing to do, in a format that marks
				 * the end */
	bool broken_off;	/* they said that this turn was given up, in a format that has
				 * an event for that */
	char *error;		/* the program's words for a failure that nothing good has
				 * followed; NULL: none */
	int64_t status;		/* the service's, with the error; 0: none */
	enum provider_result provider;	/* of the error, when neither words nor status tell */
	bool retryable;		/* the program says that the error passes by itself */
	char *beside;		/* what stands beside the error's words about the service; NULL */
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

/* A failure, as far as is known; words NULL: without a word. */
void events_fail(struct events *e, const char *words, int64_t status, enum provider_result otherwise);
/* What else was said with it, maybe when the service serves again. NULL says nothing. */
void events_beside(struct events *e, const char *name, const char *words);
/* What failed before has been got over. */
void events_recovered(struct events *e);

#endif
