/* SPDX-License-Identifier: MIT */
#include "rpc/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/frame.h"
#include "proto/memory.h"
#include "rpc/conn.h"
#include "rpc/listen.h"

#define PATHS_MAX 2
#define CLIENTS_MAX 512
#define CLIENTS_OF_UID 256
#define ACCEPTS 64		/* per iteration of the loop */

struct door {
	struct server *server;
	struct listener *listener;
	uv_poll_t poll;
};

struct server {
	uv_loop_t *loop;
	struct pool pool;
	server_admit_cb *admit;		/* with pool.arg */
	bool to_others;		/* see server_set_open() */
	struct door *doors[PATHS_MAX];
	size_t ndoors;
	/* a spare descriptor, to accept and refuse a client when no others are left */
	int spare;
	int open;		/* open uv handles */
	void (*closed)(void *arg);
	void *closed_arg;
};

static void server_finish(struct server *server)
{
	void (*closed)(void *arg) = server->closed;
	void *arg = server->closed_arg;

	if (closed == NULL || server->open > 0 || server->pool.count > 0)
		return;
	if (server->spare != -1)
		close(server->spare);
	free(server);
	closed(arg);
}

static void server_ended(void *arg)
{
	server_finish(arg);
}

static int spare_fd(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

struct server *server_new(uv_loop_t *loop, struct tally *tally, server_document_cb *document,
    server_admit_cb *admit, void *arg)
{
	struct server *server = xcalloc(1, sizeof(*server));

	server->loop = loop;
	pool_init(&server->pool, loop);
	server->pool.tally = tally;
	server->pool.document = document;
	server->pool.arg = arg;
	server->admit = admit;
	server->pool.ended = server_ended;
	server->pool.ended_arg = server;
	server->open = 1;	/* pool.idle */
	server->spare = spare_fd();
	return server;
}

size_t server_clients(const struct server *server)
{
	return server->pool.count;
}

/* Tell a client why it is refused, without waiting for it. */
static void turn_away(int fd, int code, const char *message)
{
	size_t size, framed;
	char *json = error_document(NULL, code, message, &size);
	char *frame = frame_wrap(FRAME_LINE, json, size, &framed);

	if (send(fd, frame, framed, MSG_NOSIGNAL | MSG_DONTWAIT) == -1)
		log_debug("a client disconnected before it was answered: %s", message);
	free(frame);
	free(json);
	close(fd);
}

/* Whether this user may have one more connection; one that leaks them loses the idle ones. */
static bool has_room(struct server *server, const struct caller *caller)
{
	char text[160];

	if (pool_count(&server->pool, caller) < CLIENTS_OF_UID)
		return true;
	snprintf(text, sizeof(text), "uid %u has %d connections: this one was idle longest and makes room for another",
	    (unsigned)caller->peer.uid, CLIENTS_OF_UID);
	return pool_part(&server->pool, caller, true, text);
}

/* No user's idle connections keep others out, and no connections at all keep an administrator out:
 * one of the user with most makes room. */
static bool make_room(struct server *server, const struct caller *caller)
{
	struct pool *pool = &server->pool;
	const struct caller *fullest = pool_fullest(pool, true);

	if (fullest != NULL && pool_part(pool, fullest, true, "the daemon has all the connections it can have: this "
	    "one was idle longest of the user with most"))
		return true;
	fullest = caller_is_admin(caller) ? pool_fullest(pool, false) : NULL;
	return fullest != NULL && pool_part(pool, fullest, false, "the daemon has all the connections it can have: "
	    "this one was quiet longest of the user with most, and makes room for an administrator");
}

static void admit(struct server *server, int fd)
{
	struct caller caller = { 0 };
	int rv = peer_of_socket(fd, &caller.peer);
	char text[160], *why = NULL;

	if (rv != 0) {
		log_error("cannot determine the user of a client: %s", strerror(-rv));
		close(fd);
	} else if ((why = server->admit(server->pool.arg, &caller)) != NULL) {
		turn_away(fd, RPC_NOT_PERMITTED, why);
	} else if (!has_room(server, &caller)) {
		snprintf(text, sizeof(text), "too many connections of uid %u (%d), none of them idle: close some",
		    (unsigned)caller.peer.uid, CLIENTS_OF_UID);
		turn_away(fd, RPC_LIMIT_REACHED, text);
	} else if (server->pool.count >= CLIENTS_MAX && !make_room(server, &caller)) {
		snprintf(text, sizeof(text), "too many connections (%d): close some", CLIENTS_MAX);
		turn_away(fd, RPC_LIMIT_REACHED, text);
	} else {
		conn_new(&server->pool, fd, &caller);
	}
	free(why);
	peer_release(&caller.peer);
}

/* No descriptor is left: use the spare one, because the waiting client would keep the loop busy. */
static bool refuse_one(struct server *server, int listener)
{
	int fd;

	if (server->spare == -1)
		server->spare = spare_fd();
	if (server->spare == -1)
		return false;
	close(server->spare);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd != -1)
		turn_away(fd, RPC_BUSY, "no file descriptor left: try again in a moment");
	server->spare = spare_fd();
	return fd != -1;
}

static void door_poll_cb(uv_poll_t *poll, int status, int events)
{
	struct door *door = poll->data;
	int listener = listener_fd(door->listener);

	(void)events;
	if (status < 0) {
		log_error("cannot accept any more clients: %s", uv_strerror(status));
		return;
	}
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd != -1)
			admit(door->server, fd);
		else if ((errno != EMFILE && errno != ENFILE) || !refuse_one(door->server, listener))
			return;
	}
}

static void door_closed_cb(uv_handle_t *handle)
{
	struct door *door = handle->data;
	struct server *server = door->server;

	listener_free(door->listener);
	free(door);
	server->open--;
	server_finish(server);
}

/* Takes ownership of listener. NULL with error. */
static struct door *door_new(struct server *server, struct listener *listener, char *error, size_t room)
{
	struct door *door = xcalloc(1, sizeof(*door));
	int rv = uv_poll_init(server->loop, &door->poll, listener_fd(listener));

	if (rv != 0) {
		snprintf(error, room, "cannot watch the socket %s: %s", listener_path(listener), uv_strerror(rv));
		listener_free(listener);
		free(door);
		return NULL;
	}
	door->server = server;
	door->listener = listener;
	door->poll.data = door;
	server->open++;
	uv_poll_start(&door->poll, UV_READABLE, door_poll_cb);
	return door;
}

/* NULL with error. */
static struct door *door_open(struct server *server, const char *path, char *error, size_t room)
{
	struct listener *listener;

	if (listener_open(path, server->to_others, &listener, error, room) == -1)
		return NULL;
	return door_new(server, listener, error, room);
}

int server_listen(struct server *server, const char *path, int inherited, char *error, size_t room)
{
	struct door *door;

	if (server->ndoors == PATHS_MAX) {
		snprintf(error, room, "cannot listen on %s too: at most %d sockets are allowed", path, PATHS_MAX);
		return -1;
	}
	door = inherited >= 0 ? door_new(server, listener_take(inherited, path), error, room) :
	    door_open(server, path, error, room);
	if (door == NULL)
		return -1;
	server->doors[server->ndoors++] = door;
	return 0;
}

void server_set_open(struct server *server, bool open)
{
	server->to_others = open;
	for (size_t i = 0; i < server->ndoors; i++)
		listener_set_open(server->doors[i]->listener, open);
}

void server_review(struct server *server, server_admit_cb *decide)
{
	pool_review(&server->pool, decide);
}

void server_refuse_waiting(int inherited, const char *message)
{
	for (int fd; (fd = accept4(inherited, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1;)
		turn_away(fd, RPC_UNAVAILABLE, message);
}

void server_listen_again(struct server *server)
{
	char error[512];

	for (size_t i = 0; i < server->ndoors; i++) {
		const char *path = listener_path(server->doors[i]->listener);
		struct stat st;
		struct door *door;

		if (lstat(path, &st) == 0 || errno != ENOENT)
			continue;
		door = door_open(server, path, error, sizeof(error));
		if (door == NULL) {
			log_warn("%s", error);
			continue;
		}
		log_info("listening at %s again", path);
		uv_close((uv_handle_t *)&server->doors[i]->poll, door_closed_cb);
		server->doors[i] = door;
	}
}

static void idle_closed_cb(uv_handle_t *handle)
{
	struct pool *pool = handle->data;
	struct server *server = pool->ended_arg;

	server->open--;
	server_finish(server);
}

void server_close(struct server *server, void (*closed)(void *arg), void *arg)
{
	server->closed = closed;
	server->closed_arg = arg;
	for (size_t i = 0; i < server->ndoors; i++)
		uv_close((uv_handle_t *)&server->doors[i]->poll, door_closed_cb);
	uv_close((uv_handle_t *)&server->pool.idle, idle_closed_cb);
	pool_end(&server->pool);
}
