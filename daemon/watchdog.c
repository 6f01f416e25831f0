/* SPDX-License-Identifier: MIT */
#include "watchdog.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/notify.h"
#include "proto/memory.h"
#include "store/store.h"

struct watchdog {
	uv_timer_t timer;
	struct store *store;
	const char *socket;
	bool asked;		/* the database has not answered yet */
	bool closed;
	bool told;		/* that the manager does not read */
};

static void watchdog_free(struct watchdog *w)
{
	if (w->closed && !w->asked)
		free(w);
}

/* The loop runs, and so does the thread of the database. */
static void answered_cb(void *arg, struct rowset *set)
{
	struct watchdog *w = arg;
	int rv;

	rowset_release(set);
	w->asked = false;
	rv = w->closed ? 0 : notify_alive(w->socket);
	if (rv != 0 && !w->told)
		log_warn("cannot tell the service manager that rld is alive: %s", strerror(-rv));
	w->told = rv != 0;
	watchdog_free(w);
}

static void tick_cb(uv_timer_t *timer)
{
	struct watchdog *w = timer->data;

	if (w->asked)
		return;
	w->asked = true;
	store_read(w->store, "event.last", ROW_EVENT, NULL, answered_cb, w);
}

/* Of a variable that is taken out of the environment; 0: it is not set. */
static uint64_t take_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	uint64_t number = 0;

	if (text != NULL && *text >= '0' && *text <= '9') {
		errno = 0;
		number = strtoull(text, &end, 10);
		number = errno != 0 || *end != '\0' ? 0 : number;
	}
	unsetenv(name);
	return number;
}

struct watchdog *watchdog_new(uv_loop_t *loop, struct store *store, const char *socket)
{
	uint64_t interval = take_number("WATCHDOG_USEC") / 1000, pid = take_number("WATCHDOG_PID");
	struct watchdog *w;

	if (socket == NULL || interval == 0 || (pid != 0 && pid != (uint64_t)getpid()))
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->store = store;
	w->socket = socket;
	w->timer.data = w;
	uv_timer_init(loop, &w->timer);
	/* twice in an interval at least, as sd_watchdog_enabled(3) advises */
	interval = interval < 3 ? 1 : interval / 3;
	uv_timer_start(&w->timer, tick_cb, 0, interval);
	uv_unref((uv_handle_t *)&w->timer);
	return w;
}

static void closed_cb(uv_handle_t *handle)
{
	struct watchdog *w = handle->data;

	w->closed = true;
	watchdog_free(w);
}

void watchdog_close(struct watchdog *w)
{
	if (w == NULL)
		return;
	uv_close((uv_handle_t *)&w->timer, closed_cb);
}
