/* SPDX-License-Identifier: MIT */
#include "client/reconnect.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "client/client.h"
#include "client/connect.h"
#include "client/field.h"
#include "client/message.h"
#include "proto/call.h"
#include "proto/clock.h"
#include "proto/memory.h"

#define RETURN_MS 10000
#define LOOK_AGAIN_MS 100

static bool subscribe_again(struct client *c, int64_t run, int64_t since, bool *refused)
{
	json_t *params = json_pack("{s:I}", "since", (json_int_t)since), *result;
	struct call_error why;

	if (run != FIELD_NONE)
		json_object_set_new(params, "run", json_integer(run));
	result = call_method(c->conn, "event.subscribe", params, &why);
	*refused = result == NULL && why.code != 0;
	json_decref(result);
	return result != NULL;
}

/* One quick try. *refused: it is a different daemon. */
static bool return_once(struct client *c, const char *instance, int64_t run, int64_t since, bool *refused)
{
	bool back;

	if (!connect_again(c->host, c->socket, &c->trust, -1, &c->conn, &c->hello))
		return false;
	*refused = !field_is(c->hello, "instance", instance);
	back = !*refused && (since == FIELD_NONE || subscribe_again(c, run, since, refused));
	if (!back)
		client_hang_up(c);
	return back;
}

enum reconnect_result reconnect_events(struct client *c, int64_t run, int64_t since, int interrupts)
{
	char *instance = xstrdup(field_text(c->hello, "instance"));
	struct pollfd p = { .fd = interrupts, .events = POLLIN };
	enum reconnect_result result = RECONNECT_GONE;
	int64_t begin = clock_steady();
	struct signalfd_siginfo info;
	bool refused = false;

	client_hang_up(c);
	while (result == RECONNECT_GONE && !refused && clock_steady() - begin < RETURN_MS) {
		if (return_once(c, instance, run, since, &refused))
			result = RECONNECT_BACK;
		else if (!refused && poll(&p, 1, LOOK_AGAIN_MS) > 0 &&
		    read(interrupts, &info, sizeof(info)) == (ssize_t)sizeof(info))
			result = RECONNECT_INTERRUPTED;
	}
	free(instance);
	return result;
}

bool reconnect_told(struct client *c, int64_t run, int64_t since, int *returns)
{
	if (*returns == 0)
		message_note("the daemon disappeared; waiting for it to return");
	return (*returns)++ < RECONNECTS_MAX && reconnect_events(c, run, since, -1) == RECONNECT_BACK;
}
