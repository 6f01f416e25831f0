/* SPDX-License-Identifier: MIT */
/* The argv and environment of one git process: fixed words, no shell, and nothing of the
 * repository's configuration that would run a program. */
#ifndef GIT_COMMAND_H
#define GIT_COMMAND_H

struct git_command {
	char **argv;	/* owned, NULL-terminated */
	char **env;	/* owned, NULL-terminated "K=V" */
};

/* git in workspace/inside (NULL: workspace itself) with the words of args, NULL-terminated. index:
 * the private index file that takes the place of the user's, NULL: the user's own. What the struct
 * held is freed. */
void git_command_set(struct git_command *command, const char *workspace, const char *inside,
    const char *index, const char *const *args);

/* The same for `git commit`: the repository's hooks run, and nothing that could ask somebody gets
 * to. */
void git_command_set_hooked(struct git_command *command, const char *workspace, const char *index,
    const char *const *args);

/* The same for what runs the repository's filters, and no hook. */
void git_command_set_filtered(struct git_command *command, const char *workspace, const char *index,
    const char *const *args);

/* Neither the user's configuration nor that of the system is read. */
void git_command_set_alone(struct git_command *command);

/* Commits are by author and committer "rld <rld@localhost>". */
void git_command_set_ident(struct git_command *command);

/* One more word. */
void git_command_add(struct git_command *command, const char *word);

void git_command_release(struct git_command *command);

#endif
