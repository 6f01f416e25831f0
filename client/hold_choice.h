/* SPDX-License-Identifier: MIT */
/* What a human can decide about an open hold: for commands, pages and the keys of rlctl watch. */
#ifndef CLIENT_HOLD_CHOICE_H
#define CLIENT_HOLD_CHOICE_H

#include <jansson.h>
#include <stdbool.h>

struct choice {
	const char *word;	/* the method is hold.WORD */
	const char *button;
	const char *effect;
	const char *kinds;	/* of holds that it is for, "a|b"; NULL: all but those in but */
	const char *but;
	const char *silent;	/* kinds that need no text; NULL: none does */
};

/* Ends with a row without a word; the last one before applies to every hold. */
extern const struct choice choices[];

/* NULL: there is none. */
const struct choice *choice_find(const char *word);

bool choice_applies(const struct choice *choice, const json_t *hold);
bool choice_needs_text(const struct choice *choice, const json_t *hold);

/* The command that decides so; the caller frees. */
char *choice_command(const struct choice *choice, const json_t *hold);

/* All of them: "rlctl hold approve 3, rework 3 -m TEXT, or reject 3"; the caller frees. */
char *choice_commands(const json_t *hold);

#endif
