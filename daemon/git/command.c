/* SPDX-License-Identifier: MIT */
#include "git/command.h"

#include <stdlib.h>

#include "proto/memory.h"

/* System and user configuration stay in effect: they contain safe.directory and the user's excludes
 * file. */
static const char *const settings[] = {
	"--no-pager",
	"--no-replace-objects",			/* a tree id means exactly that tree */
	"-c", "core.fsmonitor=false",		/* may name a program */
	"-c", "core.splitIndex=false",		/* would leave a shared index in the user's .git */
	"-c", "core.quotePath=false",		/* names in a patch unchanged */
	NULL
};

static const char *const environment[] = {
	"LC_ALL=C",			/* messages that rl-git parses */
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_NO_LAZY_FETCH=1",		/* do not fetch missing objects of a partial clone */
	NULL
};

/* Each object and ref is complete on the disk before it gets its name, so that a power cut damages
 * none. The private index is temporary. */
static const char *const synced[] = { "-c", "core.fsync=committed,reference", NULL };
static const char *const synced_index[] = { "-c", "core.fsync=added,reference", NULL };

static const char *const unhooked_settings[] = {
	"-c", "core.hooksPath=/dev/null",	/* post-index-change, reference-transaction */
	NULL
};

static const char *const hooked_settings[] = {
	/* no maintenance after a commit, or after those of its hooks */
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	NULL
};

static const char *const filtered_settings[] = {
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.safecrlf=false",		/* would refuse content of the user's own tree */
	"-c", "submodule.recurse=false",
	NULL
};

/* Prompts for a passphrase fail immediately; the user's key agent works as usual. */
static const char *const silent_environment[] = {
	"GIT_EDITOR=:",
	"GIT_ASKPASS=/bin/false",
	"SSH_ASKPASS=/bin/false",
	"SSH_ASKPASS_REQUIRE=never",
	"GPG_TTY=",
	"DISPLAY=",
	"WAYLAND_DISPLAY=",
	NULL
};

static const char *const alone[] = {
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_COUNT=0",
	"GIT_CONFIG_PARAMETERS=",
	"GIT_ATTR_NOSYSTEM=1",
	NULL
};

static const char *const ident[] = {
	"GIT_AUTHOR_NAME=rld",
	"GIT_AUTHOR_EMAIL=rld@localhost",
	"GIT_COMMITTER_NAME=rld",
	"GIT_COMMITTER_EMAIL=rld@localhost",
	NULL
};

static void add_all(char ***list, const char *const *more)
{
	for (size_t i = 0; more[i] != NULL; i++)
		strings_append(list, more[i]);
}

static void set(struct git_command *command, const char *workspace, const char *inside, const char *index,
    const char *const *more_settings, const char *const *args)
{
	git_command_release(command);
	git_command_add(command, "git");
	git_command_add(command, "-C");
	git_command_add(command, workspace);
	if (inside != NULL) {
		git_command_add(command, "-C");
		git_command_add(command, inside);
	}
	add_all(&command->argv, settings);
	add_all(&command->argv, index != NULL ? synced : synced_index);
	add_all(&command->argv, more_settings);
	add_all(&command->argv, args);
	add_all(&command->env, environment);
	if (index != NULL) {
		char *text = xasprintf("GIT_INDEX_FILE=%s", index);

		strings_append(&command->env, text);
		free(text);
	}
}

void git_command_set(struct git_command *command, const char *workspace, const char *inside,
    const char *index, const char *const *args)
{
	set(command, workspace, inside, index, unhooked_settings, args);
}

void git_command_set_hooked(struct git_command *command, const char *workspace, const char *index,
    const char *const *args)
{
	set(command, workspace, NULL, index, hooked_settings, args);
	add_all(&command->env, silent_environment);
}

void git_command_set_filtered(struct git_command *command, const char *workspace, const char *index,
    const char *const *args)
{
	set(command, workspace, NULL, index, filtered_settings, args);
	add_all(&command->env, silent_environment);
}

void git_command_set_alone(struct git_command *command)
{
	add_all(&command->env, alone);
}

void git_command_set_ident(struct git_command *command)
{
	add_all(&command->env, ident);
}

void git_command_add(struct git_command *command, const char *word)
{
	strings_append(&command->argv, word);
}

void git_command_release(struct git_command *command)
{
	strings_free(command->argv);
	strings_free(command->env);
	*command = (struct git_command){ 0 };
}
