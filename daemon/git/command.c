/* SPDX-License-Identifier: MIT */
#include "git/command.h"

#include <stdlib.h>

#include "base/memory.h"

/* System and user configuration stay in force: safe.directory and the user's excludes file live there. */
static const char *const settings[] = {
	"--no-pager",
	"--no-replace-objects",			/* a tree id means that tree */
	"-c", "core.fsmonitor=false",		/* may name a program */
	"-c", "core.hooksPath=/dev/null",	/* post-index-change, reference-transaction */
	"-c", "core.splitIndex=false",		/* would leave a shared index in the user's .git */
	"-c", "core.quotePath=false",		/* names in a patch as they are */
	NULL
};

static const char *const environment[] = {
	"LC_ALL=C",			/* messages that we read */
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_NO_LAZY_FETCH=1",		/* a partial clone asks nobody for objects */
	NULL
};

void git_command_set(struct git_command *command, const char *workspace, const char *inside, const char *index, const char *const *args)
{
	git_command_release(command);
	git_command_add(command, "git");
	git_command_add(command, "-C");
	git_command_add(command, workspace);
	if (inside != NULL) {
		git_command_add(command, "-C");
		git_command_add(command, inside);
	}
	for (size_t i = 0; settings[i] != NULL; i++)
		git_command_add(command, settings[i]);
	for (size_t i = 0; args[i] != NULL; i++)
		git_command_add(command, args[i]);
	for (size_t i = 0; environment[i] != NULL; i++)
		strings_append(&command->env, environment[i]);
	if (index != NULL) {
		char *text = xasprintf("GIT_INDEX_FILE=%s", index);

		strings_append(&command->env, text);
		free(text);
	}
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
