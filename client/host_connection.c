/* SPDX-License-Identifier: MIT */
#include "client/host_connection.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/connect.h"
#include "client/exit.h"
#include "client/host.h"
#include "client/message.h"
#include "client/silence.h"
#include "client/spawn_program.h"
#include "proto/call.h"
#include "proto/memory.h"

#define OURS "rlctl: "		/* begins what rlctl prints there */
#define WORDS_MAX (64 * 1024)
#define SSH_FAILED 255		/* exit statuses: of ssh itself, and of a shell */
#define NOT_FOUND 127

/* What ssh and rlctl there have printed. The caller frees. */
static char *read_words(int fd)
{
	char *text = xcalloc(1, WORDS_MAX + 1);
	ssize_t n = pread(fd, text, WORDS_MAX, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* The next line that is not empty, without its carriage return; NULL: none is left. */
static char *next_line(char **rest)
{
	char *line;

	do
		line = strsep(rest, "\n");
	while (line != NULL && strspn(line, " \t\r") == strlen(line));
	if (line != NULL)
		line[strcspn(line, "\r")] = '\0';
	return line;
}

static void hint_lines(char *rest)
{
	char *line;

	while ((line = next_line(&rest)) != NULL)
		message_hint("%s", line);
}

/* rlctl there may have started a daemon, for example. */
static void pass_on(const struct host *host, char *rest)
{
	char *line;

	while ((line = next_line(&rest)) != NULL)
		if (strncmp(line, OURS, strlen(OURS)) == 0)
			message_note("%s: %s", host->target, line + strlen(OURS));
}

static void explain_ssh(const struct host *host, char *words, bool batch)
{
	bool asks = batch && (strstr(words, "Permission denied") != NULL ||
	    strstr(words, "verification failed") != NULL);

	message_error("ssh cannot connect to %s", host->target);
	hint_lines(words);
	if (asks)
		message_hint("without a terminal, ssh asks for nothing: run \"ssh %s\" once in a terminal, or load "
		    "your key with ssh-add", host->target);
}

/* What rlctl there says is the message; its further lines help. */
static void explain_rlctl(const struct host *host, char *words)
{
	char *line = next_line(&words);

	message_error("%s: %s", host->target, line + strlen(OURS));
	hint_lines(words);
}

/* status: of waitpid(). why: what the connection says. */
static void explain(const struct host *host, int status, char *words, bool batch, const struct call_error *why)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (code == SSH_FAILED) {
		explain_ssh(host, words, batch);
	} else if (code == NOT_FOUND) {
		message_error("%s has no rlctl, or not on the PATH of a command run by ssh", host->target);
		message_hint("install rld there; \"ssh %s 'echo $PATH'\" shows where it is looked for", host->target);
	} else if (strstr(words, "unknown command relay") != NULL) {
		message_error("rlctl on %s is too old for --host", host->target);
		message_hint("install rld " RLD_VERSION " there");
	} else if (strncmp(words, OURS, strlen(OURS)) == 0) {
		explain_rlctl(host, words);
	} else {
		message_error("%s: what answers is not the daemon: %s", host->target, why->message);
		message_hint("\"ssh %s true\" must print nothing: start-up files of the shell may", host->target);
		hint_lines(words);
	}
}

/* A descriptor that is readable after Ctrl-C, which then does not end rlctl; old: the mask to
 * restore. */
static int hold_interrupts(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, old);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int greet(const struct host *host, const struct ssh *ssh, bool quiet, struct call_conn **conn, json_t **hello)
{
	struct call_error why;
	sigset_t old;
	int interrupts = hold_interrupts(&old), result = 0;
	char *words;

	*conn = call_over(ssh->fd);
	call_give_up_on(*conn, interrupts);
	if (ssh->batch)		/* else ssh may be asking the user */
		silence_watch(*conn, host);
	*hello = call_method(*conn, "daemon.hello", json_pack("{s:s, s:i, s:i}", "client", "rlctl " RLD_VERSION, "min",
	    CONNECT_PROTOCOL, "max", CONNECT_PROTOCOL), &why);
	call_give_up_on(*conn, -1);
	if (interrupts != -1)
		close(interrupts);
	words = read_words(ssh->words);
	if (*hello == NULL) {
		int status;

		call_close(*conn);
		*conn = NULL;
		status = start_ssh_end(ssh);
		free(words);
		words = read_words(ssh->words);
		result = why.code != 0 ? EXIT_REFUSED : EXIT_NO_DAEMON;
		/* after Ctrl-C, rlctl ends here */
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		if (!quiet && why.code != 0)
			message_refused(&why, NULL, false);
		else if (!quiet)
			explain(host, status, words, ssh->batch, &why);
	} else {
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		silence_watch(*conn, host);
		if (!quiet)
			pass_on(host, words);
	}
	free(words);
	return result;
}

int host_connect(const struct host *host, const char *command, bool quiet, struct call_conn **conn,
    json_t **hello)
{
	struct ssh ssh = { .batch = quiet || !isatty(STDERR_FILENO) };
	const char **argv = host_argv(host, command, ssh.batch);
	int failure = start_ssh(argv, &ssh), status;

	free(argv);
	if (failure != 0) {
		if (!quiet)
			message_error("cannot start ssh: %s", strerror(failure));
		if (!quiet && failure == ENOENT)
			message_hint("install an ssh client, such as openssh-client");
		return EXIT_NO_DAEMON;
	}
	status = greet(host, &ssh, quiet, conn, hello);
	close(ssh.words);
	return status;
}
