/* SPDX-License-Identifier: MIT */
#include "client/connect.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "client/exit.h"
#include "client/memory.h"
#include "client/place.h"
#include "client/start.h"
#include "proto/call.h"
#include "proto/error.h"

enum attempt_result {
	ATTEMPT_CONNECTED,
	ATTEMPT_SILENT,		/* nobody answers there */
	ATTEMPT_CLOSED_TO_US,	/* somebody answers, but not us */
	ATTEMPT_REFUSED		/* the daemon does not speak our protocol */
};

/* why: what to tell when this was the last hope. */
static enum attempt_result attempt(const char *path, struct call_conn **conn, json_t **hello, struct call_error *why)
{
	json_t *params;
	int failure = call_connect(path, conn);

	memset(why, 0, sizeof *why);
	if (failure != 0) {
		strlcpy(why->message, strerror(-failure), sizeof why->message);
		return ATTEMPT_SILENT;
	}
	params = json_pack("{s:s, s:i, s:i}", "client", "rlctl " RLD_VERSION, "min", CLIENT_PROTOCOL, "max", CLIENT_PROTOCOL);
	*hello = call_method(*conn, "daemon.hello", params, why);
	if (*hello != NULL)
		return ATTEMPT_CONNECTED;
	call_close(*conn);
	*conn = NULL;
	if (why->code == 0)
		return ATTEMPT_SILENT;
	return why->code == RPC_NOT_PERMITTED ? ATTEMPT_CLOSED_TO_US : ATTEMPT_REFUSED;
}

bool connect_again(const char *path, struct call_conn **conn, json_t **hello)
{
	struct call_error why;

	return attempt(path, conn, hello, &why) == ATTEMPT_CONNECTED;
}

static int connect_named(const char *path, struct call_conn **conn, json_t **hello, char **found)
{
	struct call_error why;

	switch (attempt(path, conn, hello, &why)) {
	case ATTEMPT_CONNECTED:
		*found = mem_strdup(path);
		return 0;
	case ATTEMPT_SILENT:
		warnx("no daemon answers at %s: %s; start one with \"rld --socket %s\", or name another socket", path, why.message, path);
		return EXIT_NO_DAEMON;
	case ATTEMPT_CLOSED_TO_US:
	case ATTEMPT_REFUSED:
		break;
	}
	client_tell(&why, NULL);
	return EXIT_REFUSED;
}

/* A daemon of somebody else's that does not let us in counts as none. */
static enum attempt_result search(char *const *sockets, struct call_conn **conn, json_t **hello, char **found, struct call_error *why)
{
	for (; *sockets != NULL; sockets++) {
		enum attempt_result result = attempt(*sockets, conn, hello, why);

		if (result == ATTEMPT_CONNECTED)
			*found = mem_strdup(*sockets);
		if (result == ATTEMPT_CONNECTED || result == ATTEMPT_REFUSED)
			return result;
	}
	return ATTEMPT_SILENT;
}

static void tell_silence(char *const *sockets)
{
	warnx("no daemon answers; start one with \"rld\", or by a command such as \"rlctl list\" without --no-start. Looked at:");
	for (; *sockets != NULL; sockets++)
		fprintf(stderr, "  %s\n", *sockets);
}

/* Under the lock, look again before starting: the one that held it may just have started a daemon. */
static int start_and_connect(char *const *sockets, struct call_conn **conn, json_t **hello, char **found, struct call_error *why)
{
	char *state = place_state_dir();
	int lock = start_lock(state), status = EXIT_NO_DAEMON;

	if (lock == -1)
		goto out;
	status = 0;
	if (search(sockets, conn, hello, found, why) == ATTEMPT_CONNECTED)
		goto out;
	status = start_daemon(state);
	/* It also ends when another daemon, started by hand, holds the state: then that one answers. */
	if (search(sockets, conn, hello, found, why) == ATTEMPT_CONNECTED) {
		if (status != 0)
			warnx("going on with the daemon that answers");
		status = 0;
	} else if (status == 0) {
		warnx("rld has started but does not answer: %s", why->message);
		status = EXIT_NO_DAEMON;
	}
out:
	if (lock != -1)
		close(lock);
	free(state);
	return status;
}

int connect_daemon(const char *named, bool may_start, struct call_conn **conn, json_t **hello, char **path)
{
	struct call_error why;
	char **sockets;
	int status = 0;

	if (named != NULL)
		return connect_named(named, conn, hello, path);
	sockets = place_sockets();
	switch (search(sockets, conn, hello, path, &why)) {
	case ATTEMPT_CONNECTED:
		break;
	case ATTEMPT_SILENT:
	case ATTEMPT_CLOSED_TO_US:
		if (may_start) {
			status = start_and_connect(sockets, conn, hello, path, &why);
		} else {
			tell_silence(sockets);
			status = EXIT_NO_DAEMON;
		}
		break;
	case ATTEMPT_REFUSED:
		client_tell(&why, NULL);
		status = EXIT_REFUSED;
		break;
	}
	place_sockets_free(sockets);
	return status;
}
