/* SPDX-License-Identifier: MIT */
/* rlctl web: pages of runs in a browser, and the decisions that wait. One thread: HTTP, the daemon
 * and signals are polled together. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "client/web/daemon_link.h"
#include "client/web/web_server.h"
#include "proto/clock.h"
#include "proto/memory.h"

#define PING_MS 15000	/* between two signs of life on each stream */

struct web {
	struct client *client;
	struct daemon_link link;
	struct server server;
	int64_t pinged;
	int input;		/* a terminal, -1: none */
};

static void web_changed(void *arg, int64_t run)
{
	struct web *w = arg;

	if (w->server.http != NULL)
		streams_change(&w->server.streams, run, link_is_there(&w->link));
}

static void web_tell(const struct web *w)
{
	char *address = server_address(&w->server);
	json_t *document;

	if (w->client->json) {
		document = json_pack("{s:s}", "address", address);
		print_json(&w->client->out, document);
		json_decref(document);
	} else {
		fprintf(w->client->out.file, "%s\n", address);
		message_note("open this address in a browser: it opens one session. %sCtrl-C ends the server.",
		    w->input != -1 ? "Enter prints another one, " : "");
	}
	fflush(w->client->out.file);
	free(address);
}

/* Enter: a new address. */
static void web_read_key(struct web *w)
{
	char bytes[256];

	/* a program in the background that reads would be stopped */
	if (tcgetpgrp(w->input) != getpgrp() || read(w->input, bytes, sizeof(bytes)) <= 0) {
		w->input = -1;
		return;
	}
	sessions_renew(&w->server.sessions);
	web_tell(w);
}

/* Time until the next ping; it is sent if it is due. */
static int web_ping(struct web *w)
{
	int64_t now = clock_steady();

	if (now >= w->pinged + PING_MS) {
		streams_ping(&w->server.streams);
		w->pinged = now;
	}
	return (int)(w->pinged + PING_MS - now);
}

static int web_sooner(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

/* Returns when a signal asks for the end. */
static void web_loop(struct web *w, int end)
{
	for (;;) {
		int wait = web_sooner(link_work(&w->link), web_ping(w));
		struct pollfd p[4];

		server_run(&w->server);
		/* the calls of requests may have read events, which poll() would not report */
		link_work(&w->link);
		server_run(&w->server);
		wait = web_sooner(wait, server_wait(&w->server));
		p[0] = (struct pollfd){ .fd = end, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = server_fd(&w->server), .events = POLLIN };
		p[2] = (struct pollfd){ .fd = link_fd(&w->link), .events = POLLIN };
		p[3] = (struct pollfd){ .fd = w->input, .events = POLLIN };
		if (poll(p, ARRAY_SIZE(p), wait) == -1)
			continue;
		if (p[0].revents != 0)
			return;
		if (p[3].revents != 0)
			web_read_key(w);
	}
}

/* These signals end the server in good order. */
static int web_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd == -1)
		message_die("signalfd");
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return fd;
}

/* Returns the port, or -1 after a message. */
static int web_port(const struct client *c)
{
	const json_t *given = json_object_get(c->options.values, "port");

	if (json_integer_value(given) > UINT16_MAX) {
		message_error("--port: a port is at most %d", UINT16_MAX);
		return -1;
	}
	return (int)json_integer_value(given);
}

int web_command(struct client *c)
{
	struct web w = { .client = c, .input = isatty(STDIN_FILENO) ? STDIN_FILENO : -1, .pinged = clock_steady() };
	int port = web_port(c), end, status, failure;

	if (port == -1)
		return EXIT_USAGE;
	/* before signals are caught: this may start a daemon */
	status = client_connect(c);
	if (status != 0)
		return status;
	end = web_catch_signals();
	w.link = (struct daemon_link){ .changed = web_changed, .arg = &w };
	status = link_init(&w.link, c, end);
	failure = status == 0 ? server_start(&w.server, (in_port_t)port, &w.link) : 0;
	if (failure != 0) {
		message_error("127.0.0.1:%d: %s", port, strerror(-failure));
		status = EXIT_REFUSED;
	} else if (status == 0) {
		web_tell(&w);
		web_loop(&w, end);
		server_stop(&w.server);
	}
	link_release(&w.link);
	close(end);
	return status;
}
