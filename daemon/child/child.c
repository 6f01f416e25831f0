/* SPDX-License-Identifier: MIT */
#include "child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "child/process_tree.h"

/* pipes held open after the exit: no data for this long ends the wait */
#define HELD_IDLE_MS 2000
#define HELD_HARD_MS 30000	/* and this long in any case */
#define STRAY_GRACE_MS 2000	/* between SIGTERM and SIGKILL for processes left behind */
#define KILL_EVERY_MS 10
#define KILL_LIMIT_MS 30000	/* what survives SIGKILL for this long is left to rl-shim */

void (*child_before)(struct child *child);
void (*child_after)(void);

struct capture {
	struct buf *buf;
	int fd;			/* -1: closed */
	size_t keep;
	bool *cut;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- what it prints ---- */

/* Keep only the beginning and the end, if there is more than twice as much. */
static void shorten(struct capture *c)
{
	size_t both = 2 * c->keep;

	if (c->keep == 0 || c->buf->size <= both)
		return;
	memmove(c->buf->data + c->keep, c->buf->data + c->buf->size - c->keep, c->keep);
	c->buf->size = both;
	c->buf->data[both] = '\0';
	*c->cut = true;
}

static void capture_close(struct capture *c)
{
	if (c->fd != -1)
		close(c->fd);
	c->fd = -1;
}

/* Read what is available. */
static void capture_read(struct capture *c)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(c->fd, chunk, sizeof(chunk))) > 0) {
		buf_add(c->buf, chunk, (size_t)n);
		if (c->keep > 0 && c->buf->size > 4 * c->keep)
			shorten(c);
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		capture_close(c);
}

/* Wait until a stream, or pidfd (-1: none), is readable. */
static bool captures_wait(struct capture streams[2], int pidfd, int timeout)
{
	struct pollfd fds[3] = { { streams[0].fd, POLLIN, 0 }, { streams[1].fd, POLLIN, 0 }, { pidfd, POLLIN, 0 } };
	bool any = false;

	if (poll(fds, 3, timeout) <= 0)
		return false;
	for (size_t i = 0; i < 2; i++) {
		if (fds[i].revents == 0)
			continue;
		capture_read(&streams[i]);
		any = true;
	}
	return any;
}

static bool captures_open(const struct capture streams[2])
{
	return streams[0].fd != -1 || streams[1].fd != -1;
}

/* ---- its end ---- */

/* A descendant of the program may hold its pipes. */
static void drain(struct capture streams[2])
{
	int64_t hard = now_ms() + HELD_HARD_MS;

	while (captures_open(streams) && now_ms() < hard && captures_wait(streams, -1, HELD_IDLE_MS))
		;
}

static void end_strays(struct tree *tree)
{
	int64_t begin = now_ms();

	tree_reap(tree);
	while (!tree->empty && now_ms() < begin + STRAY_GRACE_MS) {
		tree_terminate(tree);
		poll(NULL, 0, KILL_EVERY_MS);
		tree_reap(tree);
	}
	while (!tree->empty && now_ms() < begin + KILL_LIMIT_MS) {
		tree_kill(tree);
		poll(NULL, 0, KILL_EVERY_MS);
		tree_reap(tree);
	}
}

static void wait_for(pid_t pid, struct capture streams[2], struct child_end *end)
{
	struct tree tree = { .main = pid };
	int pidfd = pidfd_open(pid, 0);

	for (tree_reap(&tree); !tree.main_gone; tree_reap(&tree))
		captures_wait(streams, pidfd, pidfd == -1 ? KILL_EVERY_MS : -1);
	if (pidfd != -1)
		close(pidfd);
	drain(streams);
	end_strays(&tree);
	end->status = tree.main_status;
}

/* ---- its start ---- */

/* A file in memory, positioned at its start; -1 with errno. */
static int memory_file(const void *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	for (size_t done = 0; fd != -1 && done < size; ) {
		ssize_t n = write(fd, (const char *)data + done, size - done);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			int error = errno;

			close(fd);
			errno = error;
			return -1;
		}
		done += (size_t)n;
	}
	if (fd != -1)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/* A pipe whose read end is non-blocking. */
static int make_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC) == -1 || fcntl(ends[0], F_SETFL, O_NONBLOCK) == -1 ? -1 : 0;
}

int child_set_groups(const char *agents)
{
	char *end;
	unsigned long group = strtoul(agents, &end, 10);

	if (agents[0] == '\0' || *end != '\0')
		return -EINVAL;
	return setresgid(getegid(), getegid(), (gid_t)group) == -1 ? -errno : 0;
}

bool child_has_agents(void)
{
	gid_t own, effective, agents;

	return getresgid(&own, &effective, &agents) == 0 && own != agents;
}

void child_open_as(gid_t group)
{
	setfsgid(group);
	if ((gid_t)setfsgid((gid_t)-1) != group)
		abort();
}

gid_t child_open_as_agents(void)
{
	gid_t own, effective, agents, before = (gid_t)setfsgid((gid_t)-1);

	getresgid(&own, &effective, &agents);
	child_open_as(agents);
	return before;
}

/* What does not keep our group has that of the agents, which is our saved one: exec makes it the
 * only one. */
static int spawn_in_group(const struct child *child, posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
    pid_t *pid)
{
	gid_t own, effective, agents;
	int rv;

	getresgid(&own, &effective, &agents);
	if (!child->keeps_group && setresgid(agents, agents, own) == -1)
		return errno;
	rv = posix_spawnp(pid, child->argv[0], actions, attributes, child->argv, child->env);
	if (!child->keeps_group && setresgid(own, own, agents) == -1)
		abort();
	return rv;
}

static int spawn(const struct child *child, int in, int out, int err, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rv;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	rv = in == -1 ? posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) :
	    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	/* one of them may be 1 or 2 itself */
	if (rv == 0)
		rv = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (rv == 0)
		rv = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	if (rv == 0 && child->cwd != NULL)
		rv = posix_spawn_file_actions_addchdir_np(&actions, child->cwd);
	if (rv == 0)
		rv = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	if (rv == 0)
		rv = spawn_in_group(child, &actions, &attributes, pid);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rv;
}

static void close_fd(int fd)
{
	if (fd != -1)
		close(fd);
}

static void start(const struct child *child, struct child_end *end)
{
	struct capture streams[2] = { { &end->out, -1, child->keep, &end->cut },
	    { &end->err, -1, child->keep, &end->cut } };
	int in = -1, out[2] = { -1, -1 }, err[2] = { -1, -1 };
	pid_t pid;

	end->what = "pipe";
	if (child->input != NULL && (in = memory_file(child->input, child->input_size)) == -1)
		end->error = errno;
	else if (child->output == -1 && make_pipe(out) == -1)
		end->error = errno;
	else if (child->reader == NULL ? make_pipe(err) == -1 : (err[1] = memory_file("", 0)) == -1)
		end->error = errno;
	if (end->error == 0) {
		end->what = "exec";
		end->error = spawn(child, in, child->output == -1 ? out[1] : child->output, err[1], &pid);
	}
	close_fd(in);
	close_fd(out[1]);
	if (child->reader != NULL && err[1] != -1)
		err[0] = fcntl(err[1], F_DUPFD_CLOEXEC, 0);	/* it is not read meanwhile */
	close_fd(err[1]);
	streams[0].fd = out[0];
	streams[1].fd = err[0];
	if (end->error == 0 && child->reader != NULL) {
		fcntl(out[0], F_SETFL, 0);
		child->reader(child->arg, out[0]);
		capture_close(&streams[0]);
		wait_for(pid, (struct capture[2]){ { .fd = -1 }, { .fd = -1 } }, end);
		lseek(err[0], 0, SEEK_SET);
		capture_read(&streams[1]);
	} else if (end->error == 0) {
		wait_for(pid, streams, end);
	}
	for (size_t i = 0; i < 2; i++) {
		capture_close(&streams[i]);
		shorten(&streams[i]);
	}
}

void child_run(const struct child *child, struct child_end *end)
{
	struct child copy = *child;

	*end = (struct child_end){ 0 };
	if (child_before != NULL)
		child_before(&copy);
	start(&copy, end);
	if (child_after != NULL)
		child_after();
}

void child_end_release(struct child_end *end)
{
	buf_release(&end->out);
	buf_release(&end->err);
}

char **child_environment(const char *const *more)
{
	char **env = NULL;

	for (char **p = environ; *p != NULL; p++) {
		size_t name = strcspn(*p, "=") + 1;
		bool replaced = false;

		for (size_t i = 0; more[i] != NULL && !replaced; i++)
			replaced = strncmp(*p, more[i], name) == 0;
		if (!replaced)
			strings_append(&env, *p);
	}
	for (size_t i = 0; more[i] != NULL; i++)
		strings_append(&env, more[i]);
	return env;
}
