/* SPDX-License-Identifier: MIT */
/* Agent programs: presets, how a prompt reaches them, how their output is read. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/state.h"

/* A preset: what [agent.NAME] starts from. Strings static. */
struct agent_preset {
	const char *name;
	const char *const *command;	/* NULL-terminated */
	const char *const *review;	/* what takes its place for a reviewer;
					 * empty: nothing does */
	enum prompt_via prompt;
	enum reader_kind reader;
	const char *const *env;		/* names that pass from the submitter's environment */
	const char *const *set;		/* "K=V" */
	const char *const *resume;	/* words that resume the conversation {session} */
	const char *const *writable;	/* files and folders of its own state, "~/" is HOME */
	/* Any one of these is a login: "NAME", a variable that is not empty; "~/FILE", a file below
	 * HOME of more than "{}"; "$NAME/FILE", one in the folder that the variable names. */
	const char *const *login;
	const char *login_help;		/* how to get one, behind "log in: " */
	const char *version;		/* with which all this was measured: the first number with
					 * dots that --version prints, on whatever stream */
	const char *node;		/* the least version of Node.js that its package asks for;
					 * NULL: it asks for none */
	const char *account;		/* that pays, if [agent.NAME] names no other */
	const char *help;
};

extern const struct agent_preset agent_presets[];	/* ends with name NULL */
const struct agent_preset *agent_preset_find(const char *name);

/* Variables that pass from every submitter's environment (PATH, HOME, LC_*, ...); a name that ends
 * with * stands for all that begin so; NULL-terminated. rlctl sends the same ones. */
extern const char *const agent_environment[];

/* Fill the argv template. A word with {model}, {session} or {prompt_file} vanishes when there is
 * none, and when it is nothing else, the option in front of it as well. With a session the words of
 * `resume` follow, filled in likewise, unless the command has {session} itself. prompt: appended as
 * last word for PROMPT_ARG, behind a line end when it starts with '-', so that no program takes it
 * for an option. Returns a new NULL-terminated argv. */
char **agent_argv(const struct agent_plan *agent, const char *prompt, const char *prompt_file, const char *session);

/* Longest prompt that may travel as an argument, bytes. */
#define AGENT_ARG_MAX 100000

/* What the raw output said. Everything owned by the struct. */
struct agent_result {
	char *text;		/* final text, never NULL; at most AGENT_TEXT_MAX bytes, the tail
				 * kept behind AGENT_CUT_LINE */
	size_t size;
	bool truncated;
	/* ROW_NONE: not given, or more than can be. Each token is in one of the first four; those
	 * of reasoning are a part of the output. */
	int64_t tokens_input, tokens_cached, tokens_cache_write, tokens_output, tokens_reasoning;
	bool tokens_of_session;	/* they include earlier attempts of the conversation */
	double cost_usd;	/* NaN: not given, or more than can be */
	char *session;		/* fit for a command line; NULL: none */
	bool is_error;		/* the program itself reports failure, whatever its exit code */
	char *error;		/* its words, NULL */
	bool over;		/* it gave its final result, and said nothing after that */
	bool incomplete;	/* the stream ended without saying how it went: error is ours,
				 * stderr may know better */
	int denials;		/* tool uses refused for want of permission */
	int tool_errors;	/* tool uses that went wrong otherwise: no failure of the attempt */
	bool unanswered;	/* nothing in it was said or asked for by the model: the service may
				 * not have served it at all */
	enum provider_result provider;
	bool transient;		/* ERROR: of the kind that passes by itself */
	/* LIMIT, THROTTLED, transient ERROR: when the service serves again, ms since the epoch;
	 * ROW_NONE: it does not say */
	int64_t reset_at;
	char *notice;		/* what was said of the service, where provider and reset_at are
				 * read from; NULL: nothing */
};

#define AGENT_TEXT_MAX (16 * 1024 * 1024)

/* First line of a text that lost its beginning or had a gap. It opens a brace that nothing closes,
 * as the lost bytes may have: a search for a JSON object after it finds a broken one, never the
 * inside of one. */
#define AGENT_CUT_LINE "{... the output before this line was left out\n"

struct reader;

/* Does that format tell what an attempt has cost, or how many tokens it has used? Without that
 * there is nothing to hold a budget against. */
bool reader_tells_cost(enum reader_kind kind);
bool reader_tells_tokens(enum reader_kind kind);

/* Fed with stdout in order; bounded memory whatever comes. */
struct reader *reader_new(enum reader_kind kind);
void reader_feed(struct reader *r, const char *data, size_t size);
/* Has the final result been read? What is still running has no reason to. False for formats that do
 * not tell; see reader_can_tell(). */
bool reader_is_over(const struct reader *r);
bool reader_can_tell(enum reader_kind kind);
/* Bytes were dropped here by the output cap: an unfinished line is void. */
void reader_gap(struct reader *r);
/* Free the reader and fill out; reset_at only if it was given as a number, unchecked. */
void reader_end(struct reader *r, struct agent_result *out);
void agent_result_release(struct agent_result *result);

/* What the output of an agent that has ended does not tell. */
struct agent_ending {
	enum reader_kind reader;
	int64_t exit_code;		/* ROW_NONE: it did not exit by itself */
	const char *last_words;		/* as agent_last_words() gives them, NULL */
	int64_t at;			/* when it was, ms since the epoch */
	const char *zone;		/* what the agent had as TZ; NULL: the machine's */
};

/* The line at the end of stderr that says the most: of a program that is known, the one about its
 * login, which advice may follow over many lines; else the last that is not blank, its end when it
 * is long. malloc'd; NULL: none. */
char *agent_last_words(enum reader_kind reader, const char *text, size_t size);

/* Complete the result about the service: by exit code or stderr where the output does not show it,
 * and when it serves again. Returns how an unknown time zone was read, malloc'd; NULL: no doubt.
 * Reads the tz database. */
char *agent_result_complete(struct agent_result *result, const struct agent_ending *ending);

#endif
