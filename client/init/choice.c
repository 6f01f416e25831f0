/* SPDX-License-Identifier: MIT */
#include "client/init/choice.h"

#include <stdlib.h>
#include <string.h>

/* 0: unusable. A program that does not answer may still work. */
static int candidate_rank(const struct candidate *c)
{
	return !c->found ? 0 : 1 + 2 * c->answers + c->login;
}

/* The best one but this; NULL: none. */
static const struct candidate *best_but(const struct candidate *list, size_t count, const struct candidate *but)
{
	const struct candidate *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (&list[i] != but && candidate_rank(&list[i]) > (best == NULL ? 0 : candidate_rank(best)))
			best = &list[i];
	return best;
}

static const struct candidate *candidate_find(const struct candidate *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static char *names_of(const struct candidate *list, size_t count)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < count; i++) {
		buf_separate(&text, ", ");
		buf_adds(&text, list[i].name);
	}
	return buf_take(&text, NULL);
}

static const struct candidate *choice_named(const struct candidate *list, size_t count, const char *name,
    char **message, char **hint)
{
	const struct candidate *named = candidate_find(list, count, name);
	char *names = names_of(list, count);

	if (named == NULL) {
		*message = xasprintf("unknown agent %s", name);
		*hint = xasprintf("rld knows %s; name a program of your own by its path: --agent ./PROGRAM", names);
	} else if (!named->found) {
		*message = xasprintf("the program of agent %s is not on your PATH, or not executable", name);
		*hint = xstrdup("install it, or name another agent");
		named = NULL;
	}
	free(names);
	return named;
}

bool choice_make(const struct candidate *list, size_t count, const char *agent, const char *reviewer,
    struct choice *choice, char **message, char **hint)
{
	const struct candidate *second;

	*message = *hint = NULL;
	choice->agent = agent != NULL ? choice_named(list, count, agent, message, hint) : NULL;
	choice->reviewer = reviewer != NULL && *message == NULL ?
	    choice_named(list, count, reviewer, message, hint) : NULL;
	if (*message != NULL)
		return false;
	if (choice->agent == NULL)
		choice->agent = best_but(list, count, choice->reviewer);
	if (choice->agent == NULL)
		choice->agent = choice->reviewer;
	if (choice->agent == NULL) {
		char *names = names_of(list, count);

		*message = xstrdup("no agent program is on your PATH, so nothing was written");
		*hint = xasprintf("rld knows %s", names);
		free(names);
		return false;
	}
	/* one that would surely fail is no better than the agent itself */
	second = best_but(list, count, choice->agent);
	if (choice->reviewer == NULL)
		choice->reviewer = second != NULL && second->answers ? second : choice->agent;
	return true;
}

void choice_quote(struct buf *out, const char *text)
{
	buf_adds(out, "\"");
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			buf_addf(out, "\\u%04X", c);
		else
			buf_add(out, p, 1);
	}
	buf_adds(out, "\"");
}

/* The table of a program that has no preset. */
static void add_program(struct buf *out, const struct candidate *c)
{
	if (c->program == NULL)
		return;
	buf_adds(out, "\n# It reads its prompt from standard input and prints its answer.\n[agent.");
	choice_quote(out, c->name);
	buf_adds(out, "]\ncommand = [");
	choice_quote(out, c->program);
	buf_adds(out, "]\n");
}

void choice_settings(struct buf *out, const struct choice *choice)
{
	buf_adds(out, "# Settings of rld, by \"rlctl init\". All of them: rld.toml(5).\n"
	    "# After a change: \"rlctl config check\", then \"rlctl rpc daemon.reload\".\n\n"
	    "# The agent of runs that name none with --agent.\ndefault_agent = ");
	choice_quote(out, choice->agent->name);
	buf_adds(out, "\n\n[review]\n"
	    "# Review each result, and have findings fixed and reviewed again. --no-review: not this run.\n"
	    "enabled = true\n");
	if (choice->reviewer != choice->agent) {
		buf_adds(out, "# Another program judges the work than the one that did it.\nagent = ");
		choice_quote(out, choice->reviewer->name);
		buf_adds(out, "\n");
	} else {
		buf_adds(out, "# The same agent reviews, in a conversation of its own. A second program sees more:\n"
		    "# agent = \"NAME\"\n");
	}
	add_program(out, choice->agent);
	if (choice->reviewer != choice->agent)
		add_program(out, choice->reviewer);
}

/* Where the values of a key go, and what they are for. */
static const struct {
	const char *table, *name, *comment;
} keys[PROPOSAL_KEYS] = {
	[PROPOSAL_SETUP] = { "run", "setup", "Run in each new work tree and review room, before anything else." },
	[PROPOSAL_COPY] = { "run", "copy", "Files that git ignores, copied there. Agents can read them." },
	[PROPOSAL_CHECK] = { "review", "checks", "Must succeed before each review; a failure goes to the fixer." },
};

static void add_key(struct buf *out, enum proposal_key key, const struct proposal *proposals, const bool *missing,
    size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any = any || (proposals[i].key == key && !missing[i]);
	buf_addf(out, "# %s\n%s%s = [\n", keys[key].comment, any ? "" : "# ", keys[key].name);
	for (size_t i = 0; i < count; i++) {
		if (proposals[i].key != key)
			continue;
		buf_adds(out, missing[i] ? "#   " : "    ");
		choice_quote(out, proposals[i].value);
		buf_addf(out, key == PROPOSAL_COPY ? ",    # git ignores %s" : ",    # because of %s",
		    proposals[i].where);
		if (missing[i])
			buf_addf(out, "; but %s is not on your PATH", proposals[i].program);
		buf_adds(out, "\n");
	}
	buf_addf(out, "%s]\n", any ? "" : "# ");
}

void choice_project(struct buf *out, const struct proposal *proposals, const bool *missing, size_t count)
{
	const char *table = "";

	buf_adds(out, "# Settings of rld for runs in this directory, by \"rlctl init\". Commit this file.\n"
	    "# After a change: \"rlctl config check .rld.toml\".\n");
	for (enum proposal_key key = 0; key < PROPOSAL_KEYS; key++) {
		size_t of_key = 0;

		for (size_t i = 0; i < count; i++)
			of_key += proposals[i].key == key;
		if (of_key == 0)
			continue;
		if (strcmp(table, keys[key].table) != 0)
			buf_addf(out, "\n[%s]\n", keys[key].table);
		table = keys[key].table;
		add_key(out, key, proposals, missing, count);
	}
}
