/* SPDX-License-Identifier: MIT */
#include "rpc/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/frame.h"
#include "proto/memory.h"

#define READ_SIZE (16 * 1024)
#define OUT_HIGH (32 * 1024)		/* more unsent: nothing more is read from this client */
#define OUT_KEPT (16 * 1024)		/* of an empty output buffer */
#define BUSY_MAX 64			/* calls under way */
/* documents taken at a time: who has more stands in the line */
#define QUANTUM 4
/* of the line in one turn of the loop: others must not wait for it */
#define LINE_NS 1000000
/* of all clients: those with more than IN_FREE wait, but for one at a time */
#define POOL_IN (8 * 1024 * 1024)
#define IN_FREE (16 * 1024)
#define POOL_OUT (8 * 1024 * 1024)	/* of all clients: those with unsent output wait */
#define FRAME_MS 10000			/* a started frame must end; a last word must be taken */

struct conn {
	struct pool *pool;
	struct link *link;
	int fd;
	uid_t uid;
	uv_poll_t poll;
	uv_timer_t clock;		/* runs while a frame is incomplete, or while closing */
	int handles;			/* open uv handles: the last one's close frees */
	struct frame_reader *in;
	size_t counted_in, counted_out;	/* what pool->held_* have of this one */
	struct buf out;
	size_t sent;			/* of out */
	int events;			/* polled for */
	bool eof;			/* the client has shut down its writing side */
	bool deaf;			/* the client is gone: output is dropped, input
					 * is read to its end */
	bool closing;			/* after the last byte of out; input is read and thrown away
					 * until its end, for a close with unread input would look
					 * like a reset to the client */
	bool shut;			/* our writing side is shut down */
	bool doomed;
	bool working;			/* documents are being taken: output is sent at the end */
	bool stalled;			/* documents may be left that could not be taken */
	bool queued;			/* in pool->again */
	TAILQ_ENTRY(conn) entry, again;
};

static void pool_idle_cb(uv_idle_t *idle);

static size_t unsent(const struct conn *conn)
{
	return conn->out.size - conn->sent;
}

/* Put conn where pool_idle_cb() finds it: calls end inside other rooms' work, which must not be
 * entered again from there. */
static void conn_again(struct conn *conn)
{
	struct pool *pool = conn->pool;

	if (conn->queued || conn->doomed)
		return;
	conn->queued = true;
	TAILQ_INSERT_TAIL(&pool->again, conn, again);
	if (!uv_is_closing((uv_handle_t *)&pool->idle))
		uv_idle_start(&pool->idle, pool_idle_cb);
}

/* There is room again for those who waited for it. */
static void pool_again(struct pool *pool)
{
	struct conn *conn;

	if (!pool->squeezed)
		return;
	pool->squeezed = false;
	TAILQ_FOREACH(conn, &pool->conns, entry)
		conn_again(conn);
}

static void conn_count(struct conn *conn)
{
	struct pool *pool = conn->pool;
	size_t in = conn->in != NULL ? frame_held(conn->in) : 0;

	pool->held_in += in - conn->counted_in;
	conn->counted_in = in;
	pool->held_out += conn->out.room - conn->counted_out;
	conn->counted_out = conn->out.room;
	if (pool->held_in <= POOL_IN && pool->held_out <= POOL_OUT)
		pool_again(pool);
}

/* May another document be dispatched? */
static bool may_take(const struct conn *conn)
{
	return !conn->closing && !conn->doomed && unsent(conn) < OUT_HIGH &&
	    link_busy(conn->link) < BUSY_MAX && !link_large(conn->link);
}

static bool may_read(struct conn *conn)
{
	struct pool *pool = conn->pool;

	if (conn->eof || conn->queued || !may_take(conn))
		return false;
	if (pool->held_out > POOL_OUT && unsent(conn) > 0) {
		pool->squeezed = true;
		return false;
	}
	if (pool->held_in <= POOL_IN || frame_held(conn->in) <= IN_FREE)
		return true;
	/* If all waited for all, nothing would ever be given back. */
	if (pool->favoured == NULL)
		pool->favoured = conn;
	pool->squeezed = pool->squeezed || pool->favoured != conn;
	return pool->favoured == conn;
}

/* conn holds no unfinished frame any more. */
static void conn_unfavour(struct conn *conn)
{
	struct pool *pool = conn->pool;

	if (pool->favoured != conn)
		return;
	pool->favoured = NULL;
	pool_again(pool);
}

static void conn_closed_cb(uv_handle_t *handle)
{
	struct conn *conn = handle->data;
	struct pool *pool = conn->pool;

	if (--conn->handles > 0)
		return;
	link_close(conn->link);
	TAILQ_REMOVE(&pool->conns, conn, entry);
	pool->count--;
	frame_reader_free(conn->in);
	conn->in = NULL;
	buf_release(&conn->out);
	conn_count(conn);
	close(conn->fd);
	free(conn);
	pool->ended(pool->ended_arg);
}

/* The end of it, from wherever: nothing is freed before the loop is back at its top. */
static void conn_doom(struct conn *conn)
{
	if (conn->doomed)
		return;
	conn->doomed = true;
	conn_unfavour(conn);
	if (conn->queued) {
		TAILQ_REMOVE(&conn->pool->again, conn, again);
		conn->queued = false;
	}
	uv_close((uv_handle_t *)&conn->poll, conn_closed_cb);
	uv_close((uv_handle_t *)&conn->clock, conn_closed_cb);
}

static void conn_poll_cb(uv_poll_t *poll, int status, int events);

/* Ask for what the state of the connection asks for. */
static void conn_update(struct conn *conn)
{
	int events = 0;

	if (conn->doomed)
		return;
	if (conn->closing && unsent(conn) == 0 && !conn->shut) {
		shutdown(conn->fd, SHUT_WR);
		conn->shut = true;
	}
	if (conn->shut && (conn->eof || conn->deaf)) {
		conn_doom(conn);
		return;
	}
	if (!conn->closing && conn->eof && !frame_partial(conn->in) &&
	    (conn->deaf || (unsent(conn) == 0 && link_busy(conn->link) == 0 &&
	    link_waiting(conn->link) == 0 && link_follower(conn->link) == NULL))) {
		conn_doom(conn);
		return;
	}
	/* Only PRIORITIZED asked for: epoll reports a hang-up (and not a half-close), which
	 * libuv shows as that. */
	if (!conn->deaf)
		events |= UV_PRIORITIZED;
	if (unsent(conn) > 0)
		events |= UV_WRITABLE;
	if (conn->closing ? !conn->eof : may_read(conn))
		events |= UV_READABLE;
	if (events == conn->events)
		return;
	conn->events = events;
	if (events == 0)
		uv_poll_stop(&conn->poll);
	else if (uv_poll_start(&conn->poll, events, conn_poll_cb) != 0)
		conn_doom(conn);
}

/* The client is gone; its calls go on, what it has sent is still read. */
static void conn_deafen(struct conn *conn)
{
	conn->deaf = true;
	buf_release(&conn->out);
	conn->sent = 0;
	if (conn->closing)
		conn_doom(conn);
}

static void conn_flush(struct conn *conn)
{
	while (unsent(conn) > 0) {
		ssize_t n = send(conn->fd, conn->out.data + conn->sent, unsent(conn), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n == -1) {
			conn_deafen(conn);
			break;
		}
		conn->sent += (size_t)n;
	}
	if (unsent(conn) == 0) {
		conn->out.size = conn->sent = 0;
		if (conn->out.room > OUT_KEPT)
			buf_release(&conn->out);
	} else if (conn->sent >= OUT_HIGH) {
		/* A client that never quite catches up must not make the buffer grow. */
		memmove(conn->out.data, conn->out.data + conn->sent, unsent(conn));
		conn->out.size = unsent(conn);
		conn->sent = 0;
	}
	conn_count(conn);
}

static void conn_send(void *arg, const char *json, size_t size)
{
	struct conn *conn = arg;
	size_t framed;
	char *frame;

	if (conn->deaf || conn->closing || conn->doomed)
		return;
	frame = frame_wrap(frame_mode(conn->in), json, size, &framed);
	buf_add(&conn->out, frame, framed);
	free(frame);
	if (conn->working)
		return;
	conn_flush(conn);
	conn_update(conn);
}

static bool conn_room(void *arg)
{
	const struct conn *conn = arg;

	return !conn->closing && !conn->doomed && unsent(conn) < OUT_HIGH &&
	    (conn->pool->held_out <= POOL_OUT || unsent(conn) == 0);
}

static void conn_relieved(void *arg)
{
	struct conn *conn = arg;

	if (conn->working)
		return;
	/* the call may have been a subscription, whose events follow its answer */
	if (conn->stalled || link_follower(conn->link) != NULL)
		conn_again(conn);
	conn_update(conn);
}

static bool conn_deaf(void *arg)
{
	const struct conn *conn = arg;

	return conn->deaf;
}

static const struct link_ops conn_ops = { conn_send, conn_room, conn_deaf, conn_relieved };

static void conn_clock_cb(uv_timer_t *timer);

/* The last word is said; a client that does not take it is left after a while. */
static void conn_part(struct conn *conn)
{
	conn->closing = true;
	conn_unfavour(conn);
	uv_timer_start(&conn->clock, conn_clock_cb, FRAME_MS, 0);
}

static void conn_refuse(struct conn *conn, int code, const char *message)
{
	size_t size;
	char *json = error_document(NULL, code, message, &size);

	conn_send(conn, json, size);
	free(json);
	conn_part(conn);
}

/* In the client's own protocol, so that curl shows the sentence. */
static void conn_refuse_http(struct conn *conn)
{
	static const char body[] = "This is the socket of rld, which speaks JSON-RPC 2.0 without "
	    "HTTP: send one JSON document a line, or use rlctl rpc.\n";

	buf_addf(&conn->out, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n%s", strlen(body), body);
	conn_part(conn);
}

static void conn_clock_cb(uv_timer_t *timer)
{
	struct conn *conn = timer->data;

	if (conn->closing) {
		conn_doom(conn);
		return;
	}
	conn_refuse(conn, RPC_PARSE_ERROR, "a started frame must end within 10 s");
	conn_flush(conn);
	conn_update(conn);
}

/* Take documents. conn->stalled: some may be left, since no more may be taken now. */
static void conn_take(struct conn *conn)
{
	const char *data;
	size_t size;

	conn->stalled = false;
	for (int taken = 0; taken < QUANTUM && may_take(conn); taken++) {
		switch (frame_next(conn->in, &data, &size)) {
		case FRAME_READY:
			uv_timer_stop(&conn->clock);
			conn_unfavour(conn);
			conn->pool->document(conn->pool->arg, conn->link, data, size);
			continue;
		case FRAME_NONE:
			if (!frame_partial(conn->in))
				uv_timer_stop(&conn->clock);
			else if (!uv_is_active((uv_handle_t *)&conn->clock))
				uv_timer_start(&conn->clock, conn_clock_cb, FRAME_MS, 0);
			return;
		case FRAME_TOO_LONG:
			conn_refuse(conn, RPC_PARSE_ERROR, "a frame may have 1 MiB: send larger texts with blob.put");
			return;
		case FRAME_BAD_HEADER:
			conn_refuse(conn, RPC_PARSE_ERROR,
			    "a header block must have one Content-Length, and the body that it says");
			return;
		case FRAME_HTTP:
			conn_refuse_http(conn);
			return;
		}
	}
	if (conn->closing)
		return;
	uv_timer_stop(&conn->clock);
	conn->stalled = true;
}

static void conn_work(struct conn *conn)
{
	conn->working = true;
	conn_take(conn);
	if (conn_room(conn))
		link_writable(conn->link);
	conn->working = false;
	conn_flush(conn);
	if (conn->stalled && may_take(conn))
		conn_again(conn);
	conn_update(conn);
}

static void conn_read(struct conn *conn)
{
	char chunk[READ_SIZE];
	ssize_t n = recv(conn->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n == -1 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (n > 0) {
		if (!conn->closing)
			frame_feed(conn->in, chunk, (size_t)n);
		return;
	}
	if (n == -1)
		conn_deafen(conn);
	conn->eof = true;
	frame_eof(conn->in);
}

static void conn_poll_cb(uv_poll_t *poll, int status, int events)
{
	struct conn *conn = poll->data;

	if (status < 0) {
		/* libuv has stopped polling: the client closed with output unread */
		conn->events = 0;
		conn_deafen(conn);
		events = UV_READABLE;
	}
	if (events & UV_WRITABLE)
		conn_flush(conn);
	if ((events & UV_READABLE) && (conn->closing || may_read(conn)))
		conn_read(conn);
	else if (events & UV_PRIORITIZED)
		conn_deafen(conn);
	if (conn->queued)
		conn_update(conn);
	else if (!conn->doomed)
		conn_work(conn);
}

static void pool_idle_cb(uv_idle_t *idle)
{
	struct pool *pool = idle->data;
	uint64_t begin = uv_hrtime();
	struct conn *conn;

	while ((conn = TAILQ_FIRST(&pool->again)) != NULL && uv_hrtime() - begin < LINE_NS) {
		TAILQ_REMOVE(&pool->again, conn, again);
		conn->queued = false;
		conn_work(conn);
	}
	if (TAILQ_EMPTY(&pool->again))
		uv_idle_stop(idle);
}

void pool_init(struct pool *pool, uv_loop_t *loop)
{
	pool->loop = loop;
	TAILQ_INIT(&pool->conns);
	TAILQ_INIT(&pool->again);
	uv_idle_init(loop, &pool->idle);
	pool->idle.data = pool;
}

size_t pool_of_uid(const struct pool *pool, uid_t uid)
{
	const struct conn *conn;
	size_t n = 0;

	TAILQ_FOREACH(conn, &pool->conns, entry)
		n += conn->uid == uid;
	return n;
}

void pool_end(struct pool *pool)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &pool->conns, entry) {
		conn_flush(conn);
		conn_doom(conn);
	}
}

void conn_new(struct pool *pool, int fd, uid_t uid)
{
	struct conn *conn = xcalloc(1, sizeof(*conn));

	if (uv_poll_init(pool->loop, &conn->poll, fd) != 0) {
		log_error("cannot watch a client's connection");
		close(fd);
		free(conn);
		return;
	}
	uv_timer_init(pool->loop, &conn->clock);
	conn->poll.data = conn->clock.data = conn;
	conn->handles = 2;
	conn->pool = pool;
	conn->fd = fd;
	conn->uid = uid;
	conn->in = frame_reader_new(FRAME_MAX);
	conn->link = link_new(uid, pool->tally, &conn_ops, conn);
	TAILQ_INSERT_TAIL(&pool->conns, conn, entry);
	pool->count++;
	conn_update(conn);
}
