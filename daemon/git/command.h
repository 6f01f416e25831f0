/* SPDX-License-Identifier: MIT */
/* argv and environment of a git process: fixed words, no shell, and nothing in the repository's
 * configuration that would run a program. */
#ifndef GIT_COMMAND_H
#define GIT_COMMAND_H

struct git_command {
	char **argv;	/* owned, NULL-terminated */
	char **env;	/* owned, NULL-terminated "K=V" */
};

/* git in workspace/inside (NULL: workspace itself) with the words of args, NULL-terminated. index:
 * a private index file used instead of the user's, NULL: the user's own. Frees the previous content
 * of the struct. */
void git_command_set(struct git_command *command, const char *workspace, const char *inside,
    const char *index, const char *const *args);

/* Likewise for `git commit`: the repository's hooks run, and interactive prompts fail. */
void git_command_set_hooked(struct git_command *command, const char *workspace, const char *index,
    const char *const *args);

/* Likewise for what runs the repository's filters, but no hook. */
void git_command_set_filtered(struct git_command *command, const char *workspace, const char *index,
    const char *const *args);

/* Read neither the user's nor the system's configuration. */
void git_command_set_alone(struct git_command *command);

/* Commits are by author and committer "rld <rld@localhost>". */
void git_command_set_ident(struct git_command *command);

/* Append a word. */
void git_command_add(struct git_command *command, const char *word);

void git_command_release(struct git_command *command);

#endif
