/* SPDX-License-Identifier: MIT */
/* rlctl relay: connect stdin and stdout to the daemon. ssh runs it for --host. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/message.h"
#include "proto/call.h"

/* One direction. A client that sends reads at the same time, so neither may hold up the other. */
struct relay {
	int from, to;
	bool ended;		/* from is at its end */
	size_t at, size;	/* of data, what is left to write */
	char data[65536];
};

/* Returns 0 or an errno. */
static int relay_read(struct relay *r)
{
	ssize_t n = read(r->from, r->data, sizeof(r->data));

	if (n == -1)
		return errno == EINTR || errno == EAGAIN ? 0 : errno;
	r->at = 0;
	r->size = (size_t)n;
	r->ended = n == 0;
	return 0;
}

/* Of a pipe, poll(2) promises only PIPE_BUF. Returns 0 or an errno. */
static int relay_write(struct relay *r)
{
	size_t left = r->size - r->at;
	ssize_t n = send(r->to, r->data + r->at, left, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n == -1 && errno == ENOTSOCK)
		n = write(r->to, r->data + r->at, left < PIPE_BUF ? left : PIPE_BUF);
	if (n == -1)
		return errno == EINTR || errno == EAGAIN ? 0 : errno;
	r->at += (size_t)n;
	return 0;
}

static bool relay_holds(const struct relay *r)
{
	return r->at < r->size;
}

/* Until one side is at its end. The client keeps its sending side open as long as it reads, and the
 * daemon would not end a subscription for the end of the input. Returns 0 or an errno. */
static int relay_all(struct relay *in, struct relay *out)
{
	struct relay *both[] = { in, out };
	int failure = 0;

	while (failure == 0 && !in->ended && !(out->ended && !relay_holds(out))) {
		struct pollfd p[4];

		for (size_t i = 0; i < 2; i++) {
			const struct relay *r = both[i];
			bool holds = relay_holds(r);

			p[2 * i] = (struct pollfd){ .fd = holds || r->ended ? -1 : r->from, .events = POLLIN };
			p[2 * i + 1] = (struct pollfd){ .fd = holds ? r->to : -1, .events = POLLOUT };
		}
		if (poll(p, 4, -1) == -1 && errno != EINTR)
			return errno;
		for (size_t i = 0; i < 2 && failure == 0; i++) {
			if (p[2 * i].revents != 0)
				failure = relay_read(both[i]);
			else if (p[2 * i + 1].revents != 0)
				failure = relay_write(both[i]);
		}
	}
	return failure;
}

int relay_command(struct client *c)
{
	static struct relay in, out;
	struct call_conn *conn;
	int status = client_connect(c), failure;
	uid_t peer;

	if (status != 0)
		return status;
	/* another connection, whose first message is the client's */
	failure = -call_connect(c->socket, &c->trust, &conn, &peer);
	if (failure == 0) {
		in = (struct relay){ .from = STDIN_FILENO, .to = call_fd(conn) };
		out = (struct relay){ .from = call_fd(conn), .to = STDOUT_FILENO };
		failure = relay_all(&in, &out);
		call_close(conn);
	}
	if (failure == 0 || failure == EPIPE)
		return EXIT_DONE;
	message_error("relay to %s: %s", c->socket, strerror(failure));
	return EXIT_NO_DAEMON;
}
