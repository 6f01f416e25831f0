/* SPDX-License-Identifier: MIT */
#include "base/peer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "proto/memory.h"

#define LINKS_MAX 40	/* as the kernel has it */

/* ---- the words ---- */

char **read_as_peer(const struct peer *peer, const char *const *own, size_t count)
{
	struct buf b = { 0 };
	char **words = NULL;

	buf_addf(&b, "%u", (unsigned)peer->uid);
	for (size_t i = 0; i < peer->ngroups; i++)
		buf_addf(&b, " %u", (unsigned)peer->groups[i]);
	strings_append(&words, b.data);
	buf_release(&b);
	for (size_t i = 0; i < count; i++)
		if (own[i] != NULL)
			strings_append(&words, own[i]);
	return words;
}

static void peer_of_word(const char *word, struct peer *peer)
{
	char *end;

	*peer = (struct peer){ .uid = (uid_t)strtoul(word, &end, 10) };
	while (*end == ' ') {
		peer->groups = xreallocarray(peer->groups, peer->ngroups + 1, sizeof(gid_t));
		peer->groups[peer->ngroups++] = (gid_t)strtoul(end, &end, 10);
	}
}

/* ---- the walk ---- */

struct walk {
	const struct peer *peer;
	int at;				/* O_PATH; of the directory reached */
	char *rest;			/* owned: names that are left */
	int links;
};

static int walk_root(struct walk *w)
{
	if (w->at >= 0)
		close(w->at);
	w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->at == -1 ? -errno : 0;
}

/* Continue with the target of the link, which is open as fd. */
static int walk_link(struct walk *w, int fd)
{
	char target[PATH_MAX], *rest;
	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

	if (n <= 0)
		return n == 0 ? -ENOENT : -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	target[n] = '\0';
	rest = xasprintf("%s/%s", target, w->rest);
	free(w->rest);
	w->rest = rest;
	return target[0] == '/' ? walk_root(w) : 0;
}

/* The next name, which is cut off the rest. malloc'd; NULL: none is left. */
static char *walk_name(struct walk *w)
{
	size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/");
	char *name = n > 0 ? xmemdup0(w->rest + skip, n) : NULL;

	memmove(w->rest, w->rest + skip + n, strlen(w->rest + skip + n) + 1);
	return name;
}

static bool walk_is_last(const struct walk *w)
{
	return w->rest[strspn(w->rest, "/")] == '\0';
}

static int walk_step(struct walk *w, const char *name, bool nofollow)
{
	struct stat st;
	int fd, rv = 0;

	if (fstat(w->at, &st) == -1)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (!peer_allowed(w->peer, &st, X_OK))
		return -EACCES;
	fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -errno;
	if (fstat(fd, &st) == -1) {
		rv = -errno;
	} else if (!S_ISLNK(st.st_mode)) {
		close(w->at);
		w->at = fd;
		return 0;
	} else {
		rv = nofollow && walk_is_last(w) ? -ELOOP : walk_link(w, fd);
	}
	close(fd);
	return rv;
}

static int walk_open(const struct walk *w)
{
	char path[64];
	struct stat st;
	int fd;

	if (fstat(w->at, &st) == -1)
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EINVAL;
	if (!peer_allowed(w->peer, &st, R_OK))
		return -EACCES;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->at);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd == -1 ? -errno : fd;
}

int peer_open(const struct peer *peer, const char *path, bool nofollow)
{
	struct walk w = { .peer = peer, .at = -1, .rest = xstrdup(path) };
	int rv = path[0] == '/' ? walk_root(&w) : -EINVAL;
	char *name;

	while (rv == 0 && (name = walk_name(&w)) != NULL) {
		rv = walk_step(&w, name, nofollow);
		free(name);
	}
	if (rv == 0)
		rv = walk_open(&w);
	if (w.at >= 0)
		close(w.at);
	free(w.rest);
	return rv;
}

/* ---- reading ---- */

static int read_file(int fd, size_t max, char **data, size_t *size)
{
	struct buf b = { 0 };
	struct stat st;
	int rv = fstat(fd, &st) == -1 ? -errno : !S_ISREG(st.st_mode) ? -EINVAL :
	    !agent_user_may(fd, R_OK) ? -EACCES : buf_read(&b, fd, max);

	if (rv == 0)
		*data = buf_take(&b, size);
	buf_release(&b);
	return rv;
}

static int read_plainly(const char *path, bool nofollow, size_t max, char **data, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (nofollow ? O_NOFOLLOW : 0)), rv;

	if (fd == -1)
		return -errno;
	rv = read_file(fd, max, data, size);
	close(fd);
	return rv;
}

int file_read_as(char *const *read_as, const char *path, bool nofollow, size_t max, char **data, size_t *size)
{
	struct peer peer;
	int fd, rv;

	if (read_as == NULL || read_as[0] == NULL || strings_contain(read_as + 1, path))
		return read_plainly(path, nofollow, max, data, size);
	peer_of_word(read_as[0], &peer);
	if (peer.uid == 0) {
		rv = read_plainly(path, nofollow, max, data, size);
	} else {
		fd = peer_open(&peer, path, nofollow);
		rv = fd < 0 ? fd : read_file(fd, max, data, size);
		if (fd >= 0)
			close(fd);
	}
	peer_release(&peer);
	return rv;
}
