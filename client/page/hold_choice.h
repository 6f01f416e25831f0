/* SPDX-License-Identifier: MIT */
/* What a human can decide about an open hold. */
#ifndef CLIENT_PAGE_HOLD_CHOICE_H
#define CLIENT_PAGE_HOLD_CHOICE_H

#include <jansson.h>
#include <stdbool.h>

struct choice {
	const char *word;	/* the method is hold.WORD */
	const char *button;
	const char *kinds;	/* of holds that it is for, "a|b"; NULL: all but those in but */
	const char *but;
	const char *silent;	/* kinds that need no text; NULL: none does */
};

/* Ends with a row without a word. */
extern const struct choice choices[];

bool choice_applies(const struct choice *choice, const json_t *hold);

/* The command that decides so; the caller frees. */
char *choice_command(const struct choice *choice, const json_t *hold);

#endif
