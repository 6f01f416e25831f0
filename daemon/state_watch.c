/* SPDX-License-Identifier: MIT */
#include "state_watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/memory.h"

struct state_watch {
	uv_poll_t poll;
	int events;		/* inotify */
	int lock;
	bool told;
	void (*gone)(void *arg);
	void *arg;
};

static void state_watch_check(struct state_watch *watch)
{
	struct stat st;

	if (watch->told || fstat(watch->lock, &st) == -1 || st.st_nlink > 0)
		return;
	watch->told = true;
	watch->gone(watch->arg);
}

static void poll_cb(uv_poll_t *poll, int status, int events)
{
	struct state_watch *watch = poll->data;
	char buffer[4096];

	(void)status;
	(void)events;
	/* ignore what happened; check the current state */
	while (read(watch->events, buffer, sizeof(buffer)) > 0)
		;
	state_watch_check(watch);
}

struct state_watch *state_watch_new(uv_loop_t *loop, int lock, void (*gone)(void *arg), void *arg)
{
	struct state_watch *watch = xcalloc(1, sizeof(*watch));
	char path[64];

	*watch = (struct state_watch){ .lock = lock, .gone = gone, .arg = arg };
	/* the file we hold, whatever is at its path now; its link count is an attribute */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", lock);
	watch->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->events == -1 || inotify_add_watch(watch->events, path, IN_ATTRIB | IN_DELETE_SELF) == -1 ||
	    uv_poll_init(loop, &watch->poll, watch->events) != 0) {
		log_warn("cannot watch the state directory for removal: inotify: %s", strerror(errno));
		if (watch->events != -1)
			close(watch->events);
		free(watch);
		return NULL;
	}
	watch->poll.data = watch;
	uv_poll_start(&watch->poll, UV_READABLE, poll_cb);
	state_watch_check(watch);
	return watch;
}

static void closed_cb(uv_handle_t *handle)
{
	struct state_watch *watch = handle->data;

	close(watch->events);
	free(watch);
}

void state_watch_close(struct state_watch *watch)
{
	if (watch != NULL)
		uv_close((uv_handle_t *)&watch->poll, closed_cb);
}
