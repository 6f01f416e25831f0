/* SPDX-License-Identifier: MIT */
/* Which agents rlctl init names, and the texts of the files that it writes. Pure. */
#ifndef CLIENT_INIT_CHOICE_H
#define CLIENT_INIT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "client/init/proposal.h"
#include "proto/memory.h"

/* An agent program that rld knows, or one that the user named. Borrowed texts. */
struct candidate {
	const char *name;
	const char *program;	/* absolute path, of one that rld does not know; NULL: a preset */
	bool found;		/* there, executable */
	bool answers;		/* it printed a version, or rld does not know it */
	bool login;		/* a login was found, or there is nothing to find */
};

struct choice {
	const struct candidate *agent, *reviewer;	/* reviewer == agent: the same one */
};

/* agent and reviewer: names that the user gave, NULL: choose. The best one works and is logged in;
 * of equal ones, the first. Returns true, or false with a message and a hint, both malloc'd. */
bool choice_make(const struct candidate *list, size_t count, const char *agent, const char *reviewer,
    struct choice *choice, char **message, char **hint);

/* A string of TOML, quoted. text is UTF-8. */
void choice_quote(struct buf *out, const char *text);

/* The text of rld.toml. */
void choice_settings(struct buf *out, const struct choice *choice);

/* The text of .rld.toml. missing[i]: the program of a proposal is not there, and it becomes a
 * comment. */
void choice_project(struct buf *out, const struct proposal *proposals, const bool *missing, size_t count);

#endif
