/* SPDX-License-Identifier: MIT */
/* The connection of one MCP request to the daemon. It survives restarts of the daemon, and another
 * thread can end it. */
#ifndef CLIENT_MCP_LINK_H
#define CLIENT_MCP_LINK_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "client/client.h"
#include "proto/call.h"

struct mcp_link {
	struct client *client;		/* shared by all requests */
	struct call_conn *conn;		/* NULL: not connected */
	json_t *hello;			/* reply to daemon.hello on conn */
	bool cancelled;
	pthread_mutex_t lock;		/* conn and cancelled */
};

void mcp_link_init(struct mcp_link *l, struct client *client);
void mcp_link_release(struct mcp_link *l);

/* From another thread: calls fail from now on, also the one that waits. */
void mcp_link_cancel(struct mcp_link *l);
bool mcp_link_is_cancelled(struct mcp_link *l);

/* Call a method; takes ownership of params. When the connection breaks, a call that repeats is made
 * again; any other fails, because it may have been carried out. Returns the result (caller decrefs)
 * or NULL with error; error->code 0: no daemon has answered. */
json_t *mcp_link_call(struct mcp_link *l, const char *method, json_t *params, bool repeats,
    struct call_error *error);

/* The variables that the daemon asks for, from this program's environment. New reference, or NULL
 * with error. */
json_t *mcp_link_environment(struct mcp_link *l, struct call_error *error);

#endif
