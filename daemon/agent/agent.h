/* SPDX-License-Identifier: MIT */
/* Agent programs: presets, how a prompt is passed to them, and how their output is read. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/state.h"

/* A preset, the defaults of [agent.NAME]. Strings are static. */
struct agent_preset {
	const char *name;
	const char *const *command;	/* NULL-terminated */
	const char *const *review;	/* command for reviewers; empty: the same */
	enum prompt_via prompt;
	enum reader_kind reader;
	/* names of variables to pass on from the submitter's environment */
	const char *const *env;
	const char *const *set;		/* "K=V" */
	const char *const *resume;	/* words that resume the conversation {session} */
	const char *const *writable;	/* files and folders of its state, "~/" is HOME */
	/* Any of these proves a login: "NAME", a non-empty variable; "~/FILE", a file below HOME
	 * with more than "{}"; "$NAME/FILE", one in the folder that the variable names. */
	const char *const *login;
	const char *login_help;		/* how to log in, printed after "log in: " */
	const char *package;		/* what npm installs it from */
	/* version tested: the first number with dots that --version prints, on either stream */
	const char *version;
	/* oldest version of Node.js allowed by its package; NULL: no requirement */
	const char *node;
	const char *account;		/* account, unless [agent.NAME] names another */
	const char *help;
};

extern const struct agent_preset agent_presets[];	/* ends with name NULL */
const struct agent_preset *agent_preset_find(const char *name);

/* Variables passed on from every submitter's environment (PATH, HOME, LC_*, ...); a name that ends
 * with * matches all names with that prefix; NULL-terminated. rlctl sends the same ones. */
extern const char *const agent_environment[];

/* Fill in the argv template. A word with {model}, {session} or {prompt_file} is omitted if there is
 * none; if the placeholder is the whole word, the option before it is omitted, too. With a session,
 * the words of `resume` are appended and filled in, unless the command contains {session} itself.
 * prompt: appended as the last word for PROMPT_ARG, after a newline if it starts with '-', so that
 * no program takes it as an option. Returns a new NULL-terminated argv. */
char **agent_argv(const struct agent_plan *agent, const char *prompt, const char *prompt_file, const char *session);

/* Longest prompt that can be passed as an argument, in bytes. */
#define AGENT_ARG_MAX 100000

/* Content of the raw output. Everything is owned by the struct. */
struct agent_result {
	/* final text, never NULL; at most AGENT_TEXT_MAX bytes, with its end after
	 * AGENT_CUT_LINE */
	char *text;
	size_t size;
	bool truncated;
	/* ROW_NONE: not reported, or impossible. Each token is in one of the first four; reasoning
	 * tokens are part of the output. */
	int64_t tokens_input, tokens_cached, tokens_cache_write, tokens_output, tokens_reasoning;
	bool tokens_of_session;	/* they include earlier attempts of the conversation */
	double cost_usd;	/* NaN: not reported, or impossible */
	char *session;		/* safe for a command line; NULL: none */
	/* The model that answered and the version of the program, as the output names them: one
	 * line of at most 200 bytes. NULL: it does not */
	char *model, *version;
	bool is_error;		/* the program itself reports a failure, whatever its exit status */
	char *error;		/* its message, NULL */
	bool over;		/* it gave its final result, and no output followed */
	/* the stream ended without a result: error is ours, stderr may tell more */
	bool incomplete;
	int denials;		/* tool calls denied for lack of permission */
	int tool_errors;	/* tool calls that failed otherwise: not a failure of the attempt */
	/* it contains no output of the model: perhaps the service never answered */
	bool unanswered;
	enum provider_result provider;
	bool transient;		/* ERROR: a temporary one */
	/* LIMIT, THROTTLED, transient ERROR: when the service is available again, ms since the
	 * epoch; ROW_NONE: unknown */
	int64_t reset_at;
	/* message about the service, from which provider and reset_at are read; NULL: none */
	char *notice;
};

#define AGENT_TEXT_MAX (16 * 1024 * 1024)

/* First line of a text that lost its beginning or had a gap. It opens a brace that nothing closes,
 * as the lost bytes may have: a search for a JSON object after it finds a broken one, never the
 * inside of one. */
#define AGENT_CUT_LINE "{... earlier output was left out\n"

struct reader;

/* Whether the format reports the cost of an attempt, or its tokens. A budget needs that. */
bool reader_tells_cost(enum reader_kind kind);
bool reader_tells_tokens(enum reader_kind kind);

/* Takes stdout in order; uses bounded memory for any input. */
struct reader *reader_new(enum reader_kind kind);
void reader_feed(struct reader *r, const char *data, size_t size);
/* Whether the final result was read; a program that keeps running after it has no reason to. False
 * for formats that do not mark it; see reader_can_tell(). */
bool reader_is_over(const struct reader *r);
bool reader_can_tell(enum reader_kind kind);
/* Bytes were dropped here by the output limit: ignore an unfinished line. */
void reader_gap(struct reader *r);
/* Free the reader and fill in out; reset_at only if it was given as a number, unchecked. */
void reader_end(struct reader *r, struct agent_result *out);
void agent_result_release(struct agent_result *result);

/* What the output of an ended agent does not tell. */
struct agent_ending {
	enum reader_kind reader;
	int64_t exit_code;		/* ROW_NONE: it did not exit by itself */
	const char *last_words;		/* from agent_last_words(), NULL */
	int64_t at;			/* time of the end, ms since the epoch */
	const char *zone;		/* the agent's TZ; NULL: the machine's */
};

/* The most informative line at the end of stderr: for a known program the one about its login, even
 * if lines of advice follow it; otherwise the last non-blank line, only its end if it is long.
 * malloc'd; NULL: none. */
char *agent_last_words(enum reader_kind reader, const char *text, size_t size);

/* Complete the result about the service: by exit code or stderr where the output does not show it,
 * and when it serves again. Returns how an unknown time zone was read, malloc'd; NULL: no doubt.
 * Reads the tz database. */
char *agent_result_complete(struct agent_result *result, const struct agent_ending *ending);

#endif
