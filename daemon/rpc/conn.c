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
/* with more unsent output, nothing is read from this client */
#define OUT_HIGH (32 * 1024)
#define OUT_KEPT (16 * 1024)		/* capacity kept of an empty output buffer */
#define BUSY_MAX 64			/* maximum number of calls in progress */
/* documents processed at a time; a client with more goes to the back of the queue */
#define QUANTUM 4
/* time for that queue per iteration of the loop */
#define LINE_NS 1000000
/* over all clients: those with more than IN_FREE wait, one at a time excepted */
#define POOL_IN (8 * 1024 * 1024)
#define IN_FREE (16 * 1024)
#define POOL_OUT (8 * 1024 * 1024)	/* over all clients: those with unsent output wait */
/* a client is idle after this time without a call; sooner, its first one may be on its way */
#define IDLE_MS 1000
/* limit for a frame to be completed, and for a last message to be read */
#define FRAME_MS 10000

struct conn {
	struct pool *pool;
	struct link *link;
	int fd;
	uv_poll_t poll;
	uv_timer_t clock;		/* runs while a frame is incomplete, or while closing */
	int handles;			/* open uv handles: the last close callback frees */
	struct frame_reader *in;
	size_t counted_in, counted_out;	/* its share of pool->held_* */
	struct buf out;
	size_t sent;			/* of out */
	int events;			/* current poll events */
	bool eof;			/* the client has shut down its sending side */
	uint64_t quiet_since;		/* its start, last call or answer; ms of the loop */
	bool deaf;			/* the client is gone: output is dropped, input
					 * is read to its end */
	/* after the last byte of out; input is discarded until its end, because a close with unread
	 * input looks like a reset to the client */
	bool closing;
	bool shut;			/* our sending side is shut down */
	bool doomed;
	/* documents are being processed: output is sent afterwards */
	bool working;
	bool stalled;			/* documents may be left that could not be processed */
	bool queued;			/* in pool->again */
	TAILQ_ENTRY(conn) entry, again;
};

static void pool_idle_cb(uv_idle_t *idle);

static size_t unsent(const struct conn *conn)
{
	return conn->out.size - conn->sent;
}

/* Queue conn for pool_idle_cb(): calls end inside other rooms, where dispatching again is not
 * allowed. */
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

/* There is room again for waiting connections. */
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

/* Whether another document may be dispatched. */
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
	/* one connection may continue, otherwise all would wait for each other */
	if (pool->favoured == NULL)
		pool->favoured = conn;
	pool->squeezed = pool->squeezed || pool->favoured != conn;
	return pool->favoured == conn;
}

/* conn no longer holds an unfinished frame. */
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
	/* clients see the end of the daemon by the end of their connections */
	if (!pool->ending)
		close(conn->fd);
	free(conn);
	pool->ended(pool->ended_arg);
}

/* End the connection; can be called anywhere, because it is freed only from the loop. */
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

/* Poll for what the connection's state requires. */
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
	/* with only PRIORITIZED, epoll reports a hang-up but no half-close, and libuv reports
	 * that */
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

/* The client is gone; its calls continue, and what it has sent is still read. */
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
		/* keep the buffer from growing for a client that never quite catches up */
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
	conn->quiet_since = uv_now(conn->pool->loop);
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

/* The last message is queued; a client that does not read it is closed after a while. */
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

/* Answer in HTTP, so that curl shows the sentence. */
static void conn_refuse_http(struct conn *conn)
{
	static const char body[] =
	    "This is the socket of rld, which speaks JSON-RPC 2.0, not HTTP: send one JSON "
	    "document per line, or use rlctl rpc.\n";

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
	conn_refuse(conn, RPC_PARSE_ERROR, "a frame must be complete within 10 s");
	conn_flush(conn);
	conn_update(conn);
}

/* Process documents. conn->stalled: some may be left because no more are allowed now. */
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
			conn->quiet_since = uv_now(conn->pool->loop);
			conn->pool->document(conn->pool->arg, conn->link, data, size);
			continue;
		case FRAME_NONE:
			if (!frame_partial(conn->in))
				uv_timer_stop(&conn->clock);
			else if (!uv_is_active((uv_handle_t *)&conn->clock))
				uv_timer_start(&conn->clock, conn_clock_cb, FRAME_MS, 0);
			return;
		case FRAME_TOO_LONG:
			conn_refuse(conn, RPC_PARSE_ERROR,
			    "a frame may have at most 1 MiB: send larger texts with blob.put");
			return;
		case FRAME_BAD_HEADER:
			conn_refuse(conn, RPC_PARSE_ERROR,
			    "a header block must have exactly one Content-Length, followed by that "
			    "many bytes");
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

size_t pool_count(const struct pool *pool, const struct caller *caller)
{
	const struct conn *conn;
	size_t n = 0;

	TAILQ_FOREACH(conn, &pool->conns, entry)
		n += caller_is_alike(link_caller(conn->link), caller) && !conn->doomed;
	return n;
}

static bool is_idle(const struct conn *conn)
{
	return !conn->closing && !conn->doomed && !conn->queued && !frame_partial(conn->in) && unsent(conn) == 0 &&
	    link_busy(conn->link) == 0 && link_waiting(conn->link) == 0 && link_follower(conn->link) == NULL &&
	    uv_now(conn->pool->loop) - conn->quiet_since >= IDLE_MS;
}

bool pool_part(struct pool *pool, const struct caller *caller, bool idle, const char *message)
{
	struct conn *conn, *longest = NULL;

	TAILQ_FOREACH(conn, &pool->conns, entry)
		if (caller_is_alike(link_caller(conn->link), caller) && (idle ? is_idle(conn) : !conn->doomed) &&
		    (longest == NULL || conn->quiet_since < longest->quiet_since))
			longest = conn;
	if (longest == NULL)
		return false;
	conn_refuse(longest, RPC_LIMIT_REACHED, message);
	conn_doom(longest);
	return true;
}

const struct caller *pool_fullest(const struct pool *pool, bool admins)
{
	const struct caller *fullest = NULL;
	const struct conn *conn;
	size_t most = 0;

	TAILQ_FOREACH(conn, &pool->conns, entry) {
		const struct caller *caller = link_caller(conn->link);
		bool counts = (admins || !caller_is_admin(caller)) &&
		    (fullest == NULL || !caller_is_alike(caller, fullest));
		size_t n = counts ? pool_count(pool, caller) : 0;

		if (n > most) {
			most = n;
			fullest = caller;
		}
	}
	return fullest;
}

void pool_review(struct pool *pool, server_admit_cb *decide)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &pool->conns, entry) {
		struct caller caller = *link_caller(conn->link);
		char *why = conn->doomed || conn->closing ? NULL : decide(pool->arg, &caller);

		link_set_rank(conn->link, caller.rank);
		if (why == NULL)
			continue;
		conn_refuse(conn, RPC_NOT_PERMITTED, why);
		conn_doom(conn);
		free(why);
	}
}

void pool_end(struct pool *pool)
{
	struct conn *conn;

	pool->ending = true;
	TAILQ_FOREACH(conn, &pool->conns, entry) {
		conn_flush(conn);
		conn_doom(conn);
	}
}

void conn_new(struct pool *pool, int fd, const struct caller *caller)
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
	conn->quiet_since = uv_now(pool->loop);
	conn->in = frame_reader_new(FRAME_MAX);
	conn->link = link_new(caller, pool->tally, &conn_ops, conn);
	TAILQ_INSERT_TAIL(&pool->conns, conn, entry);
	pool->count++;
	conn_update(conn);
}
