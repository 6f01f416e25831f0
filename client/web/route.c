/* SPDX-License-Identifier: MIT */
#include "client/web/route.h"

#include <string.h>

#include "client/client.h"
#include "client/field.h"
#include "client/web/web_page.h"
#include "client/web/web_text.h"
#include "proto/memory.h"

static struct reply script_reply(const struct request *r)
{
	(void)r;
	return (struct reply){ .status = 200, .type = "text/javascript; charset=utf-8", .body = xstrdup(web_script),
		.size = strlen(web_script) };
}

/* since: the newest event that the page knew. */
static struct reply stream_reply(const struct request *r)
{
	int64_t run = FIELD_NONE, since = 0;
	struct reply reply = { .status = 200, .type = "text/event-stream" };

	client_parse_id(field_text(r->query, "run"), &run);
	client_parse_id(field_text(r->query, "since"), &since);
	reply.stream = stream_open(r->streams, r->connection, r->session, run, since != r->link->seq);
	return reply;
}

/* '#' in a path stands for a number. */
static const struct route {
	const char *method, *path;
	struct reply (*reply)(const struct request *r);
} routes[] = {
	{ "GET", "/", overview_reply },
	{ "GET", "/run/#", run_reply },
	{ "GET", "/holds", queue_reply },
	{ "GET", "/hold/#", hold_reply },
	{ "POST", "/hold/#", decision_reply },
	{ "GET", "/events", stream_reply },
	{ "GET", "/live.js", script_reply },
};

static bool route_fits(const struct route *route, const char *path, int64_t *number)
{
	size_t length = strcspn(route->path, "#");

	if (route->path[length] == '\0')
		return strcmp(route->path, path) == 0;
	return strncmp(route->path, path, length) == 0 && client_parse_id(path + length, number) == 0;
}

/* The token is spent. The page leads on by itself, because a cookie of this strictness is not sent
 * where another server's page has led. */
static struct reply route_enter(const struct request *r, const struct session *session)
{
	struct reply reply = page_enter(r);

	reply.cookie = xasprintf(COOKIE "=%s; Path=%s; HttpOnly; SameSite=Strict", session->id, r->address);
	return reply;
}

static struct reply route_unknown(const struct request *r, const char *allow)
{
	struct reply reply;

	if (allow == NULL)
		return page_notice(r, 404, "Not found", "There is no such page.", "");
	reply = page_notice(r, 405, "Not allowed", "This page does not take such a request.", "");
	reply.allow = allow;
	return reply;
}

/* Outside of the place there is only the token. */
static struct reply route_outside(const struct request *r)
{
	const char *token = field_text(r->query, "token");
	struct session *session;

	if (!r->root || strcmp(r->method, "GET") != 0)
		return route_unknown(r, r->root ? "GET, HEAD" : NULL);
	if (*token == '\0')
		return page_notice(r, 403, "No access", "Open the address that \"rlctl web\" has printed.", "");
	/* a program that looks at a link does not spend it */
	session = r->head ? NULL : sessions_open(r->sessions, token);
	if (session == NULL)
		return page_notice(r, 403, "No access", "This address was used, or replaced by another.",
		    "Press Enter in the terminal of \"rlctl web\" for a new one, or start it again.");
	streams_forget(r->streams, session);
	return route_enter(r, session);
}

struct reply route_reply(struct request *r)
{
	const struct route *found = NULL;
	const char *allow = NULL;	/* every path with a POST has a GET before it */

	if (r->path == NULL)
		return route_outside(r);
	if (r->session == NULL)
		return page_notice(r, 403, "No access", "This browser has no session here, or it has ended.",
		    "Open the address that \"rlctl web\" has printed.");
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!route_fits(&routes[i], r->path, &r->number))
			continue;
		allow = strcmp(routes[i].method, "POST") == 0 ? "GET, HEAD, POST" : "GET, HEAD";
		if (strcmp(routes[i].method, r->method) == 0)
			found = &routes[i];
	}
	return found != NULL ? found->reply(r) : route_unknown(r, allow);
}
