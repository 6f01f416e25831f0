/* SPDX-License-Identifier: MIT */
#include "proto/call.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/clock.h"
#include "proto/frame.h"
#include "proto/memory.h"

/* Replies contain whole pages of output, so they may be larger than requests. */
#define REPLY_MAX (16 * FRAME_MAX)
#define INTERVAL_MAX 60000

struct notification {
	json_t *message;
	STAILQ_ENTRY(notification) link;
};

/* Since the last sign of life, or since it was asked for. */
struct silence {
	int64_t since;
	int64_t interval;	/* until it is asked for; longer each time it came */
	bool asked, told;
};

struct call_conn {
	int fd;
	int give_up;		/* descriptor: while it is readable, wait for no reply */
	bool ended;		/* the peer has shut down its sending side */
	int failure;		/* errno of a lost connection or -EPROTO, 0: none */
	struct call_patience patience;	/* tell NULL: no limit */
	struct silence silence;
	json_int_t last_id;
	struct frame_reader *reader;
	STAILQ_HEAD(, notification) notifications;
};

enum take_result { TAKE_MESSAGE, TAKE_NOTHING, TAKE_CLOSED };

/* User ID of the listening process when it began to listen. Returns 0 or -errno. */
static int peer_uid(int fd, uid_t *uid)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == -1)
		return -errno;
	*uid = peer.uid;
	return 0;
}

static int check_peer(int fd, const struct call_trust *trust, uid_t *peer)
{
	int failure = peer_uid(fd, peer);

	for (size_t i = 0; failure == 0 && i < trust->count; i++) {
		if (trust->uids[i] == *peer)
			return 0;
	}
	return failure != 0 ? failure : -EPERM;
}

struct call_conn *call_over(int fd)
{
	struct call_conn *conn = xcalloc(1, sizeof *conn);

	conn->fd = fd;
	conn->give_up = -1;
	conn->reader = frame_reader_new(REPLY_MAX);
	STAILQ_INIT(&conn->notifications);
	return conn;
}

int call_connect(const char *socket_path, const struct call_trust *trust, struct call_conn **out, uid_t *peer)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, failure;

	if (strlcpy(address.sun_path, socket_path, sizeof address.sun_path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	/* blocking until connected: a full backlog is not an error */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -errno;
	failure = connect(fd, (struct sockaddr *)&address, sizeof address) == -1 ? -errno : check_peer(fd, trust, peer);
	if (failure != 0) {
		close(fd);
		return failure;
	}
	*out = call_over(fd);
	return 0;
}

void call_close(struct call_conn *conn)
{
	struct notification *n;

	if (conn == NULL)
		return;
	while ((n = STAILQ_FIRST(&conn->notifications)) != NULL) {
		STAILQ_REMOVE_HEAD(&conn->notifications, link);
		json_decref(n->message);
		free(n);
	}
	frame_reader_free(conn->reader);
	close(conn->fd);
	free(conn);
}

int call_fd(const struct call_conn *conn)
{
	return conn->fd;
}

void call_give_up_on(struct call_conn *conn, int fd)
{
	conn->give_up = fd;
}

pid_t call_pid(const struct call_conn *conn)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	return getsockopt(conn->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

void call_set_patience(struct call_conn *conn, const struct call_patience *patience)
{
	conn->patience = *patience;
}

static void silence_begin(struct call_conn *conn, int64_t interval)
{
	conn->silence = (struct silence){ .since = clock_steady(), .interval = interval };
}

/* A byte has come or gone. */
static void silence_end(struct call_conn *conn)
{
	int64_t next = conn->silence.interval * (conn->silence.asked ? 2 : 1);

	silence_begin(conn, next < INTERVAL_MAX ? next : INTERVAL_MAX);
}

/* Any answer is a sign of life, and the loop of the daemon gives this one at once. It is skipped,
 * because no call has this id. */
static void ask_for_life(struct call_conn *conn)
{
	static const char request[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":\"alive\",\"method\":\"daemon.hello\"}\n";

	/* a full socket says as much as no answer; a part cannot be sent, it is that short */
	send(conn->fd, request, sizeof request - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* As poll(), with the patience of the connection: -1 with ETIMEDOUT. end: of the wait, -1: none.
 * whole: no request is sent in part. */
static int poll_patiently(struct call_conn *conn, struct pollfd *p, nfds_t n, int64_t end, bool whole)
{
	const struct call_patience *patience = &conn->patience;
	struct silence *silence = &conn->silence;

	for (;;) {
		int64_t half = patience->tell_ms / 2, now = clock_steady(), due = silence->since, left;
		int ready;

		due += !silence->asked ? silence->interval : !silence->told ? half : patience->limit_ms - half;
		if (patience->tell == NULL || (silence->told && patience->limit_ms == 0))
			due = INT64_MAX;
		if (due == INT64_MAX && end < 0)
			return poll(p, n, -1);
		left = end >= 0 && end < due ? end : due;
		left = left > now ? left - now : 0;
		ready = poll(p, n, left < INT32_MAX ? (int)left : INT32_MAX);
		if (ready != 0 || (end >= 0 && end < due))
			return ready;
		if (!silence->asked) {
			if (whole)
				ask_for_life(conn);
			silence->asked = true;
			silence->since = clock_steady();
		} else if (!silence->told) {
			silence->told = true;
			patience->tell(patience->arg);
		} else {
			errno = ETIMEDOUT;
			return -1;
		}
	}
}

/* Read what has arrived, without waiting. */
static void fill(struct call_conn *conn)
{
	char bytes[65536];
	ssize_t n;

	n = recv(conn->fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n > 0) {
		silence_end(conn);
		frame_feed(conn->reader, bytes, (size_t)n);
	} else if (n == 0) {
		conn->ended = true;
		frame_eof(conn->reader);
	} else if (errno != EAGAIN && errno != EINTR) {
		conn->ended = true;
		conn->failure = errno;
	}
}

/* The next message in the buffer. */
static enum take_result take(struct call_conn *conn, json_t **message)
{
	const char *data;
	size_t size;

	if (conn->failure != 0)
		return TAKE_CLOSED;
	switch (frame_next(conn->reader, &data, &size)) {
	case FRAME_READY:
		*message = json_loadb(data, size, JSON_ALLOW_NUL, NULL);
		if (json_is_object(*message))
			return TAKE_MESSAGE;
		json_decref(*message);
		conn->failure = EPROTO;
		return TAKE_CLOSED;
	case FRAME_NONE:
		return conn->ended ? TAKE_CLOSED : TAKE_NOTHING;
	case FRAME_TOO_LONG:
	case FRAME_BAD_HEADER:
	case FRAME_HTTP:
		break;
	}
	conn->failure = EPROTO;
	return TAKE_CLOSED;
}

static void keep(struct call_conn *conn, json_t *message)
{
	struct notification *n = xcalloc(1, sizeof *n);

	n->message = message;
	STAILQ_INSERT_TAIL(&conn->notifications, n, link);
}

/* Read while sending: otherwise a server that waits for us to read would block both. */
static int send_all(struct call_conn *conn, const char *data, size_t size)
{
	while (size > 0) {
		struct pollfd p = { .fd = conn->fd, .events = POLLOUT | (conn->ended ? 0 : POLLIN) };
		ssize_t n;

		if (poll_patiently(conn, &p, 1, -1, false) == -1) {
			if (errno == EINTR)
				continue;
			return errno;
		}
		if (p.revents & POLLIN)
			fill(conn);
		if (!(p.revents & (POLLOUT | POLLERR | POLLHUP)))
			continue;
		n = send(conn->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1) {
			if (errno == EAGAIN || errno == EINTR)
				continue;
			return errno;
		}
		silence_end(conn);
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static __attribute__((format(printf, 2, 3))) json_t *fail(struct call_error *error, const char *fmt, ...)
{
	va_list ap;

	memset(error, 0, sizeof *error);
	va_start(ap, fmt);
	vsnprintf(error->message, sizeof error->message, fmt, ap);
	va_end(ap);
	return NULL;
}

static void copy_string(char *to, size_t room, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	strlcpy(to, text == NULL ? "" : text, room);
}

/* The result of a reply; takes ownership. */
static json_t *unpack(json_t *reply, struct call_error *error)
{
	json_t *result = json_object_get(reply, "result");
	const json_t *body = json_object_get(reply, "error"), *data;

	if (result != NULL) {
		json_incref(result);
		json_decref(reply);
		return result;
	}
	fail(error, "the daemon's reply contains neither a result nor an error");
	if (json_is_object(body)) {
		data = json_object_get(body, "data");
		error->code = (int)json_integer_value(json_object_get(body, "code"));
		copy_string(error->message, sizeof error->message, body, "message");
		copy_string(error->kind, sizeof error->kind, data, "kind");
		copy_string(error->hint, sizeof error->hint, data, "hint");
		copy_string(error->field, sizeof error->field, data, "field");
		error->retryable = json_is_true(json_object_get(data, "retryable"));
	}
	json_decref(reply);
	return NULL;
}

/* Whether it is the reply to this call; id null: the server could not parse our request, and we
 * have no other. */
static bool answers(const json_t *message, json_int_t id)
{
	const json_t *given = json_object_get(message, "id");

	return json_is_null(given) || (json_is_integer(given) && json_integer_value(given) == id);
}

static json_t *await_reply(struct call_conn *conn, json_int_t id, const char *method, struct call_error *error)
{
	for (;;) {
		/* poll() ignores descriptors below 0 */
		struct pollfd p[] = { { .fd = conn->fd, .events = POLLIN }, { .fd = conn->give_up, .events = POLLIN } };
		json_t *message;

		switch (take(conn, &message)) {
		case TAKE_MESSAGE:
			if (json_object_get(message, "method") != NULL)
				keep(conn, message);
			else if (answers(message, id))
				return unpack(message, error);
			else
				json_decref(message);
			continue;
		case TAKE_CLOSED:
			if (conn->failure != 0)
				return fail(error, "%s: the connection was lost: %s", method, strerror(conn->failure));
			return fail(error, "%s: the daemon closed the connection without an answer", method);
		case TAKE_NOTHING:
			break;
		}
		if (poll_patiently(conn, p, 2, -1, true) == -1) {
			if (errno == ETIMEDOUT) {
				fail(error, "%s: no answer for %lld s", method,
				    (long long)(conn->patience.limit_ms + 999) / 1000);
				error->silent = true;
				return NULL;
			}
			if (errno != EINTR)
				return fail(error, "%s: poll: %s", method, strerror(errno));
			continue;
		}
		if (p[1].revents != 0)
			return fail(error, "%s: interrupted", method);
		fill(conn);
	}
}

json_t *call_method(struct call_conn *conn, const char *method, json_t *params, struct call_error *error)
{
	json_t *request;
	char *text, *frame;
	size_t size;
	int failure;

	request = json_pack("{s:s, s:I, s:s, s:o*}", "jsonrpc", "2.0", "id", ++conn->last_id,
	    "method", method, "params", params);
	text = request == NULL ? NULL : json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (text == NULL)
		return fail(error, "%s: the request cannot be represented as JSON", method);
	frame = frame_wrap(FRAME_LINE, text, strlen(text), &size);
	free(text);
	silence_begin(conn, conn->patience.tell_ms / 2);
	failure = send_all(conn, frame, size);
	free(frame);
	/* a refusal may be readable although the server closed before reading the whole request */
	if (failure != 0 && failure != EPIPE && failure != ECONNRESET)
		return fail(error, "%s: cannot send the request: %s", method, strerror(failure));
	return await_reply(conn, conn->last_id, method, error);
}

/* Rows of a page: reviews of the largest size fit into one reply. */
#define PAGE_ROWS 50

json_t *call_pages(struct call_conn *conn, const char *method, const char *rows, json_t *params,
    struct call_error *error)
{
	json_t *all = NULL, *page, *next = NULL;

	json_object_set_new(params, "limit", json_integer(PAGE_ROWS));
	do {
		page = call_method(conn, method, json_copy(params), error);
		if (page == NULL) {
			json_decref(all);
			all = NULL;
			break;
		}
		next = json_object_get(page, "next");
		if (json_is_integer(next))
			json_object_set(params, "cursor", next);
		else
			next = NULL;
		if (all == NULL)
			all = json_incref(page);
		else
			json_array_extend(json_object_get(all, rows), json_object_get(page, rows));
		json_decref(page);
	} while (next != NULL);
	json_decref(params);
	if (all != NULL)
		json_object_set_new(all, "next", json_null());
	return all;
}

int call_notification(struct call_conn *conn, int timeout_ms, json_t **message)
{
	struct notification *n = STAILQ_FIRST(&conn->notifications);
	int64_t end = timeout_ms < 0 ? -1 : clock_steady() + timeout_ms;

	if (n != NULL) {
		STAILQ_REMOVE_HEAD(&conn->notifications, link);
		*message = n->message;
		free(n);
		return 1;
	}
	for (;;) {
		struct pollfd p = { .fd = conn->fd, .events = POLLIN };
		int ready;

		switch (take(conn, message)) {
		case TAKE_MESSAGE:
			if (json_object_get(*message, "method") != NULL)
				return 1;
			json_decref(*message);	/* a reply that is no longer expected */
			continue;
		case TAKE_CLOSED:
			return -1;
		case TAKE_NOTHING:
			break;
		}
		ready = poll_patiently(conn, &p, 1, end, true);
		if (ready == -1)
			return errno == EINTR ? -2 : -1;
		if (ready == 0)
			return 0;
		fill(conn);
	}
}

bool call_listen(struct call_conn *conn, int fd, int timeout_ms)
{
	struct pollfd p[] = { { .fd = conn->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	int ready = poll_patiently(conn, p, 2, timeout_ms < 0 ? -1 : clock_steady() + timeout_ms, true);

	if (ready == -1 && errno == ETIMEDOUT)
		conn->failure = ETIMEDOUT;
	return ready > 0 && p[1].revents != 0;
}
