/* SPDX-License-Identifier: MIT */
/* rl-start: starts rl-shim and its agents as another user than rld.
 *
 *	rl-start --user NAME [--shim PATH] [--socket PATH]
 *	rl-start --user NAME --hand-over DIRECTORY	(as root)
 *	rl-start --release				(from ExecStopPost=)
 *	rl-start --version
 *
 * It runs as the daemon's user, with the capabilities to change user and groups and no others, in a
 * service of its own (rld-start.service): what that service allows is what agents may, so that the
 * service of rld itself can be closed. rld asks by a socket that only its user may open (descriptor
 * 3, or --socket); one request is one process.
 *
 *	             uid: real, effective, saved     gid              groups
 *	rl-start     rld                             rld              rld
 *	rl-shim      rld, agents, rld (shim/ids.h)   agents, rld, rld those of the agents
 *	agent        agents                          agents           those of the agents
 *	its helpers  rld, agents, rld                agents           those of the agents
 *	rl-git       agents                          rld, rld, agents those of the agents
 *
 * So rl-shim writes its records as rld, rld can signal it, and it can signal its agent; an agent
 * can do neither to what belongs to rld. With two kinds of ids the kernel lets no agent look into
 * rl-shim or rl-git, which take them apart after exec. Restarting rl-start ends nothing. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/notify.h"
#include "proc/start_wire.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "starter/attempt_group.h"
#include "starter/hand_over.h"
#include "starter/requests.h"

#define LISTEN_FD 3

/* A request under way: the process that carries it out, and who waits for its end. */
struct pending {
	pid_t pid;
	int conn;
};

struct starter {
	struct start_setup setup;
	int listening, signals;
	struct pending *pending;
	size_t count;
};

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "rl-start: %s: %s\n", what, why);
	return EX_CONFIG;
}

/* After a fault of the host systemd starts it again. */
static int failed(const char *what, int error)
{
	refuse(what, strerror(error));
	return host_fault(error) ? EX_OSERR : EX_CONFIG;
}

static int find_user(const char *name, struct start_setup *setup)
{
	const struct passwd *entry = (errno = 0, getpwnam(name));
	int count = 0;

	if (entry == NULL && host_fault(errno))
		return failed(name, errno);
	if (entry == NULL)
		return refuse(name, "there is no such user");
	if (entry->pw_uid == 0 || entry->pw_uid == geteuid())
		return refuse(name, "agents need a user of their own: neither root nor that of rld");
	setup->uid = entry->pw_uid;
	setup->gid = entry->pw_gid;
	getgrouplist(name, setup->gid, NULL, &count);
	setup->groups = xcalloc((size_t)count + 1, sizeof(*setup->groups));
	if (getgrouplist(name, setup->gid, setup->groups, &count) == -1) {
		refuse(name, "its groups cannot be read");
		return EX_OSERR;
	}
	setup->ngroups = (size_t)count;
	for (size_t i = 0; geteuid() != 0 && i < setup->ngroups; i++)
		if (setup->groups[i] == getegid())
			return refuse(name, "it must not be in the group of rld, whose records it could change");
	return 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strlcpy(address.sun_path, path, sizeof(address.sun_path));
	unlink(path);
	umask(077);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd == -1 || bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1 || listen(fd, SOMAXCONN) == -1)
		return -1;
	return fd;
}

static int take_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void say_ended(int conn, int status)
{
	const struct start_answer answer = { .said = START_ENDED, .value = status };

	start_send(conn, &answer, sizeof(answer), NULL, 0);
	close(conn);
}

static void reap(struct starter *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < s->count; i++) {
			if (s->pending[i].pid != pid)
				continue;
			say_ended(s->pending[i].conn, status);
			s->pending[i] = s->pending[--s->count];
			break;
		}
	}
	attempt_groups_tidy(s->setup.groups_at);
}

static void take_request(struct starter *s)
{
	int conn = accept4(s->listening, NULL, NULL, SOCK_CLOEXEC);
	struct ucred peer;
	socklen_t size = sizeof(peer);
	sigset_t none;
	pid_t pid;

	if (conn == -1)
		return;
	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &peer, &size) == -1 || (peer.uid != geteuid() && peer.uid != 0)) {
		close(conn);
		return;
	}
	s->pending = xreallocarray(s->pending, s->count + 1, sizeof(*s->pending));
	pid = fork();
	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		start_serve(&s->setup, conn);
	}
	if (pid == -1) {
		const struct start_answer answer = { .said = START_ANSWER, .error = errno };

		start_send(conn, &answer, sizeof(answer), NULL, 0);
		close(conn);
		return;
	}
	s->pending[s->count++] = (struct pending){ .pid = pid, .conn = conn };
}

/* Until SIGTERM: what runs continues. */
static void loop(struct starter *s)
{
	struct pollfd fds[] = { { .fd = s->listening, .events = POLLIN }, { .fd = s->signals, .events = POLLIN } };
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(fds, 2, -1) == -1 && errno != EINTR)
			return;
		while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo != SIGCHLD)
				return;
			reap(s);
		}
		if (fds[0].revents != 0)
			take_request(s);
	}
}

/* NULL with errno. */
static char *beside(const char *name)
{
	char self[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n == -1)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	return xasprintf("%.*s/%s", (int)(slash - self), self, name);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "user", required_argument, NULL, 'u' }, { "shim", required_argument, NULL, 's' },
		{ "socket", required_argument, NULL, 'l' }, { "hand-over", required_argument, NULL, 'h' },
		{ "release", no_argument, NULL, 'r' }, { "version", no_argument, NULL, 'V' }, { 0 }
	};
	const char *user = NULL, *socket_path = NULL, *state_dir = NULL;
	static struct starter s = { .listening = LISTEN_FD };
	static const char *const states[] = {
		"ready, without cgroups of attempts",
		[START_CAN_GROUP] = "ready, one cgroup for each attempt",
		[START_CAN_GROUP | START_CAN_MEMORY] = "ready, attempts can have limits of memory",
		[START_CAN_GROUP | START_CAN_PROCESSES] = "ready, attempts can have limits of processes",
		[START_CAN_GROUP | START_CAN_MEMORY | START_CAN_PROCESSES] = "ready, attempts can have limits",
	};
	int c, rv;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'V')
			return puts("rl-start " RLD_VERSION) == EOF || fflush(stdout) == EOF;
		if (c == 'r') {
			attempt_groups_release();
			return 0;
		}
		if (c == '?') {
			refuse("usage", "rl-start --user NAME [--shim PATH] [--socket PATH | --hand-over DIRECTORY]");
			return EX_USAGE;
		}
		*(c == 'u' ? &user : c == 's' ? (const char **)&s.setup.shim : c == 'h' ? &state_dir :
		    &socket_path) = optarg;
	}
	if (user == NULL)
		return refuse("the option --user NAME is missing", "it says as whom agents work; see rld(8)");
	if (state_dir != NULL)
		return (rv = find_user(user, &s.setup)) != 0 ? rv : hand_over(&s.setup, state_dir) == -1;
	if (geteuid() == 0)
		return refuse("root", "run it as the user of rld, with the capabilities to change user and groups; "
		    "rld-start.service does");
	if ((rv = find_user(user, &s.setup)) != 0)
		return rv;
	rv = start_may_change(&s.setup);
	if (rv == -EPERM)
		return refuse("capabilities", "CAP_SETUID and CAP_SETGID are missing; see rld-start.service");
	if (rv != 0)
		return failed("a process as that user", -rv);
	if (s.setup.shim == NULL && (s.setup.shim = beside("rl-shim")) == NULL)
		return failed("/proc/self/exe", errno);
	if (socket_path != NULL && (s.listening = listen_at(socket_path)) == -1)
		return failed(socket_path, errno);
	if (socket_path == NULL && getenv("LISTEN_FDS") == NULL)
		return refuse("descriptor 3", "no socket was handed over; rld-start.socket does that");
	s.setup.groups_at = attempt_groups_find();
	s.signals = take_signals();
	if (s.signals == -1)
		return failed("signalfd", errno);
	s.setup.can = attempt_groups_limit(s.setup.groups_at);
	notify_ready(getenv("NOTIFY_SOCKET"), states[s.setup.can]);
	loop(&s);
	return 0;
}
