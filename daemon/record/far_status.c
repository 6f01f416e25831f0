/* SPDX-License-Identifier: MIT */
#include "record/far_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/layout.h"

/* Signals are for the agent: the shell waits for it, and tells that they came, because an agent may
 * exit with 0 then. It gets them with their default action: only traps that ignore are inherited.
 * A signal to all of them may reach the shell last, when the agent has ended: so it waits. */
const char far_script[] =
    "f=$1 u=$2; shift 2\n"
    "c=$$.$(cat /proc/sys/kernel/random/boot_id 2> /dev/null).$(cat /etc/machine-id 2> /dev/null)\n"
    "if [ ! -f \"$f\" ] || [ -s \"$f\" ] || ! ln -s \"$c\" \"${f%/*}/" RECORD_CLAIM "\" 2> /dev/null; then\n"
    "\techo \"rld: $f: missing here, or the attempt was started already\" >&2; exit 75\n"
    "fi\n"
    "rm -f \"${f%/*}/" RECORD_START "\"\n"
    "printf 'started %s %s\\n' \"$u\" \"${SLURMD_NODENAME:-$(uname -n)}\" >> \"$f\" || exit 75\n"
    "k=; trap 'k=\" signalled\"' HUP INT TERM\n"
    "\"$@\"; s=$?\n"
    "[ -n \"$k\" ] || sleep 0.2 2> /dev/null || sleep 1\n"
    "printf 'ended %s %s%s\\n' \"$u\" \"$s\" \"$k\" >> \"$f\" || exit 75\n"
    "exit \"$s\"\n";

#define FILE_MAX 512		/* two lines */
#define NODE_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

/* Everything in the file. Returns its size, or -1: unreadable, or too long. */
static ssize_t slurp(int dirfd, const char *name, char text[FILE_MAX])
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t size = 0;
	ssize_t n = 0;

	if (fd == -1)
		return -1;
	while (size < FILE_MAX - 1 && ((n = read(fd, text + size, FILE_MAX - 1 - size)) > 0 ||
	    (n == -1 && errno == EINTR)))
		size += n > 0 ? (size_t)n : 0;
	close(fd);
	text[size] = '\0';
	return n != 0 || strlen(text) != size ? -1 : (ssize_t)size;
}

/* Take "WORD UUID " off *text. */
static bool take(char **text, const char *word, const char *uuid)
{
	const char *const parts[] = { word, " ", uuid, " " };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strncmp(*text, parts[i], strlen(parts[i])) != 0)
			return false;
		*text += strlen(parts[i]);
	}
	return true;
}

/* Take the rest of a line off *text; NULL: it is not complete. */
static char *take_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

/* "STATUS" or "STATUS signalled" */
static void take_end(const char *line, struct far_status *out)
{
	char *end;
	long n = strtol(line, &end, 10);

	if (line[0] < '0' || line[0] > '9' || n > 255)
		return;
	out->status = (int)n;
	if (*end == '\0')
		out->found = FAR_ENDED;
	else if (strcmp(end, " signalled") == 0)
		out->found = FAR_SIGNALLED;
}

void far_status_read(int dirfd, const char *name, const char *uuid, struct far_status *out)
{
	char data[FILE_MAX], *text = data, *line;
	ssize_t size = slurp(dirfd, name, data);

	*out = (struct far_status){ .found = size == 0 ? FAR_EMPTY : FAR_DAMAGED };
	if (size <= 0 || !take(&text, "started", uuid) || (line = take_line(&text)) == NULL)
		return;
	/* the agent could have written it */
	if (strlen(line) < sizeof(out->node) && line[strspn(line, NODE_CHARS)] == '\0')
		memcpy(out->node, line, strlen(line) + 1);
	if (*text == '\0') {
		out->found = FAR_STARTED;
		return;
	}
	if (take(&text, "ended", uuid) && (line = take_line(&text)) != NULL && *text == '\0')
		take_end(line, out);
}

static int append(int dirfd, const char *name, const char *line)
{
	int fd = openat(dirfd, name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW), rv;
	off_t before;
	ssize_t n;

	if (fd == -1)
		return -errno;
	before = lseek(fd, 0, SEEK_END);
	n = write(fd, line, strlen(line));
	rv = n == -1 || fsync(fd) == -1 ? -errno : n == (ssize_t)strlen(line) ? 0 : -ENOSPC;
	/* half a line would prove nothing for ever */
	if (rv != 0 && ftruncate(fd, before) == -1)
		rv = -errno;
	close(fd);
	return rv;
}

int far_tell_started(int dirfd, const char *name, const char *uuid)
{
	const char *slurm = getenv("SLURMD_NODENAME");
	char node[FAR_NODE_MAX] = "", line[FILE_MAX];

	if (slurm != NULL)
		snprintf(node, sizeof(node), "%s", slurm);
	else
		gethostname(node, sizeof(node) - 1);
	snprintf(line, sizeof(line), "started %s %s\n", uuid, node);
	return append(dirfd, name, line);
}

int far_tell_ended(int dirfd, const char *name, const char *uuid, int status, bool signalled)
{
	char line[FILE_MAX];

	snprintf(line, sizeof(line), "ended %s %d%s\n", uuid, status, signalled ? " signalled" : "");
	return append(dirfd, name, line);
}

bool far_status_is_over(const struct far_status *far)
{
	return far->found == FAR_EMPTY || far->found == FAR_ENDED || far->found == FAR_SIGNALLED;
}
