/* SPDX-License-Identifier: MIT */
#include "proc/starter.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "proc/start_wire.h"
#include "proto/memory.h"

#define ANSWER_MS 30000
#define SHIM_UMASK 077	/* that of rld */

static const char *at;		/* socket of rl-start; NULL: not used */

bool starter_used(void)
{
	return at != NULL;
}

static int ask(const struct start_request *request, const int *fds, size_t nfds)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int conn, rv;

	if (strlen(at) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strlcpy(address.sun_path, at, sizeof(address.sun_path));
	conn = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (conn == -1)
		return -errno;
	rv = connect(conn, (struct sockaddr *)&address, sizeof(address)) == -1 ? -EHOSTDOWN :
	    start_send(conn, request, sizeof(*request), fds, nfds) != 0 ? -EHOSTDOWN : 0;
	if (rv == 0)
		return conn;
	close(conn);
	return rv;
}

/* ms -1: as long as it takes. pidfd may be NULL. 0; -ETIMEDOUT: it was not understood, and may have
 * been done; or -errno. */
static int hear(int conn, int ms, struct start_answer *answer, int *pidfd)
{
	struct pollfd p = { .fd = conn, .events = POLLIN };
	int fds[START_FDS], rv;

	do
		rv = poll(&p, 1, ms);
	while (rv == -1 && errno == EINTR);
	if (rv <= 0)
		return -ETIMEDOUT;
	rv = start_receive(conn, answer, sizeof(*answer), fds);
	/* without room for its descriptor an answer is not whole */
	rv = rv == -ECONNRESET ? -EHOSTDOWN : rv != 0 ? -ETIMEDOUT : 0;
	for (size_t i = pidfd != NULL ? 1 : 0; i < START_FDS; i++)
		if (fds[i] != -1)
			close(fds[i]);
	if (pidfd != NULL)
		*pidfd = fds[0];
	if (rv == 0 && answer->said == START_ANSWER && answer->error != 0)
		rv = -answer->error;
	/* it has ended without an answer */
	if (rv == 0 && answer->said != START_ANSWER)
		rv = -EHOSTDOWN;
	if (rv != 0 && pidfd != NULL && *pidfd != -1) {
		close(*pidfd);
		*pidfd = -1;
	}
	return rv;
}

/* A request without a process. */
static int request(enum start_kind kind, const char *word, int ms, struct start_answer *answer)
{
	const struct start_request r = { .version = START_VERSION, .kind = kind };
	char *words[] = { (char *)word, NULL };
	int fd = start_words(words), conn, rv;

	if (fd < 0)
		return fd;
	conn = ask(&r, &fd, 1);
	close(fd);
	if (conn < 0)
		return conn;
	rv = hear(conn, ms, answer, NULL);
	close(conn);
	return rv;
}

int starter_use(const char *path, uid_t *uid, gid_t *gid)
{
	struct start_answer answer;
	int rv;

	at = path;
	rv = request(START_WHO, NULL, ANSWER_MS, &answer);
	if (rv != 0) {
		at = NULL;
		return rv;
	}
	*uid = (uid_t)answer.value;
	*gid = (gid_t)answer.more;
	return 0;
}

/* fds: words, what the kind needs, environment; closed. */
static int start(const struct start_request *r, int fds[3], struct spawned *out)
{
	struct start_answer answer = { 0 };
	int rv = fds[0] < 0 ? fds[0] : fds[2] < 0 ? fds[2] : 0, conn = -1;

	*out = (struct spawned){ .pidfd = -1, .conn = -1 };
	if (rv == 0)
		rv = conn = ask(r, fds, 3);
	if (fds[0] >= 0)
		close(fds[0]);
	if (fds[2] >= 0)
		close(fds[2]);
	if (rv >= 0)
		rv = hear(conn, ANSWER_MS, &answer, &out->pidfd);
	if (rv < 0) {
		if (conn >= 0)
			close(conn);
		return rv;
	}
	out->conn = conn;
	out->pid = (pid_t)answer.value;
	return 0;
}

int starter_shim(const char *dir, const char *uuid, int lock, char *const *envp, rlim_t core,
    const struct start_limits *limits, struct spawned *out)
{
	const struct start_request r = { .version = START_VERSION, .kind = START_SHIM, .number = SHIM_UMASK,
	    .more = core, .memory = (uint64_t)limits->memory, .processes = (uint64_t)limits->processes };
	char *words[] = { (char *)uuid, (char *)dir, NULL };
	int fds[3] = { start_words(words), lock, start_words(envp) };

	return start(&r, fds, out);
}

int starter_tell(const char *path, char *const *argv, char *const *envp, int output, struct spawned *out)
{
	const struct start_request r = { .version = START_VERSION, .kind = START_TELL };
	char **words = NULL;
	int fds[3], rv;

	strings_append(&words, path);
	for (; *argv != NULL; argv++)
		strings_append(&words, *argv);
	fds[0] = start_words(words);
	fds[1] = output;
	fds[2] = start_words(envp);
	rv = start(&r, fds, out);
	strings_free(words);
	return rv;
}

char *starter_limits_unmet(const struct start_limits *limits, const char **remedy)
{
	const unsigned wanted = (limits->memory > 0 ? START_CAN_MEMORY : 0) |
	    (limits->processes > 0 ? START_CAN_PROCESSES : 0);
	const char *names = wanted == START_CAN_MEMORY ? "limits.memory" :
	    wanted == START_CAN_PROCESSES ? "limits.processes" : "limits.memory and limits.processes";
	struct start_answer answer = { 0 };
	unsigned missing;
	int rv;

	if (wanted == 0)
		return NULL;
	*remedy = "run rld as the service of the system (rld.service), or limit the service of the user: MemoryMax= "
	    "and TasksMax= in its unit";
	if (at == NULL)
		return xasprintf("%s %s no effect: only rl-start can limit an attempt, and this daemon has none", names,
		    strchr(names, ' ') != NULL ? "have" : "has");
	*remedy = "see systemctl status rld-start.service";
	rv = request(START_LIMITS, NULL, ANSWER_MS, &answer);
	if (rv != 0)
		return xasprintf("rl-start does not tell whether it can limit attempts: %s",
		    rv == -EHOSTDOWN ? "it does not answer" : strerror(-rv));
	missing = wanted & ~(unsigned)answer.value;
	if (missing == 0)
		return NULL;
	names = missing == START_CAN_MEMORY ? "limits.memory has" :
	    missing == START_CAN_PROCESSES ? "limits.processes has" : "limits.memory and limits.processes have";
	*remedy = (answer.value & START_CAN_GROUP) == 0 ?
	    "set Delegate=yes in rld-start.service, and boot with cgroups of version 2 "
	    "(systemd.unified_cgroup_hierarchy=1)" :
	    "boot with all controllers in the hierarchy of version 2 (systemd.unified_cgroup_hierarchy=1, no "
	    "cgroup_disable=), and see the log of rld-start.service";
	return xasprintf("%s no effect: rld-start.service %s", names, (answer.value & START_CAN_GROUP) == 0 ?
	    "can make no cgroups" : missing == START_CAN_MEMORY ? "is not given the controller memory" :
	    missing == START_CAN_PROCESSES ? "is not given the controller pids" :
	    "is not given the controllers memory and pids");
}

int starter_status(int conn, int wait_ms)
{
	struct pollfd p = { .fd = conn, .events = POLLIN };
	struct start_answer answer;
	int fds[START_FDS];

	if (poll(&p, 1, wait_ms) <= 0)
		return -EAGAIN;
	if (start_receive(conn, &answer, sizeof(answer), fds) != 0 || answer.said != START_ENDED)
		return -1;
	return (int)answer.value;
}

int starter_kill(const char *uuid)
{
	struct start_answer answer;

	return request(START_KILL, uuid, ANSWER_MS, &answer) == 0 ? (int)answer.value : -1;
}

int starter_remove(const char *path)
{
	struct start_answer answer;

	if (at == NULL) {
		file_remove_tree(path);
		return 0;
	}
	return request(START_REMOVE, path, -1, &answer);
}
