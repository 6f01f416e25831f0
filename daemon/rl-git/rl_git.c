/* SPDX-License-Identifier: MIT */
/* rl-git: runs one operation of git or of bd, and everything that belongs to it, to its end.
 *
 *	rl-git OPERATION [GID]
 *	rl-git --version
 *
 * Started by rl-shim. stdin is the operation, as its room writes it; the working directory is that
 * of the step, and gets the file "result"; stdout gets the patch, if one is requested. OPERATION is
 * its name, shown in process lists. GID is the group of the agents, if they have another user than
 * rld: then our own is that of rld, and we have the capability to set it. The exit status is 0 if
 * there is a result, whatever it says; the errno of a failure to write it, or of the host's to let
 * the operation be read; 2 for a wrong start. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "child/child.h"
#include "git/git_op.h"
#include "proto/json_memory.h"
#include "record/capabilities.h"
#include "record/handed_environment.h"
#include "record/host_fault.h"
#include "task/task_op.h"

static int refuse(const char *what)
{
	fprintf(stderr, "rl-git: %s; only rld starts it\n", what);
	return 2;
}

/* A fault of the host is no wrong start. */
static int no_operation(const char *what)
{
	int error = errno;

	refuse(what);
	return host_fault(error) ? error : 2;
}

static bool is_named(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static int run(const char *name, int dirfd)
{
	struct git_op *git;
	struct task_op *task;
	int rv;

	if (is_named(name, git_op_names, GIT_OPS)) {
		git = git_op_read(STDIN_FILENO);
		if (git == NULL)
			return no_operation("stdin contains no git operation");
		git_op_run(git);
		rv = git_op_write(git, dirfd);
		git_op_free(git);
		return -rv;
	}
	task = task_op_read(STDIN_FILENO);
	if (task == NULL)
		return no_operation("stdin contains no bd operation");
	task_op_run(task);
	rv = task_op_write(task, dirfd);
	task_op_free(task);
	return -rv;
}

int main(int argc, char **argv)
{
	int dirfd, rv;

	json_memory_begin();
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("rl-git " RLD_VERSION) == EOF || fflush(stdout) == EOF;
	if (argc < 2 || argc > 3 ||
	    (!is_named(argv[1], git_op_names, GIT_OPS) && !is_named(argv[1], task_op_names, TASK_OPS)))
		return refuse("the name of an operation is required");
	/* by a shim of an earlier version, whose ids mean something else */
	if (argc == 2 && ids_are_split())
		return EHOSTDOWN;
	if (argc == 3 && ((rv = child_set_groups(argv[2])) != 0 || (rv = capabilities_set(0, 0, 0)) != 0))
		return -rv;
	/* the environment of the run is also in our memory */
	if ((rv = environment_take()) != 0)
		return -rv;
	fcntl(RECORD_ENVIRONMENT_FD, F_SETFD, FD_CLOEXEC);
	if (prctl(PR_SET_DUMPABLE, 0) == -1 || prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		return errno;
	dirfd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dirfd == -1 ? errno : run(argv[1], dirfd);
}
