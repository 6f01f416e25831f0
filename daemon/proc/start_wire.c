/* SPDX-License-Identifier: MIT */
#include "proc/start_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/memory.h"

#define WORDS_MAX (16 * 1024 * 1024)

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(START_FDS * sizeof(int))];
};

int start_send(int conn, const void *data, size_t size, const int *fds, size_t nfds)
{
	struct iovec part = { .iov_base = (void *)data, .iov_len = size };
	union control control = { 0 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (nfds > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, nfds * sizeof(int));
	}
	do
		n = sendmsg(conn, &message, MSG_NOSIGNAL);
	while (n == -1 && errno == EINTR);
	return n == (ssize_t)size ? 0 : n == -1 ? -errno : -EPROTO;
}

static void take_descriptors(struct msghdr *message, int fds[START_FDS])
{
	size_t have = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
		size_t count = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS ?
		    (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;

		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (have < START_FDS)
				fds[have++] = fd;
			else
				close(fd);
		}
	}
}

int start_receive(int conn, void *data, size_t size, int fds[START_FDS])
{
	struct iovec part = { .iov_base = data, .iov_len = size };
	union control control = { 0 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
	    .msg_controllen = sizeof(control) };
	ssize_t n;

	for (size_t i = 0; i < START_FDS; i++)
		fds[i] = -1;
	do
		n = recvmsg(conn, &message, MSG_CMSG_CLOEXEC);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -errno;
	take_descriptors(&message, fds);
	if (n == (ssize_t)size && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return 0;
	for (size_t i = 0; i < START_FDS; i++) {
		if (fds[i] != -1)
			close(fds[i]);
		fds[i] = -1;
	}
	return n == 0 ? -ECONNRESET : -EPROTO;
}

int start_words(char *const *words)
{
	int fd = memfd_create("words", MFD_CLOEXEC), rv;
	struct buf b = { 0 };

	if (fd == -1)
		return -errno;
	for (; *words != NULL; words++)
		buf_add(&b, *words, strlen(*words) + 1);
	for (size_t done = 0; done < b.size; ) {
		ssize_t n = write(fd, b.data + done, b.size - done);

		if (n == -1 && errno != EINTR) {
			rv = -errno;
			close(fd);
			fd = rv;
			break;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	if (b.data != NULL)
		explicit_bzero(b.data, b.size);
	buf_release(&b);
	return fd;
}

/* 0 or errno. */
static int read_all(int fd, char *text, size_t size)
{
	for (size_t done = 0; done < size; ) {
		ssize_t n = pread(fd, text + done, size - done, (off_t)done);

		if (n == 0 || (n == -1 && errno != EINTR))
			return n == 0 ? EIO : errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

char **start_words_read(int fd)
{
	struct stat st;
	char **words, *text;
	size_t size, count = 0;
	int error;

	if (fstat(fd, &st) == -1)
		return NULL;
	if (st.st_size > WORDS_MAX) {
		errno = E2BIG;
		return NULL;
	}
	size = (size_t)st.st_size;
	text = xcalloc(1, size + 1);
	error = read_all(fd, text, size);
	if (error != 0) {
		free(text);
		errno = error;
		return NULL;
	}
	words = xcalloc(1, sizeof(*words));
	for (size_t i = 0; i < size; i += strlen(text + i) + 1) {
		words = xreallocarray(words, count + 2, sizeof(*words));
		words[count++] = xstrdup(text + i);
		words[count] = NULL;
	}
	explicit_bzero(text, size);
	free(text);
	return words;
}
