/* SPDX-License-Identifier: MIT */
/* A request of a browser, and what it is answered. */
#ifndef CLIENT_WEB_WEB_REQUEST_H
#define CLIENT_WEB_WEB_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/web/daemon_link.h"
#include "client/web/session.h"
#include "client/web/stream.h"

struct MHD_Connection;
struct MHD_Response;

struct request {
	struct daemon_link *link;
	struct sessions *sessions;
	struct streams *streams;
	struct MHD_Connection *connection;
	const char *method;		/* HEAD is GET */
	bool root;			/* the path is "/", outside of the place */
	const char *path;		/* below the place: "/run/5"; NULL: it is not below it */
	const char *address;		/* what all addresses of pages begin with: "/PLACE" */
	struct session *session;	/* NULL: none */
	bool head;			/* the answer has no body */
	int64_t number;			/* in the path */
	json_t *query;			/* behind the path: {name: text} */
	json_t *form;			/* the body of a POST */
};

struct reply {
	unsigned status;		/* of HTTP */
	const char *type;
	char *body;			/* owned */
	size_t size;
	char *location;			/* owned; NULL: none */
	char *cookie;			/* likewise */
	const char *allow;		/* methods; NULL: left out */
	struct MHD_Response *stream;	/* instead of the body; NULL: none */
};

/* Pages, by the table of routes. */
struct reply overview_reply(const struct request *r);
struct reply run_reply(const struct request *r);
struct reply queue_reply(const struct request *r);
struct reply hold_reply(const struct request *r);
struct reply decision_reply(const struct request *r);

#endif
