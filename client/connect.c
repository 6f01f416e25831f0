/* SPDX-License-Identifier: MIT */
#include "client/connect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/exit.h"
#include "client/host.h"
#include "client/host_connection.h"
#include "client/message.h"
#include "client/silence.h"
#include "client/sockets.h"
#include "client/spawn_program.h"
#include "proto/call.h"
#include "proto/error.h"
#include "proto/memory.h"

enum attempt_result {
	ATTEMPT_CONNECTED,
	ATTEMPT_SILENT,		/* no daemon answers there */
	ATTEMPT_STUCK,		/* one is there, and gives no sign of life */
	ATTEMPT_UNTRUSTED,	/* the daemon there runs as another user; nothing was sent */
	ATTEMPT_CLOSED_TO_US,	/* the daemon or its socket refuses this user */
	ATTEMPT_REFUSED		/* the daemon speaks another protocol */
};

/* why: message to print if no other socket works. */
static enum attempt_result connect_attempt(const char *path, const struct call_trust *trust, int give_up,
    struct call_conn **conn, json_t **hello, struct call_error *why)
{
	json_t *params;
	uid_t peer;
	int failure = call_connect(path, trust, conn, &peer);

	memset(why, 0, sizeof(*why));
	if (failure == -EPERM) {
		snprintf(why->message, sizeof(why->message),
		    "the daemon at %s runs as uid %u, and you are uid %u; nothing was sent to it",
		    path, (unsigned)peer, (unsigned)geteuid());
		snprintf(why->hint, sizeof(why->hint),
		    "name the socket of your own daemon, or add --trust-uid %u if that user may "
		    "see your environment",
		    (unsigned)peer);
		return ATTEMPT_UNTRUSTED;
	}
	if (failure == -EACCES) {
		snprintf(why->message, sizeof(why->message), "no permission to connect to %s: %s",
		    path, strerror(-failure));
		strlcpy(why->hint, "name the socket of your own daemon", sizeof(why->hint));
		return ATTEMPT_CLOSED_TO_US;
	}
	if (failure != 0) {
		strlcpy(why->message, strerror(-failure), sizeof(why->message));
		return ATTEMPT_SILENT;
	}
	silence_watch(*conn, NULL);
	params = json_pack("{s:s, s:i, s:i}", "client", "rlctl " RLD_VERSION, "min",
	    CONNECT_PROTOCOL, "max", CONNECT_PROTOCOL);
	call_give_up_on(*conn, give_up);
	*hello = call_method(*conn, "daemon.hello", params, why);
	if (*hello != NULL)
		return ATTEMPT_CONNECTED;
	call_close(*conn);
	*conn = NULL;
	if (why->code == 0)
		return why->silent ? ATTEMPT_STUCK : ATTEMPT_SILENT;
	return why->code == RPC_NOT_PERMITTED ? ATTEMPT_CLOSED_TO_US : ATTEMPT_REFUSED;
}

bool connect_again(const struct host *host, const char *path, const struct call_trust *trust, int give_up,
    struct call_conn **conn, json_t **hello)
{
	struct call_error why;

	return host != NULL ? host_connect(host, host->again, true, conn, hello) == 0 :
	    connect_attempt(path, trust, give_up, conn, hello, &why) == ATTEMPT_CONNECTED;
}

bool connect_running(const char *named, const struct call_trust *trust, struct call_conn **conn, json_t **hello,
    char **path)
{
	char **sockets = named == NULL ? sockets_list() : xcalloc(1, sizeof(*sockets));
	bool found = false;

	if (named != NULL)
		strings_append(&sockets, named);
	for (size_t i = 0; sockets[i] != NULL && !found; i++) {
		found = connect_again(NULL, sockets[i], trust, -1, conn, hello);
		if (found)
			*path = xstrdup(sockets[i]);
	}
	sockets_free(sockets);
	return found;
}

bool connect_needs_start(void)
{
	return geteuid() == 0 || sockets_system_unit();
}

static int connect_named(const char *path, const struct call_trust *trust, struct call_conn **conn,
    json_t **hello, char **found)
{
	struct call_error why;

	switch (connect_attempt(path, trust, -1, conn, hello, &why)) {
	case ATTEMPT_CONNECTED:
		*found = xstrdup(path);
		return 0;
	case ATTEMPT_SILENT:
		message_error("no daemon answers at %s: %s; start one with \"rld --socket %s\", or name another socket",
		    path, why.message, path);
		return EXIT_NO_DAEMON;
	case ATTEMPT_STUCK:
	case ATTEMPT_UNTRUSTED:
		message_refused(&why, NULL, false);
		return EXIT_NO_DAEMON;
	case ATTEMPT_CLOSED_TO_US:
	case ATTEMPT_REFUSED:
		break;
	}
	message_refused(&why, NULL, false);
	return EXIT_REFUSED;
}

/* Input and result of a search. */
struct search {
	char **sockets;
	const struct call_trust *trust;
	struct call_conn **conn;
	json_t **hello;
	char **found;
	struct call_error why;	/* error of the last socket */
	bool told;		/* a message about other users' daemons was printed */
};

/* A daemon of another user counts as none, whether it refuses us or we do not trust it. */
static enum attempt_result connect_search(struct search *s)
{
	enum attempt_result result = ATTEMPT_SILENT;

	for (size_t i = 0; s->sockets[i] != NULL && result != ATTEMPT_CONNECTED && result != ATTEMPT_REFUSED &&
	    result != ATTEMPT_STUCK; i++) {
		result = connect_attempt(s->sockets[i], s->trust, -1, s->conn, s->hello, &s->why);
		if (result == ATTEMPT_UNTRUSTED && !s->told)
			message_refused(&s->why, NULL, false);
		if (result == ATTEMPT_CONNECTED)
			*s->found = xstrdup(s->sockets[i]);
	}
	s->told = true;
	return result;
}

static void print_silence(const struct search *s)
{
	char *tried = xstrdup("");

	for (size_t i = 0; s->sockets[i] != NULL; i++) {
		char *more = xasprintf("%s%s %s", tried, i > 0 ? "," : "", s->sockets[i]);

		free(tried);
		tried = more;
	}
	message_hint("tried%s", tried);
	free(tried);
}

/* Agents of a daemon run with its user's rights, and each daemon has its own queue and database:
 * neither should happen unintentionally. closed: the system daemon runs, but serves other users.
 * Returns false after a message. */
static bool may_start(const struct search *s, enum connect_start start, bool closed)
{
	bool unit = !closed && sockets_system_unit(), root = geteuid() == 0;

	if (start == CONNECT_START_ASKED || (start == CONNECT_START_DEMAND && !root && !unit))
		return true;
	if (closed)
		message_error("you have no daemon, and the system daemon serves other users: %s", s->why.message);
	else if (start == CONNECT_START_NEVER)
		message_error("no daemon answers");
	else if (unit)
		message_error("no daemon answers: the system daemon is installed but not running");
	else
		message_error("no daemon answers; as root, rlctl starts one only on request, because its "
		    "agents would run as root");
	message_hint("%s%s", unit ?
	    "start the system daemon with \"systemctl start rld\", or " : "",
		start == CONNECT_START_NEVER ? "start one with \"rld\"" :
		    "add --start to start your own");
	print_silence(s);
	return false;
}

/* Search again under the lock before starting: its previous holder may just have started a
 * daemon. */
static int start_and_connect(struct search *s)
{
	char *state = sockets_state_dir();
	int lock = start_lock(state), status = EXIT_NO_DAEMON;

	if (lock == -1)
		goto out;
	status = 0;
	if (connect_search(s) == ATTEMPT_CONNECTED)
		goto out;
	status = start_daemon(state);
	/* rld also exits if another daemon, started manually, locks the state: then connect to that
	 * one. */
	if (connect_search(s) == ATTEMPT_CONNECTED) {
		if (status != 0)
			message_note("continuing with the daemon that answers");
		status = 0;
	} else if (status == 0) {
		message_error("rld has started but does not answer: %s", s->why.message);
		status = EXIT_NO_DAEMON;
	}
out:
	if (lock != -1)
		close(lock);
	free(state);
	return status;
}

int connect_daemon(const char *named, enum connect_start start, const struct call_trust *trust,
    struct call_conn **conn, json_t **hello, char **path)
{
	struct search s = { .trust = trust, .conn = conn, .hello = hello, .found = path };
	enum attempt_result result;
	int status = 0;

	if (named != NULL)
		return connect_named(named, trust, conn, hello, path);
	s.sockets = sockets_list();
	result = connect_search(&s);
	switch (result) {
	case ATTEMPT_CONNECTED:
		break;
	case ATTEMPT_SILENT:
	case ATTEMPT_UNTRUSTED:
	case ATTEMPT_CLOSED_TO_US:
		/* the system daemon's socket is the last one in the list */
		status = may_start(&s, start, result == ATTEMPT_CLOSED_TO_US) ? start_and_connect(&s) : EXIT_NO_DAEMON;
		break;
	case ATTEMPT_STUCK:
	case ATTEMPT_REFUSED:
		message_refused(&s.why, NULL, false);
		status = result == ATTEMPT_STUCK ? EXIT_NO_DAEMON : EXIT_REFUSED;
		break;
	}
	sockets_free(s.sockets);
	return status;
}
