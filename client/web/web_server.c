/* SPDX-License-Identifier: MIT */
#include "client/web/web_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/message.h"
#include "client/web/form.h"
#include "client/web/guard.h"
#include "client/web/peer.h"
#include "client/web/route.h"
#include "client/web/web_page.h"
#include "proto/memory.h"

#define SILENCE_S 30		/* a connection that says nothing for so long is closed */
#define BACKLOG 64

/* A request that is being read. */
struct incoming {
	const struct guard_reason *refused;
	struct buf body;
};

/* Sent with every answer. */
static const struct {
	const char *name, *value;
} headers[] = {
	{ "Cache-Control", "no-store" },
	{ "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; "
	    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	/* with no-referrer, browsers would send "Origin: null" with forms */
	{ "Referrer-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

static const char *server_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static const struct guard_reason *server_guard(const struct server *s, struct MHD_Connection *connection,
    const char *method)
{
	struct guard_head head = {
		.port = s->port, .post = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0,
		.host = server_header(connection, "Host"), .origin = server_header(connection, "Origin"),
		.type = server_header(connection, "Content-Type"),
		.length = server_header(connection, "Content-Length"),
		.encoding = server_header(connection, "Transfer-Encoding"),
	};

	return guard_check(&head);
}

/* Takes ownership of reply. */
static enum MHD_Result server_send(struct MHD_Connection *connection, struct reply reply)
{
	struct MHD_Response *response = reply.stream != NULL ? reply.stream :
	    MHD_create_response_from_buffer(reply.size, reply.body, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (response == NULL)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(response, headers[i].name, headers[i].value);
	MHD_add_response_header(response, "Content-Type", reply.type);
	/* a stream that has ended frees its connection at once */
	if (reply.stream != NULL)
		MHD_add_response_header(response, "Connection", "close");
	if (reply.cookie != NULL)
		MHD_add_response_header(response, "Set-Cookie", reply.cookie);
	if (reply.allow != NULL)
		MHD_add_response_header(response, "Allow", reply.allow);
	if (reply.location != NULL && reply.status == 303) {
		MHD_add_response_header(response, "Location", reply.location);
	} else if (reply.location != NULL) {
		char *refresh = xasprintf("0; url=%s", reply.location);

		MHD_add_response_header(response, "Refresh", refresh);
		free(refresh);
	}
	result = MHD_queue_response(connection, reply.status, response);
	MHD_destroy_response(response);
	free(reply.location);
	free(reply.cookie);
	return result;
}

/* A name that comes twice counts once; what is not UTF-8 does not count. */
static enum MHD_Result server_add_query(void *query, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind;
	json_object_set_new(query, name, json_string(value != NULL ? value : ""));
	return MHD_YES;
}

/* The path below the place; NULL: it is not below it. */
static const char *server_path(const struct server *s, const char *url)
{
	size_t length = strlen(s->sessions.place);

	if (*url != '/' || strncmp(url + 1, s->sessions.place, length) != 0)
		return NULL;
	url += 1 + length;
	return *url == '\0' ? "/" : *url == '/' ? url : NULL;
}

static enum MHD_Result server_answer(struct server *s, struct MHD_Connection *connection, const char *url,
    const char *method, const struct incoming *in)
{
	char *address = xasprintf("/%s", s->sessions.place);
	struct request r = {
		.link = s->link, .sessions = &s->sessions, .streams = &s->streams, .connection = connection,
		.method = strcmp(method, "HEAD") == 0 ? "GET" : method, .head = strcmp(method, "HEAD") == 0,
		.address = address, .root = strcmp(url, "/") == 0, .path = server_path(s, url), .query = json_object(),
	};
	struct reply reply;

	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, server_add_query, r.query);
	if (in->refused == NULL && r.path != NULL)
		r.session = sessions_find(&s->sessions,
		    MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, COOKIE));
	r.form = form_read(in->body.data, in->body.size);
	link_limit(s->link);
	if (in->refused != NULL)
		reply = page_notice(&r, in->refused->status, "Not accepted", in->refused->message, "");
	else if (r.form == NULL)
		reply = page_notice(&r, 400, "Not accepted",
		    "The form cannot be read: it has to be UTF-8, without NUL.", "");
	else
		reply = route_reply(&r);
	json_decref(r.query);
	json_decref(r.form);
	free(address);
	return server_send(connection, reply);
}

static enum MHD_Result server_handle(void *arg, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *data, size_t *size, void **state)
{
	struct server *s = arg;
	struct incoming *in = *state;

	(void)version;
	if (in == NULL) {
		*state = in = xcalloc(1, sizeof(*in));
		in->refused = server_guard(s, connection, method);
		/* do not read the body of what is refused */
		return in->refused != NULL ? server_answer(s, connection, url, method, in) : MHD_YES;
	}
	if (*size > 0) {
		if (in->body.size + *size > BODY_MAX)
			return MHD_NO;
		buf_add(&in->body, data, *size);
		*size = 0;
		return MHD_YES;
	}
	return server_answer(s, connection, url, method, in);
}

static void server_done(void *arg, struct MHD_Connection *connection, void **state,
    enum MHD_RequestTerminationCode code)
{
	struct incoming *in = *state;

	(void)arg, (void)connection, (void)code;
	if (in != NULL)
		buf_release(&in->body);
	free(in);
	*state = NULL;
}

/* The daemon records its own client as the human who decides: others of this host are no part of
 * that, even with a stolen cookie. */
static enum MHD_Result server_accept(void *arg, const struct sockaddr *address, socklen_t size)
{
	struct server *s = arg;
	uid_t uid = 0;
	bool known = size >= sizeof(struct sockaddr_in) && peer_user((const struct sockaddr_in *)(const void *)address,
	    s->port, &uid);

	if (known && (uid == geteuid() || uid == 0))
		return MHD_YES;
	if (!s->told && known)
		message_note("a connection of uid %u was refused", (unsigned)uid);
	else if (!s->told)
		message_note("a connection was refused, because /proc/net/tcp does not tell its user");
	s->told = true;
	return MHD_NO;
}

/* Returns the socket or -errno. */
static int server_listen(in_port_t port, in_port_t *bound)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, failure;

	if (fd == -1)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1 || listen(fd, BACKLOG) == -1 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) == -1) {
		failure = -errno;
		close(fd);
		return failure;
	}
	*bound = ntohs(address.sin_port);
	return fd;
}

int server_start(struct server *s, in_port_t port, struct daemon_link *link)
{
	int fd;

	*s = (struct server){ .link = link, .streams.there = true };
	fd = server_listen(port, &s->port);
	if (fd < 0)
		return fd;
	sessions_init(&s->sessions);
	s->http = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, server_accept, s, server_handle, s,
	    MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S, MHD_OPTION_NOTIFY_COMPLETED, server_done, s,
	    MHD_OPTION_END);
	if (s->http == NULL) {
		close(fd);
		return -EMFILE;
	}
	return 0;
}

void server_stop(struct server *s)
{
	streams_end(&s->streams);
	server_run(s);
	MHD_stop_daemon(s->http);
}

int server_fd(const struct server *s)
{
	return MHD_get_daemon_info(s->http, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

int server_wait(const struct server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(s->http, &ms) != MHD_YES)
		return -1;
	return ms > SILENCE_S * 1000 ? SILENCE_S * 1000 : (int)ms;
}

void server_run(struct server *s)
{
	MHD_run(s->http);
}

char *server_address(const struct server *s)
{
	return xasprintf("http://127.0.0.1:%u/?token=%s", s->port, s->sessions.token);
}
