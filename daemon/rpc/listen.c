/* SPDX-License-Identifier: MIT */
#include "rpc/listen.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/memory.h"

struct listener {
	int fd;
	char *path;
	dev_t dev;	/* identity of the socket file that we made */
	ino_t ino;
};

/* Whether the listening process has exited. A child between fork and exec keeps the socket open,
 * such as one of a daemon that was killed while starting a shim. */
static bool is_orphan(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 &&
	    kill(peer.pid, 0) == -1 && errno == ESRCH;
}

/* Whether a process accepts connections there. */
static bool is_live(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool live;

	if (fd == -1)
		return true;	/* unknown: do not remove it */
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		live = !is_orphan(fd);
	else
		live = errno == EAGAIN || errno == EACCES;
	close(fd);
	return live;
}

/* bind(2) creates the file, and only the umask keeps its mode narrow from the start. */
static int bind_path(int fd, bool open, const struct sockaddr_un *address)
{
	mode_t old = umask(open ? 0111 : 0177);
	int rv = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == -1 ? -errno : 0;

	umask(old);
	return rv;
}

/* Remove a stale socket at the path. Returns 0, or -1 with error. */
static int clear_path(const struct sockaddr_un *address, char *error, size_t room)
{
	struct stat st;

	if (lstat(address->sun_path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
		snprintf(error, room,
		    "%s exists and is not a socket: move it away, or name another path with "
		    "--socket",
		    address->sun_path);
		return -1;
	}
	if (is_live(address)) {
		snprintf(error, room,
		    "another daemon answers at %s: use it, stop it, or name another path with --socket",
		    address->sun_path);
		return -1;
	}
	if (unlink(address->sun_path) == -1 && errno != ENOENT) {
		snprintf(error, room, "cannot remove the stale socket %s: %s", address->sun_path, strerror(errno));
		return -1;
	}
	return 0;
}

int listener_open(const char *path, bool open, struct listener **out, char *error, size_t room)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, rv;

	if (strlen(path) >= sizeof(address.sun_path)) {
		snprintf(error, room,
		    "the socket path %s has %zu bytes, the limit is %zu: name a shorter one with "
		    "--socket", path,
		    strlen(path), sizeof(address.sun_path) - 1);
		return -1;
	}
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1) {
		snprintf(error, room, "cannot create a socket: %s", strerror(errno));
		return -1;
	}
	rv = bind_path(fd, open, &address);
	if (rv == -EADDRINUSE) {
		if (clear_path(&address, error, room) == -1)
			goto fail;
		rv = bind_path(fd, open, &address);
	}
	if (rv != 0) {
		snprintf(error, room,
		    "cannot create the socket %s: %s: make sure that its directory exists and is "
		    "writable",
		    path, strerror(-rv));
		goto fail;
	}
	if (listen(fd, SOMAXCONN) == -1 || lstat(path, &st) == -1) {
		snprintf(error, room, "cannot listen on %s: %s", path, strerror(errno));
		unlink(path);
		goto fail;
	}
	*out = xcalloc(1, sizeof(**out));
	**out = (struct listener){ .fd = fd, .path = xstrdup(path), .dev = st.st_dev, .ino = st.st_ino };
	return 0;
fail:
	close(fd);
	return -1;
}

void listener_set_open(struct listener *listener, bool open)
{
	struct stat st;

	if (lstat(listener->path, &st) == 0 && st.st_dev == listener->dev && st.st_ino == listener->ino &&
	    chmod(listener->path, open ? 0666 : 0600) == -1)
		log_warn("cannot change the mode of the socket %s: %s", listener->path, strerror(errno));
}

struct listener *listener_take(int fd, const char *path)
{
	struct listener *listener = xcalloc(1, sizeof(*listener));

	*listener = (struct listener){ .fd = fd, .path = xstrdup(path) };
	/* again: clients see the credentials of the process that listened last, ours from now on */
	(void)listen(fd, SOMAXCONN);
	return listener;
}

int listener_fd(const struct listener *listener)
{
	return listener->fd;
}

const char *listener_path(const struct listener *listener)
{
	return listener->path;
}

void listener_free(struct listener *listener)
{
	struct stat st;

	if (listener == NULL)
		return;
	if (lstat(listener->path, &st) == 0 && st.st_dev == listener->dev && st.st_ino == listener->ino)
		unlink(listener->path);
	close(listener->fd);
	free(listener->path);
	free(listener);
}
