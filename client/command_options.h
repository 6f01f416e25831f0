/* SPDX-License-Identifier: MIT */
/* Options as data: help, parsing and request parameters come from the same rows. */
#ifndef CLIENT_COMMAND_OPTIONS_H
#define CLIENT_COMMAND_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum option_kind {
	OPTION_TRUE,		/* no argument; param becomes true */
	OPTION_FALSE,		/* no argument; param becomes false */
	OPTION_TEXT,
	OPTION_MAYBE_TEXT,	/* argument only as --name=TEXT; without it, param is omitted */
	OPTION_NUMBER,
	OPTION_COUNT,		/* a number from 0 */
	OPTION_POSITIVE,	/* a number from 1 */
	OPTION_UID,		/* a user ID */
	OPTION_USER,		/* the same, or the name of a user of this host */
	OPTION_DURATION,	/* sent as written */
	OPTION_MONEY,		/* an amount ≥ 0: 5, 2.50 or $2.50; sent as a number */
	OPTION_CHOICE,		/* one of the words in `argument`: "a|b|c" */
	OPTION_PAIR,		/* NAME=VALUE; collected in an object, the last of a name counts */
	OPTION_LABEL,		/* the same, each name once */
	OPTION_LIST,		/* text; collected in an array */
	OPTION_NAMES,		/* names separated by commas; likewise */
	OPTION_SOURCE,		/* a file to read, or - */
	OPTION_FILE,		/* a regular file, sent as an absolute path */
	OPTION_CONTENT,		/* the same, of this machine also with --host: rlctl reads it */
	OPTION_FILE_OR_NONE,	/* the same, or the word none */
	/* a new or existing file in an existing directory; sent as an absolute path */
	OPTION_NEW_FILE,
	/* sent as an absolute path, unless it is a name to look up on PATH */
	OPTION_PROGRAM,
	OPTION_DIRECTORY,	/* sent as an absolute path */
	OPTION_MAYBE_DIRECTORY	/* the same, only as --name=DIR; without it, param becomes true */
};

struct option_row {
	const char *name;
	char letter;		/* 0: none */
	enum option_kind kind;
	const char *argument;	/* as shown in the help, NULL: none */
	const char *param;	/* destination: "review.enabled"; NULL: for rlctl itself */
	const char *also;	/* a second param, which becomes true */
	const char *help;
};

/* Lists end with a row without a name. Common rows apply to every command. */
extern const struct option_row options_common[], options_submit[], options_config[], options_prompt[];

struct options {
	json_t *values;		/* name -> text, number or true */
	json_t *params;		/* parameters of the request */
	bool elsewhere;		/* the daemon is on another machine: other files are there */
	char **arguments;	/* the other arguments; points into argv */
	int count;
};

void options_init(struct options *o);
void options_release(struct options *o);

/* Take the options out of argv[1..]; own may be NULL. leading: stop at the first argument that is
 * not an option. Returns 0, or an exit code after a message. */
int options_parse(struct options *o, int argc, char **argv, const struct option_row *own, bool leading);

const char *options_text(const struct options *o, const char *name);	/* NULL when not given */
bool options_given(const struct options *o, const char *name);

/* Name of the option that fills a request parameter, NULL: none. */
const char *options_for_param(const struct option_row *rows, const char *param);

/* Whether that is an option with a number: what the daemon says about it is about its range. */
bool options_is_number(const struct option_row *rows, const char *param);

/* Whether text is one of words, "a|b|c". */
bool options_is_choice(const char *words, const char *text);

void options_print(FILE *file, const struct option_row *rows);

/* A row of help, of which indent columns are printed already: left in a column of that width, and
 * help behind it, on a line of its own if left is too long. */
void options_print_row(FILE *file, int indent, const char *left, int width, const char *help);

#endif
