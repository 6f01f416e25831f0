/* SPDX-License-Identifier: MIT */
#include "client/web/daemon_link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "client/connect.h"
#include "client/field.h"
#include "client/message.h"
#include "client/page/gather.h"
#include "proto/clock.h"
#include "proto/memory.h"

#define PAUSE_MS 500	/* between two tries to reach the daemon */

/* Follow the events of all runs from now on. */
static bool link_subscribe(struct daemon_link *l)
{
	struct call_error error;
	json_t *result = call_method(l->client->conn, "event.subscribe", NULL, &error);
	bool done = result != NULL;

	if (done)
		l->seq = field_int(result, "seq");
	json_decref(result);
	return done;
}

static void link_wait_on(const struct daemon_link *l, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(l->wait, EPOLL_CTL_ADD, fd, &event) == -1)
		message_die("epoll");
}

int link_init(struct daemon_link *l, struct client *client, int end)
{
	int status = client_connect(client);

	l->client = client;
	l->end = end;
	l->limit = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	l->wait = epoll_create1(EPOLL_CLOEXEC);
	if (l->limit == -1 || l->wait == -1)
		message_die("epoll");
	link_wait_on(l, l->end);
	link_wait_on(l, l->limit);
	if (status != 0)
		return status;
	l->instance = xstrdup(field_text(client->hello, "instance"));
	call_give_up_on(client->conn, l->wait);
	link_limit(l);
	if (!link_subscribe(l)) {
		message_error("the daemon disappeared");
		return EXIT_NO_DAEMON;
	}
	return 0;
}

void link_release(struct daemon_link *l)
{
	free(l->instance);
	close(l->limit);
	close(l->wait);
}

bool link_is_there(const struct daemon_link *l)
{
	return l->client->conn != NULL;
}

int link_fd(const struct daemon_link *l)
{
	return link_is_there(l) ? call_fd(l->client->conn) : -1;
}

void link_limit(struct daemon_link *l)
{
	struct itimerspec limit = { .it_value.tv_sec = LINK_LIMIT_S };

	timerfd_settime(l->limit, 0, &limit, NULL);
}

static void link_lost(struct daemon_link *l)
{
	client_hang_up(l->client);
	l->tried = clock_steady();
	message_note("the daemon is gone; its agents continue, and pages show them when it is back");
	l->changed(l->arg, FIELD_NONE);
}

static void link_retry(struct daemon_link *l)
{
	struct client *c = l->client;
	bool other;

	link_limit(l);
	l->tried = clock_steady();
	if (!connect_again(c->host, c->socket, &c->trust, l->wait, &c->conn, &c->hello))
		return;
	/* a page would decide what has the same number there */
	other = !field_is(c->hello, "instance", l->instance);
	if (other && !l->other)
		message_note("another daemon answers there, with another database; start rlctl web again to see it");
	l->other = other;
	if (other || !link_subscribe(l)) {
		client_hang_up(c);
		return;
	}
	message_note("the daemon is back");
	l->changed(l->arg, FIELD_NONE);
}

static void link_take(struct daemon_link *l, const json_t *message)
{
	const json_t *event = json_object_get(message, "params");

	if (field_is(message, "method", "event")) {
		l->seq = field_int(event, "seq");
		l->changed(l->arg, field_int(event, "run"));
	} else {
		/* some are no longer kept */
		l->seq = field_int(event, "to");
		l->changed(l->arg, FIELD_NONE);
	}
}

int link_work(struct daemon_link *l)
{
	json_t *message;
	int got = 0;

	while (link_is_there(l) && (got = call_notification(l->client->conn, 0, &message)) == 1) {
		link_take(l, message);
		json_decref(message);
	}
	if (link_is_there(l) && got == -1)
		link_lost(l);
	if (!link_is_there(l) && clock_steady() >= l->tried + PAUSE_MS)
		link_retry(l);
	return link_is_there(l) ? -1 : PAUSE_MS;
}

static json_t *link_gone(struct call_error *error)
{
	*error = (struct call_error){ .code = 0 };
	strlcpy(error->message, "the daemon does not answer", sizeof(error->message));
	strlcpy(error->hint, "its agents continue; this page comes back when the daemon is there again",
	    sizeof(error->hint));
	return NULL;
}

json_t *link_call(struct daemon_link *l, const char *method, json_t *params, struct call_error *error)
{
	json_t *result;

	if (!link_is_there(l)) {
		json_decref(params);
		return link_gone(error);
	}
	result = call_method(l->client->conn, method, params, error);
	if (result == NULL && error->code == 0)
		link_lost(l);
	return result;
}

json_t *link_run(struct daemon_link *l, int64_t run, struct call_error *error)
{
	json_t *result;

	if (!link_is_there(l))
		return link_gone(error);
	result = gather_run(l->client->conn, run, error);
	if (result == NULL && error->code == 0)
		link_lost(l);
	return result;
}
