/* SPDX-License-Identifier: MIT */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

struct filling {
	const char *name;	/* including its braces */
	const char *value;	/* NULL: none */
};

/* The placeholder at p, NULL: none. */
static const struct filling *filling_at(const struct filling *fillings, const char *p)
{
	for (; fillings->name != NULL; fillings++) {
		if (strncmp(p, fillings->name, strlen(fillings->name)) == 0)
			return fillings;
	}
	return NULL;
}

/* A word of the template with its placeholders filled in; NULL if one has no value. malloc'd. */
static char *fill(const char *word, const struct filling *fillings)
{
	const struct filling *f;
	struct buf out = { 0 };

	while (*word != '\0') {
		f = filling_at(fillings, word);
		if (f == NULL) {
			buf_add(&out, word++, 1);
			continue;
		}
		if (f->value == NULL) {
			buf_release(&out);
			return NULL;
		}
		buf_adds(&out, f->value);
		word += strlen(f->name);
	}
	return buf_take(&out, NULL);
}

/* Whether the word is a single placeholder. */
static bool is_placeholder(const char *word, const struct filling *fillings)
{
	const struct filling *f = filling_at(fillings, word);

	return f != NULL && word[strlen(f->name)] == '\0';
}

/* Drop the last word if it is an option, but never the program itself. */
static void drop_option(char **argv)
{
	size_t n = strings_count(argv);

	if (n < 2 || argv[n - 1][0] != '-')
		return;
	free(argv[n - 1]);
	argv[n - 1] = NULL;
}

/* A command with {session} needs no additional words. */
static bool has_session(char *const *words)
{
	while (*words != NULL && strstr(*words, "{session}") == NULL)
		words++;
	return *words != NULL;
}

static void fill_words(char ***argv, char *const *words, const struct filling *fillings)
{
	for (; *words != NULL; words++) {
		char *word = fill(*words, fillings);

		if (word != NULL)
			strings_append(argv, word);
		else if (is_placeholder(*words, fillings))
			drop_option(*argv);
		free(word);
	}
}

char **agent_argv(const struct agent_plan *agent, const char *prompt, const char *prompt_file, const char *session)
{
	const struct filling fillings[] = {
		{ "{model}", agent->model },
		{ "{session}", session },
		{ "{prompt_file}", prompt_file },
		{ NULL, NULL },
	};
	char **argv = NULL, *word;

	fill_words(&argv, agent->command, fillings);
	if (session != NULL && agent->resume != NULL && !has_session(agent->command))
		fill_words(&argv, agent->resume, fillings);
	if (agent->prompt == PROMPT_ARG && prompt != NULL) {
		word = xasprintf("%s%s", prompt[0] == '-' ? "\n" : "", prompt);
		strings_append(&argv, word);
		free(word);
	}
	return argv;
}
