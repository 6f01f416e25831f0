/* SPDX-License-Identifier: MIT */
#include "child/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

bool tree_reap(struct tree *tree)
{
	bool any = false;
	int status;
	pid_t pid;

	/* __WALL: include children whose end is reported by another signal than SIGCHLD */
	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) != 0) {
		if (pid == -1 && errno == EINTR)
			continue;
		if (pid == -1) {
			tree->empty = errno == ECHILD;
			break;
		}
		any = true;
		if (pid == tree->main) {
			tree->main_gone = true;
			tree->main_status = status;
		}
	}
	return any;
}

/* Call each(arg, pid) for all children of this process. New ones may be missed: callers repeat. */
static void each_child(void (*each)(void *arg, pid_t pid), void *arg)
{
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	pid_t pid = 0;
	ssize_t n;

	if (fd == -1)
		return;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (chunk[i] >= '0' && chunk[i] <= '9') {
				pid = pid * 10 + (chunk[i] - '0');
				continue;
			}
			if (pid > 0)
				each(arg, pid);
			pid = 0;
		}
	}
	close(fd);
}

/* The agent's whole group; and the agent itself in case it has not called setsid() yet, or has left
 * its group. */
static void terminate_main(pid_t pid)
{
	/* check the result, not only a later lookup: the agent may have made its group in
	 * between */
	bool missed = kill(-pid, SIGTERM) == -1;

	if (missed || getpgid(pid) != pid)
		kill(pid, SIGTERM);
	kill(-pid, SIGCONT);
	kill(pid, SIGCONT);
}

static void terminate_one(void *arg, pid_t pid)
{
	struct tree *tree = arg;

	for (size_t i = 0; i < tree->ntold; i++)
		if (tree->told[i] == pid)
			return;
	if (tree->ntold == TREE_TOLD)
		return;
	tree->told[tree->ntold++] = pid;
	if (pid == tree->main) {
		terminate_main(pid);
	} else {
		kill(pid, SIGTERM);
		kill(pid, SIGCONT);
	}
}

static void kill_one(void *arg, pid_t pid)
{
	(void)arg;
	kill(pid, SIGKILL);
}

void tree_terminate(struct tree *tree)
{
	each_child(terminate_one, tree);
}

void tree_kill(const struct tree *tree)
{
	if (!tree->main_gone)
		kill(-tree->main, SIGKILL);
	each_child(kill_one, NULL);
}
