/* SPDX-License-Identifier: MIT */
/* rl-git: runs one operation of git or of bd, and everything that belongs to it, to its end.
 *
 *	rl-git OPERATION
 *	rl-git --version
 *
 * Started by rl-shim. stdin is the operation, as its room writes it; the working directory is that of the attempt, and gets the file
 * "result"; stdout gets the patch, where one is asked for. OPERATION is its name, for those who look at processes. The exit status is 0
 * when there is a result, whatever it says; the errno of what kept it from being written; 2 for a wrong start. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "child/child.h"
#include "git/op.h"
#include "record/exit_record.h"
#include "record/layout.h"
#include "task/op.h"

static int refuse(const char *what)
{
	fprintf(stderr, "rl-git: %s; it is started by rld only\n", what);
	return 2;
}

static bool is_named(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* As rl-shim records it. */
static bool run_step(const struct step_spec *step, int dirfd)
{
	const char *const none[] = { NULL };
	struct child child = {
		.argv = (char **)step->argv, .env = child_environment(step->env != NULL ? step->env : none), .cwd = step->cwd,
		.input = step->input, .input_size = step->input_size,
		.output = step->output_bytes == GIT_PATCH_KEEP && step->cwd == NULL ? STDOUT_FILENO : -1,
	};
	struct exit_record record = { .tree_empty = true };
	struct child_end end;

	child_run(&child, &end);
	file_write(dirfd, RECORD_STDOUT ".0000000000000000", end.out.data, end.out.size, 0600, false);
	file_write(dirfd, RECORD_STDERR ".0000000000000000", end.err.data, end.err.size, 0600, false);
	record.how = end.error != 0 ? EXIT_NOT_STARTED : WIFEXITED(end.status) ? EXIT_BY_CODE : EXIT_BY_SIGNAL;
	record.status = end.error != 0 ? end.error : WIFEXITED(end.status) ? WEXITSTATUS(end.status) : WTERMSIG(end.status);
	snprintf(record.error, sizeof(record.error), "exec %s: %s", step->argv[0], strerror(end.error));
	exit_record_write(dirfd, &record, false);
	child_end_release(&end);
	strings_free(child.env);
	return record.how == EXIT_BY_CODE && record.status == 0;
}

static int run(const char *name, int dirfd)
{
	bool git = is_named(name, git_op_names, GIT_OPS);
	struct git_op *op = git ? git_op_read(STDIN_FILENO) : NULL;
	struct task_op *task = git ? NULL : task_op_read(STDIN_FILENO);
	struct step_spec step = { 0 };
	int work = -1;
	bool ok = true;

	if (op == NULL && task == NULL)
		return refuse("stdin has no operation");
	while ((git ? git_op_next(op, work, ok, &step) : task_op_next(task, work, ok, &step)) == STEP_NEXT_RUN) {
		if (work == -1 && (mkdirat(dirfd, "work", 0700) == -1 || (work = openat(dirfd, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1))
			return errno;
		ok = run_step(&step, work);
	}
	return -(git ? git_op_write(op, dirfd) : task_op_write(task, dirfd));
}

int main(int argc, char **argv)
{
	int dirfd;

	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("rl-git " RLD_VERSION) == EOF || fflush(stdout) == EOF;
	if (argc != 2 || (!is_named(argv[1], git_op_names, GIT_OPS) && !is_named(argv[1], task_op_names, TASK_OPS)))
		return refuse("one argument, the name of an operation, is needed");
	/* the environment of the run is in our memory, too */
	if (prctl(PR_SET_DUMPABLE, 0) == -1 || prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		return errno;
	dirfd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dirfd == -1 ? errno : run(argv[1], dirfd);
}
