/* SPDX-License-Identifier: MIT */
#include "client/completion_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/completion_ids.h"
#include "client/host.h"
#include "proto/memory.h"

/* What a name in the usage of a command stands for: a list of the daemon, or the words themselves.
 * command NULL: of any. */
static const struct {
	const char *command, *name, *kind, *words;
} names[] = {
	{ NULL, "RUN", "RUN", NULL },
	{ NULL, "RUN[/ATTEMPT]", "RUN/ATTEMPT", NULL },
	{ NULL, "RUN[/TASK]", "RUN/TASK", NULL },
	{ "hold", "ID", "HOLD", NULL },
	{ "salvage", "ID", "SALVAGE", NULL },
	{ "group", "NAME", "GROUP", NULL },
	{ "cooldown", "NAME", "ACCOUNT", NULL },
	{ NULL, "GROUP", "GROUP", NULL },
	{ NULL, "METHOD", "METHOD", NULL },
	{ NULL, "FILE", "FILES", NULL },
	{ NULL, "DIR", "DIRECTORIES", NULL },
	{ NULL, "PATH", "FILES", NULL },
	{ NULL, "ROLE", NULL, "implement|review|fix" },
};

/* Options that take the name of an agent. */
#define AGENT_OPTIONS "agent|reviewer-agent|fixer-agent"

/* The place to complete. */
struct place {
	struct client *c;
	const char *prefix;	/* the word so far */
	const char *before;	/* put in front of each word: "--color=", or "" */
};

static void offer(void *arg, const char *word, const char *what)
{
	const struct place *p = arg;

	if (strncmp(word, p->prefix, strlen(p->prefix)) == 0)
		fprintf(p->c->out.file, "%s%s\t%s\n", p->before, word, what);
}

static void offer_words(struct place *p, const char *words)
{
	char *copy = xstrdup(words), *rest = copy;

	while (rest != NULL)
		offer(p, strsep(&rest, "|"), "");
	free(copy);
}

static void offer_kind(struct place *p, const char *kind)
{
	if (strcmp(kind, "FILES") == 0)
		fputs(":files\n", p->c->out.file);
	else if (strcmp(kind, "DIRECTORIES") == 0)
		fputs(":directories\n", p->c->out.file);
	else
		completion_ids(p->c, kind, p->prefix, offer, p);
}

/* A name of the usage, without "[", "]" and "..." around it. */
static void offer_name(struct place *p, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i].name, name) != 0 ||
		    (names[i].command != NULL &&
		    (p->c->command == NULL || strcmp(names[i].command, p->c->command->name) != 0)))
			continue;
		if (names[i].words != NULL)
			offer_words(p, names[i].words);
		else
			offer_kind(p, names[i].kind);
		return;
	}
}

static void offer_commands(struct place *p)
{
	for (const struct command *command = p->c->commands; command->name != NULL; command++)
		offer(p, command->name, command->help);
}

static void offer_options(struct place *p, const struct option_row *rows)
{
	for (; rows != NULL && rows->name != NULL; rows++) {
		char *word = xasprintf("--%s", rows->name);

		offer(p, word, rows->help);
		free(word);
	}
}

static void offer_value(struct place *p, const struct option_row *row)
{
	static const char *const kinds[] = {
		[OPTION_SOURCE] = "FILES", [OPTION_FILE] = "FILES", [OPTION_CONTENT] = "FILES",
		[OPTION_FILE_OR_NONE] = "FILES",
		[OPTION_NEW_FILE] = "FILES", [OPTION_PROGRAM] = "FILES", [OPTION_DIRECTORY] = "DIRECTORIES",
		[OPTION_MAYBE_DIRECTORY] = "DIRECTORIES",
	};

	if (row->kind == OPTION_CHOICE)
		offer_words(p, row->argument);
	else if (kinds[row->kind] != NULL)
		offer_kind(p, kinds[row->kind]);
	else if (options_is_choice(AGENT_OPTIONS, row->name))
		offer_kind(p, "AGENT");
	else if (row->argument != NULL)
		offer_name(p, row->argument);
	if (row->kind == OPTION_FILE_OR_NONE)
		offer(p, "none", "");
}

/* The row of "--name", "--name=..." or "-n"; NULL: none. */
static const struct option_row *find_option(const struct place *p, const char *word)
{
	const struct option_row *lists[] = { options_common, p->c->command != NULL ? p->c->command->options : NULL };
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		for (const struct option_row *row = lists[i]; row != NULL && row->name != NULL; row++) {
			if (word[1] == '-' ? strlen(row->name) == length - 2 &&
			    strncmp(row->name, word + 2, length - 2) == 0
			                   : word[1] == row->letter && row->letter != 0 && word[2] == '\0')
				return row;
		}
	}
	return NULL;
}

/* Whether the word after this one is its argument. */
static bool takes_word(const struct option_row *row, const char *word)
{
	return row != NULL && row->argument != NULL && row->kind != OPTION_MAYBE_TEXT &&
	    row->kind != OPTION_MAYBE_DIRECTORY && strchr(word, '=') == NULL;
}

/* The next part of a usage: up to a space that is in no bracket. Returns what follows. */
static const char *usage_part(const char *usage, char **part)
{
	const char *end = usage;
	int depth = 0;

	while (*end != '\0' && (*end != ' ' || depth > 0)) {
		depth += (*end == '[') - (*end == ']');
		end++;
	}
	*part = xasprintf("%.*s", (int)(end - usage), usage);
	return end + (*end == ' ');
}

/* Remove "..." and an outer pair of brackets. Returns whether it was "...". */
static bool strip(char *part)
{
	size_t length = strlen(part);
	bool many = length > 3 && strcmp(part + length - 3, "...") == 0;

	if (many)
		part[length -= 3] = '\0';
	if (part[0] == '[' && part[length - 1] == ']') {
		memmove(part, part + 1, length - 2);
		part[length - 2] = '\0';
	}
	return many;
}

/* The arguments before the place fit this alternative of the usage: offer what comes next. */
static void offer_alternative(struct place *p, const char *usage, char *const *given, size_t count)
{
	size_t at = 0;

	while (*usage != '\0') {
		char *part;
		bool many, action;

		usage = usage_part(usage, &part);
		if (strcmp(part, "[options]") == 0) {
			free(part);
			continue;
		}
		many = strip(part);
		action = islower((unsigned char)part[0]) && strchr(part, '=') == NULL;
		if (at == count || (many && at < count)) {
			if (action)
				offer_words(p, part);
			else
				offer_name(p, part);
			free(part);
			return;
		}
		if (action && !options_is_choice(part, given[at])) {
			free(part);
			return;
		}
		free(part);
		at++;
	}
}

static void offer_arguments(struct place *p, char *const *given, size_t count)
{
	char *copy = xstrdup(p->c->command->usage), *next = copy;

	while (next != NULL) {
		char *usage = next, *bar = strstr(next, " | ");

		next = bar != NULL ? bar + 3 : NULL;
		if (bar != NULL)
			*bar = '\0';
		offer_alternative(p, usage, given, count);
	}
	free(copy);
}

/* An option that is given also counts here: which daemon to ask. */
static void take_option(struct place *p, const struct option_row *row, const char *value)
{
	if (row != NULL && options_is_choice("socket|host", row->name))
		json_object_set_new(p->c->options.values, row->name, json_string(value));
}

static const struct command *find_command(const struct client *c, const char *name)
{
	for (const struct command *command = c->commands; command->name != NULL; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

/* Join "--name", "=", "value" to "--name=value" in place. bash: the last word is only "value". */
static bool join_equals(char **words, size_t *count)
{
	bool apart = false;
	size_t n = 0;

	for (size_t i = 0; i < *count; i++) {
		if (n > 0 && strcmp(words[i], "=") == 0 && strncmp(words[n - 1], "--", 2) == 0) {
			bool more = i + 1 < *count;

			words[n - 1] = xasprintf("%s=%s", words[n - 1], more ? words[i + 1] : "");
			apart = i + 2 >= *count;
			i += more;
		} else {
			words[n++] = words[i];
		}
	}
	*count = n;
	return apart;
}

void completion_words(struct client *c, char **words, size_t count)
{
	bool apart = join_equals(words, &count), plain = false;
	const char *last = count > 0 ? words[count - 1] : "", *equals;
	struct place p = { c, last, "" };
	const struct option_row *open = NULL;	/* an option whose argument is next */
	char **given = xcalloc(count + 1, sizeof(*given)), *option = NULL;
	size_t ngiven = 0;

	c->command = NULL;
	for (size_t i = 0; i + 1 < count; i++) {
		if (open != NULL) {
			take_option(&p, open, words[i]);
			open = NULL;
		} else if (!plain && strcmp(words[i], "--") == 0) {
			plain = true;
		} else if (!plain && words[i][0] == '-' && words[i][1] != '\0') {
			open = find_option(&p, words[i]);
			if (!takes_word(open, words[i])) {
				if (strchr(words[i], '=') != NULL)
					take_option(&p, open, strchr(words[i], '=') + 1);
				open = NULL;
			}
		} else if (c->command == NULL) {
			c->command = find_command(c, words[i]);
			if (c->command == NULL) {
				free(given);
				return;
			}
		} else {
			given[ngiven++] = words[i];
		}
	}
	equals = strchr(last, '=');
	host_free(p.c->host);
	p.c->host = NULL;
	if (client_set_host(p.c) != 0) {
		free(given);
		return;
	}
	if (open != NULL) {
		offer_value(&p, open);
	} else if (!plain && last[0] == '-' && last[1] == '-' && equals != NULL) {
		open = find_option(&p, last);
		option = xmemdup0(last, (size_t)(equals + 1 - last));
		p.before = apart ? "" : option;
		p.prefix = equals + 1;
		if (open != NULL)
			offer_value(&p, open);
	} else if (!plain && last[0] == '-') {
		offer_options(&p, c->command != NULL ? c->command->options : NULL);
		offer_options(&p, options_common);
	} else if (c->command == NULL) {
		offer_commands(&p);
	} else if (strcmp(c->command->name, "help") == 0 && ngiven == 0) {
		offer_commands(&p);
	} else {
		offer_arguments(&p, given, ngiven);
	}
	free(option);
	free(given);
}
