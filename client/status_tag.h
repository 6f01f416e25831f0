/* SPDX-License-Identifier: MIT */
/* State of a slot as a word and a sentence, as in requirement 000: reviews and fixes take
 * precedence. */
#ifndef CLIENT_STATUS_TAG_H
#define CLIENT_STATUS_TAG_H

#include <jansson.h>
#include <stdint.h>

#include "client/print.h"

struct status_tag {
	const char *word;	/* "REVIEW"; static */
	int64_t number;		/* "EVENTS 12"; FIELD_NONE: none */
	enum paint paint;
	char *text;		/* "fix attempt 2 for x-7", may be "" */
};

/* run, slot: documents of run.get. attempt: the slot's newest, as in attempt.list, NULL: none or
 * unknown. events: output lines seen so far, 0: none. status_tag_release() frees the content of the
 * tag. */
void status_tag_of(const json_t *run, const json_t *slot, const json_t *attempt, int64_t events,
    struct status_tag *tag);
void status_tag_release(struct status_tag *tag);

/* "A1"; slot 0, the review of the whole run, is "all". The caller frees. */
char *status_tag_name(int64_t slot);

#endif
