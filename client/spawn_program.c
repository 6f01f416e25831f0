/* SPDX-License-Identifier: MIT */
#include "client/spawn_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/exit.h"
#include "client/message.h"
#include "client/new_file.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/program.h"

#define OPTIONS_MAX 4	/* of start_rld() */
#define READY_MS 10000
#define LOG_MAX (4 << 20)	/* a larger log is renamed before the next start */
#define SSH_END_MS 1000
#define TAIL_BYTES 2048		/* of the log of a failed start */

extern char **environ;

/* rld next to rlctl, as in a build directory and in PREFIX/bin; in PREFIX/sbin; on PATH. The caller
 * frees; NULL after a message: not found. */
static char *start_find_rld(void)
{
	static const char *const beside[] = { "rld", "../sbin/rld" };
	char self[4096], *slash, *rld;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		for (size_t i = 0; slash != NULL && i < ARRAY_SIZE(beside); i++) {
			char *candidate = xasprintf("%.*s/%s", (int)(slash - self), self, beside[i]);

			if (access(candidate, X_OK) == 0)
				return candidate;
			free(candidate);
		}
	}
	rld = program_find(getenv("PATH"), "rld");
	if (rld == NULL)
		message_error("rld is neither next to rlctl nor on PATH; install it, or name a running "
		    "daemon with --socket");
	return rld;
}

int start_lock(const char *state_dir)
{
	char *path;
	int fd;

	if (new_directory(state_dir) == -1)
		return -1;
	path = xasprintf("%s/start.lock", state_dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd != -1 && flock(fd, LOCK_EX) == -1) {
		if (errno == EINTR)
			continue;
		close(fd);
		fd = -1;
	}
	if (fd == -1) {
		bool denied = errno == EACCES;

		message_errno("cannot lock %s", path);
		if (denied)
			message_hint("%s must belong to your user; see its owner with ls -ld", state_dir);
	}
	free(path);
	return fd;
}

/* A datagram socket with a name chosen by the kernel, for the daemon's READY=1 (sd_notify(3)).
 * Returns -1 on failure. */
static int ready_socket(char name[64])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd == -1)
		return -1;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address.sun_family)) == -1 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) == -1) {
		close(fd);
		return -1;
	}
	snprintf(name, 64, "@%.*s", (int)(size - offsetof(struct sockaddr_un, sun_path) - 1), address.sun_path + 1);
	return fd;
}

/* Our environment without the variables that have a prefix in dropped, plus more. The caller frees
 * the list; its strings are borrowed. */
static char **environment_but(const char *const *dropped, const char *const *more)
{
	size_t count = 0, kept = 0, added = 0;
	char **list;

	while (environ[count] != NULL)
		count++;
	while (more[added] != NULL)
		added++;
	list = xreallocarray(NULL, count + added + 1, sizeof(*list));
	for (size_t i = 0; i < count; i++) {
		bool drop = false;

		for (size_t k = 0; dropped[k] != NULL; k++)
			drop = drop || strncmp(environ[i], dropped[k], strlen(dropped[k])) == 0;
		if (!drop)
			list[kept++] = environ[i];
	}
	for (size_t i = 0; i < added; i++)
		list[kept++] = (char *)more[i];
	list[kept] = NULL;
	return list;
}

/* Start a program with default signal handling, no input and no inherited files. flags:
 * POSIX_SPAWN_SETSID or POSIX_SPAWN_SETPGROUP, so that Ctrl-C does not reach it. directory NULL:
 * ours. Returns 0 or an errno. */
static int start_apart(const char *const *argv, char *const *environment, int output, int errors,
    int flags, const char *directory, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	int failure;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, 1);
	posix_spawn_file_actions_adddup2(&files, errors, 2);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	if (directory != NULL)
		posix_spawn_file_actions_addchdir_np(&files, directory);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, (short)(flags | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
	failure = posix_spawn(pid, argv[0], &files, &attributes, (char *const *)argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return failure;
}

static bool says_ready(int fd)
{
	char text[512];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return strncmp(text, "READY=1", 7) == 0 || strstr(text, "\nREADY=1") != NULL;
}

enum start_result { START_READY, START_ENDED, START_LATE };

static enum start_result await_ready(int ready, int process)
{
	int64_t end = clock_steady() + READY_MS, left;

	while ((left = end - clock_steady()) > 0) {
		struct pollfd p[] = { { .fd = ready, .events = POLLIN }, { .fd = process, .events = POLLIN } };

		if (poll(p, 2, (int)left) <= 0)
			continue;
		if (p[0].revents != 0 && says_ready(ready))
			return START_READY;
		if (p[1].revents != 0)
			return START_ENDED;
	}
	return START_LATE;
}

/* Print the log from offset on, without the journal's priorities. */
static void show_log(int log, off_t offset)
{
	char text[TAIL_BYTES + 1], *line, *rest = text;
	off_t end = lseek(log, 0, SEEK_END);
	ssize_t n;

	if (end - offset > TAIL_BYTES)
		offset = end - TAIL_BYTES;
	n = pread(log, text, TAIL_BYTES, offset);
	text[n > 0 ? n : 0] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (line[0] == '<' && line[1] != '\0' && line[2] == '>')
			line += 3;
		if (*line == '\0')
			continue;
		message_hint("%s", line);
	}
}

static int open_log(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && st.st_size > LOG_MAX) {
		char *old = xasprintf("%s.old", path);

		rename(path, old);
		free(old);
	}
	return open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int start_report(enum start_result result, pid_t pid, const char *rld, const char *log_path,
    int log, off_t offset)
{
	int status = 0;

	switch (result) {
	case START_READY:
		return 0;
	case START_ENDED:
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status))
			message_error("%s was killed by signal %d; its output in %s:", rld, WTERMSIG(status), log_path);
		else
			message_error("%s exited with status %d; its output in %s:", rld, WEXITSTATUS(status),
			    log_path);
		break;
	case START_LATE:
		message_error("%s (process %d) is not ready after %d s; its output so far, in %s:", rld,
		    (int)pid, READY_MS / 1000, log_path);
		break;
	}
	show_log(log, offset);
	return EXIT_NO_DAEMON;
}

int start_daemon(const char *state_dir)
{
	/* meant by a service manager for us, not for the daemon */
	static const char *const dropped[] = { "NOTIFY_SOCKET=", "LISTEN_",
		"STATE_DIRECTORY=", "RUNTIME_DIRECTORY=", "WATCHDOG_", NULL };
	char name[64], *rld = start_find_rld(), *notify = NULL, *log_path = NULL, **environment = NULL;
	int log = -1, ready = -1, process = -1, failure, status = EXIT_NO_DAEMON;
	off_t offset;
	pid_t pid;

	if (rld == NULL)
		return EXIT_NO_DAEMON;
	log_path = xasprintf("%s/rld.log", state_dir);
	log = open_log(log_path);
	ready = ready_socket(name);
	if (log == -1 || ready == -1) {
		message_errno("%s", log == -1 ? log_path : "socket");
		goto out;
	}
	offset = lseek(log, 0, SEEK_END);
	notify = xasprintf("NOTIFY_SOCKET=%s", name);
	environment = environment_but(dropped, (const char *const[]){ notify, NULL });
	failure = start_apart((const char *const[]){ rld, NULL }, environment, log, log, POSIX_SPAWN_SETSID, "/", &pid);
	if (failure != 0) {
		message_error("cannot start %s: %s", rld, strerror(failure));
		goto out;
	}
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process == -1) {
		message_errno("pidfd_open");
		goto out;
	}
	status = start_report(await_ready(ready, process), pid, rld, log_path, log, offset);
	if (status == 0)
		message_note("started a daemon for you (process %d, state in %s); \"rlctl stop\" ends it",
		    (int)pid, state_dir);
out:
	if (process != -1)
		close(process);
	if (ready != -1)
		close(ready);
	if (log != -1)
		close(log);
	free(environment);
	free(notify);
	free(log_path);
	free(rld);
	return status;
}

/* Wait status of a child process. */
static int start_await(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			message_die("waitpid");
	return status;
}

int start_config_check(const char *file)
{
	char *rld = start_find_rld();
	const char *argv[] = { "rld", "--check-config", file == NULL ? NULL : "--config", file, NULL };
	int failure, status;
	pid_t pid;

	if (rld == NULL)
		return EXIT_REFUSED;
	failure = posix_spawn(&pid, rld, NULL, NULL, (char *const *)argv, environ);
	if (failure != 0)
		message_error("cannot start %s: %s", rld, strerror(failure));
	free(rld);
	if (failure != 0)
		return EXIT_REFUSED;
	status = start_await(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_REFUSED;
}

int start_rld(const char *const *options, struct buf *output, bool with_errors)
{
	char *rld = start_find_rld();
	const char *argv[OPTIONS_MAX + 2] = { rld };
	int status = -1;

	for (size_t i = 0; i < OPTIONS_MAX && options[i] != NULL; i++)
		argv[i + 1] = options[i];
	if (rld != NULL)
		status = start_program(&(struct program){ .argv = argv, .output = output, .with_errors = with_errors });
	free(rld);
	return status;
}

int start_version(const char *path, char *const *environment, int output, int errors, pid_t *pid)
{
	const char *const argv[] = { path, "--version", NULL };

	return start_apart(argv, environment, output, errors, POSIX_SPAWN_SETPGROUP, NULL, pid);
}

/* An attestation with the evidence of many rounds fits, too. */
#define PROGRAM_OUTPUT_MAX (4 << 20)

static int spawn_program(const struct program *program, char **environment, int output, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	int failure;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, program->input != NULL ? program->input : "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, 1);
	if (program->with_errors)
		posix_spawn_file_actions_adddup2(&files, output, 2);
	if (program->quiet)
		posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	failure = posix_spawnp(pid, program->argv[0], &files, NULL, (char *const *)program->argv, environment);
	posix_spawn_file_actions_destroy(&files);
	return failure;
}

/* As posix_spawnp(), with Ctrl-C ignored: POSIX_SPAWN_* can only restore defaults. */
static int spawn_deaf(pid_t *pid, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes,
    const char *const *argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int failure;

	sigaction(SIGINT, &ignore, &old);
	failure = posix_spawnp(pid, argv[0], files, attributes, (char *const *)argv, environ);
	sigaction(SIGINT, &old, NULL);
	return failure;
}

int start_ssh(const char *const *argv, struct ssh *ssh)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int ends[2], failure;

	while (waitpid(-1, NULL, WNOHANG) > 0)	/* of earlier connections */
		;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1)
		return errno;
	/* not a pipe: what ssh leaves behind for later connections may keep it open */
	ssh->words = memfd_create("words of ssh", MFD_CLOEXEC);
	if (ssh->words == -1) {
		failure = errno;
		close(ends[0]);
		close(ends[1]);
		return failure;
	}
	ssh->fd = ends[0];
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], 0);
	posix_spawn_file_actions_adddup2(&files, ends[1], 1);
	posix_spawn_file_actions_adddup2(&files, ssh->words, 2);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	failure = spawn_deaf(&ssh->pid, &files, &attributes, argv);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	if (failure != 0) {
		close(ends[0]);
		close(ssh->words);
	}
	return failure;
}

int start_ssh_end(const struct ssh *ssh)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, ssh->pid, 0), .events = POLLIN };

	if (p.fd == -1 || poll(&p, 1, SSH_END_MS) != 1)
		kill(ssh->pid, SIGTERM);
	if (p.fd != -1)
		close(p.fd);
	return start_await(ssh->pid);
}

/* As buf_read(), until so many ms have passed; 0: no limit. */
static int read_within(struct buf *output, int fd, int ms)
{
	int64_t end = clock_steady() + ms, left;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char chunk[4096];
	ssize_t n = 1;

	if (ms == 0)
		return buf_read(output, fd, PROGRAM_OUTPUT_MAX);
	while (n > 0) {
		left = end - clock_steady();
		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return -ETIMEDOUT;
		n = read(fd, chunk, sizeof(chunk));
		if (n == -1)
			return -errno;
		if (output->size + (size_t)n > PROGRAM_OUTPUT_MAX)
			return -EFBIG;
		buf_add(output, chunk, (size_t)n);
	}
	return 0;
}

int start_program(const struct program *program)
{
	static const char *const none[] = { NULL };
	const char *name = program->argv[0];
	char **environment;
	int ends[2] = { -1, -1 }, failure, status = -1, fault;
	pid_t pid;

	if (program->output != NULL && pipe2(ends, O_CLOEXEC) == -1) {
		message_errno("pipe");
		return -1;
	}
	environment = environment_but(program->dropped != NULL ? program->dropped : none,
	    program->more != NULL ? program->more : none);
	failure = spawn_program(program, environment, program->output != NULL ? ends[1] : STDERR_FILENO, &pid);
	free(environment);
	if (program->output != NULL)
		close(ends[1]);
	if (failure != 0) {
		message_error("cannot start %s: %s", name, strerror(failure));
		if (failure == ENOENT)
			message_hint("install it, or put its directory on PATH");
	} else {
		fault = program->output != NULL ? read_within(program->output, ends[0], program->ms) : 0;

		if (fault == -ETIMEDOUT) {
			message_error("%s took longer than %d s", name, program->ms / 1000);
			kill(pid, SIGKILL);
		} else if (fault != 0) {
			message_error("%s printed more than expected", name);
		}
		status = start_await(pid);
		failure = WIFEXITED(status) ? 0 : -1;
		if (failure != 0 && fault != -ETIMEDOUT)
			message_error("%s was killed by signal %d", name, WTERMSIG(status));
	}
	if (program->output != NULL)
		close(ends[0]);
	return failure != 0 ? -1 : WEXITSTATUS(status);
}

int start_git(const char *const *argv, const char *const *more, struct buf *output)
{
	static const char *const dropped[] = {
		"GIT_DIR=", "GIT_WORK_TREE=", "GIT_IMPLICIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_OBJECT_DIRECTORY=",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=", "GIT_COMMON_DIR=", "GIT_NAMESPACE=",
		"GIT_PREFIX=", "GIT_GRAFT_FILE=", "GIT_SHALLOW_FILE=",
		"GIT_REPLACE_REF_BASE=", "GIT_ATTR_SOURCE=", "GIT_QUARANTINE_PATH=", NULL
	};

	return start_program(&(struct program){ .argv = argv, .dropped = dropped, .more = more, .output = output });
}
