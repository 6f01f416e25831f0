/* SPDX-License-Identifier: MIT */
/* Start rld (on demand, or to validate a file), git, ssh, ssh-keygen, and programs that print their
 * version. Only this file of the client starts processes. */
#ifndef CLIENT_SPAWN_PROGRAM_H
#define CLIENT_SPAWN_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/memory.h"

/* Only one rlctl at a time starts a daemon; others wait here and then find it. Returns a descriptor
 * to close, or -1 after a message. */
int start_lock(const char *state_dir);

/* Start a daemon of the user, wait until it is ready, and say so on stderr. Returns 0, or an exit
 * code after printing the daemon's messages. */
int start_daemon(const char *state_dir);

/* Run "rld --check-config" with the given file, if any. Returns its exit code, or another one after
 * a message. */
int start_config_check(const char *file);

/* Run rld with these options (NULL last), whose output goes to output; with_errors: also what it
 * writes to stderr. Returns its exit code, or -1 after a message. */
int start_rld(const char *const *options, struct buf *output, bool with_errors);

/* A program to be found on PATH. */
struct program {
	const char *const *argv;	/* argv[0] first, NULL last */
	const char *const *dropped;	/* prefixes of variables that it does not get; NULL: none */
	const char *const *more;	/* "K=V" that it gets besides; NULL: none */
	const char *input;		/* file that it reads; NULL: no input */
	struct buf *output;		/* takes its output; NULL: that goes to stderr */
	bool quiet;			/* its messages are not shown; else its stderr is ours */
	bool with_errors;		/* output takes its stderr as well */
	int ms;				/* it is killed after that time; 0: no limit. With output */
};

/* Run it, and wait for its end. Returns its exit code, or -1 after a message. */
int start_program(const struct program *program);

/* Run git with these words (argv[0] first, NULL last). Variables about repositories are removed
 * from the environment; more: NULL-terminated "K=V" to add. git's output goes to output, or to
 * stderr if that is NULL; it gets no input, and its stderr is ours. Returns its exit code, or -1
 * after a message. */
int start_git(const char *const *argv, const char *const *more, struct buf *output);

/* ssh to another machine. */
struct ssh {
	pid_t pid;
	int fd;			/* a socket: its input and output */
	int words;		/* a file in memory that takes its stderr */
	bool batch;		/* it was told to ask for nothing */
};

/* Start argv[0] with fd and words. Ctrl-C does not end it: that is for rlctl alone. It ends when fd
 * is closed. Returns 0 or an errno. */
int start_ssh(const char *const *argv, struct ssh *ssh);

/* After fd was closed: wait for its end, which is enforced if it takes long. Returns its status, as
 * waitpid() does. */
int start_ssh_end(const struct ssh *ssh);

/* Start "path --version" in this environment and in a separate process group, without input,
 * writing to output and errors. Returns 0 or an errno. */
int start_version(const char *path, char *const *environment, int output, int errors, pid_t *pid);

#endif
