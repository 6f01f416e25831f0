/* SPDX-License-Identifier: MIT */
#include "client/mcp_link.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "client/connect.h"
#include "proto/clock.h"
#include "proto/memory.h"

#define PATIENCE_MS 10000	/* how long a daemon may take to come back */
#define PAUSE_MS 50		/* between two tries */
#define BREAKS 5		/* broken connections before a call is given up */

/* Guards the client: its socket, and the search for a daemon. */
static pthread_mutex_t client_lock = PTHREAD_MUTEX_INITIALIZER;

void mcp_link_init(struct mcp_link *l, struct client *client)
{
	*l = (struct mcp_link){ .client = client };
	pthread_mutex_init(&l->lock, NULL);
}

/* conn NULL: none any more. Returns false, and closes it, if the link is cancelled. */
static bool link_set(struct mcp_link *l, struct call_conn *conn, json_t *hello)
{
	bool cancelled;

	pthread_mutex_lock(&l->lock);
	call_close(l->conn);
	json_decref(l->hello);
	l->conn = conn;
	l->hello = hello;
	cancelled = l->cancelled;
	pthread_mutex_unlock(&l->lock);
	return !cancelled;
}

void mcp_link_release(struct mcp_link *l)
{
	link_set(l, NULL, NULL);
	pthread_mutex_destroy(&l->lock);
}

bool mcp_link_is_cancelled(struct mcp_link *l)
{
	bool cancelled;

	pthread_mutex_lock(&l->lock);
	cancelled = l->cancelled;
	pthread_mutex_unlock(&l->lock);
	return cancelled;
}

void mcp_link_cancel(struct mcp_link *l)
{
	pthread_mutex_lock(&l->lock);
	l->cancelled = true;
	if (l->conn != NULL)
		shutdown(call_fd(l->conn), SHUT_RDWR);
	pthread_mutex_unlock(&l->lock);
}

static bool link_fail(struct call_error *error, const char *message, const char *hint)
{
	*error = (struct call_error){ .code = 0 };
	strlcpy(error->message, message, sizeof(error->message));
	strlcpy(error->hint, hint, sizeof(error->hint));
	return false;
}

/* Find a daemon as other commands do; details go to stderr. */
static bool link_search(struct mcp_link *l, struct call_error *error)
{
	struct client *c = l->client;
	struct call_conn *conn;
	json_t *hello;
	int status;

	pthread_mutex_lock(&client_lock);
	free(c->socket);
	c->socket = NULL;
	status = client_connect(c);
	conn = c->conn;
	hello = c->hello;
	c->conn = NULL;
	c->hello = NULL;
	pthread_mutex_unlock(&client_lock);
	if (status == 0)
		return link_set(l, conn, hello) || link_fail(error, "the request was cancelled", "");
	return link_fail(error, "no rld daemon answers, or it refuses this user",
	    "start one with \"rld\", then call the tool again; "
	    "the standard error of \"rlctl mcp\" says what was tried");
}

/* Where a daemon answered last: it may be starting again. */
static bool link_open(struct mcp_link *l, struct call_error *error)
{
	int64_t end = clock_steady() + PATIENCE_MS;
	struct call_conn *conn = NULL;
	struct call_trust trust;
	json_t *hello = NULL;
	char *path;
	bool open = false;

	pthread_mutex_lock(&client_lock);
	path = xstrdup(l->client->socket);
	trust = l->client->trust;
	pthread_mutex_unlock(&client_lock);
	while (path != NULL && !open && !mcp_link_is_cancelled(l) && clock_steady() < end) {
		open = connect_again(l->client->host, path, &trust, -1, &conn, &hello);
		if (!open)
			poll(NULL, 0, PAUSE_MS);
	}
	free(path);
	if (open)
		return link_set(l, conn, hello) || link_fail(error, "the request was cancelled", "");
	if (mcp_link_is_cancelled(l))
		return link_fail(error, "the request was cancelled", "");
	return link_search(l, error);
}

/* The whole time to wait stays the same when a call is made again. */
static void link_shorten(json_t *params, int64_t ms)
{
	json_t *timeout = json_object_get(params, "timeout_ms");
	json_int_t left = json_integer_value(timeout) - ms;

	if (timeout != NULL)
		json_integer_set(timeout, left > 0 ? left : 0);
}

json_t *mcp_link_call(struct mcp_link *l, const char *method, json_t *params, bool repeats, struct call_error *error)
{
	json_t *result = NULL;

	for (int i = 0; i < BREAKS; i++) {
		int64_t began = clock_steady();

		if (l->conn == NULL && !link_open(l, error))
			break;
		result = call_method(l->conn, method, json_deep_copy(params), error);
		if (result != NULL || error->code != 0)
			break;
		link_set(l, NULL, NULL);
		if (mcp_link_is_cancelled(l))
			break;
		if (!repeats) {
			link_fail(error,
			    "the connection to the daemon broke during the call, which may have been carried out",
			    "look at the present state before you repeat it");
			break;
		}
		link_shorten(params, clock_steady() - began);
	}
	json_decref(params);
	return result;
}

json_t *mcp_link_environment(struct mcp_link *l, struct call_error *error)
{
	if (l->conn == NULL && !link_open(l, error))
		return NULL;
	return client_environment(l->client, l->hello);
}
