/* SPDX-License-Identifier: MIT */
#include "base/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/memory.h"

static bool is_stream(const char *stream, int fd)
{
	struct stat st;
	char own[64];

	if (stream == NULL || fstat(fd, &st) == -1)
		return false;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return strcmp(stream, own) == 0;
}

int journal_open(const char *stream, int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int journal;

	if (!is_stream(stream, fd) || strlen(path) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, strlen(path) + 1);
	journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (journal != -1 && connect(journal, (struct sockaddr *)&address, sizeof(address)) == -1) {
		close(journal);
		return -1;
	}
	return journal;
}

int journal_send(int journal, int priority, const char *message, int64_t run, int64_t attempt)
{
	struct buf b = { 0 };
	int rv = 0;

	buf_addf(&b, "MESSAGE=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=rld\n", message, priority);
	if (run != 0)
		buf_addf(&b, "RLD_RUN=%" PRId64 "\n", run);
	if (attempt != 0)
		buf_addf(&b, "RLD_ATTEMPT=%" PRId64 "\n", attempt);
	if (send(journal, b.data, b.size, MSG_NOSIGNAL | MSG_DONTWAIT) == -1)
		rv = -errno;
	buf_release(&b);
	return rv;
}
