/* SPDX-License-Identifier: MIT */
/* Options as data: help, parsing and the parameters of a request come from the same rows. */
#ifndef CLIENT_COMMAND_OPTIONS_H
#define CLIENT_COMMAND_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum option_kind {
	OPTION_TRUE,		/* no argument; param becomes true */
	OPTION_FALSE,		/* no argument; param becomes false */
	OPTION_TEXT,
	OPTION_MAYBE_TEXT,	/* argument only as --name=TEXT; without one, param is
				 * left to the daemon */
	OPTION_NUMBER,
	OPTION_COUNT,		/* a number from 0 */
	OPTION_POSITIVE,	/* a number from 1 */
	OPTION_UID,		/* a user's number */
	OPTION_DURATION,	/* sent as written */
	OPTION_MONEY,		/* an amount from 0, 5 or 2.50 or $2.50; sent as a number */
	OPTION_CHOICE,		/* one of argument's words: "a|b|c" */
	OPTION_PAIR,		/* K=V; adds up to an object */
	OPTION_LIST,		/* text; adds up to an array */
	OPTION_SOURCE,		/* a file to read, or - */
	OPTION_FILE,		/* a regular file, sent as absolute path */
	OPTION_FILE_OR_NONE,	/* the same, or the word none */
	OPTION_NEW_FILE,	/* a file to be, in a directory that is there; sent
				 * as absolute path */
	OPTION_PROGRAM,		/* sent as absolute path, unless it is a name to be
				 * looked up on PATH */
	OPTION_DIRECTORY,	/* sent as absolute path */
	OPTION_MAYBE_DIRECTORY	/* the same, only as --name=DIR; without one, param becomes true */
};

struct option_row {
	const char *name;
	char letter;		/* 0: none */
	enum option_kind kind;
	const char *argument;	/* as help shows it, NULL: none */
	const char *param;	/* "review.enabled": where the value goes; NULL: for rlctl itself */
	const char *also;	/* a second param, which becomes true */
	const char *help;
};

/* Lists end with a row without name. Common rows go with every command. */
extern const struct option_row options_common[], options_submit[], options_config[];

struct options {
	json_t *values;		/* name -> text, number or true */
	json_t *params;		/* what goes into the request */
	char **arguments;	/* what is no option; points into argv */
	int count;
};

void options_init(struct options *o);
void options_release(struct options *o);

/* Take the options out of argv[1..]; own may be NULL. leading: stop at the first argument that is
 * no option. 0, or an exit code after telling on stderr. */
int options_parse(struct options *o, int argc, char **argv, const struct option_row *own, bool leading);

const char *options_text(const struct options *o, const char *name);	/* NULL when not given */
bool options_given(const struct options *o, const char *name);

/* The name of the option that fills a request's parameter, NULL when none does. */
const char *options_for_param(const struct option_row *rows, const char *param);

/* Is text one of words, "a|b|c"? */
bool options_is_choice(const char *words, const char *text);

void options_print(FILE *file, const struct option_row *rows);

#endif
