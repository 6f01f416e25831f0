/* SPDX-License-Identifier: MIT */
/* Everything is opened step by step without following a link, and only what belongs to the owner of
 * the state directory changes its owner: a file with a second name could be any. */
#include "starter/hand_over.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/process.h"

#define MARK "agents"		/* in the state directory: to whom it was handed over */
#define DEPTH_MAX 4096
#define SLOT_DEPTH 4		/* runs/N/scratch/SLOT */

struct move {
	uid_t from, to;
	gid_t group;
	bool *failed;		/* of something; told already */
};

static void tell(const struct move *move, const char *name)
{
	int error = errno;

	fprintf(stderr, "rl-start: %s: %s\n", name, strerror(error));
	*move->failed = true;
	errno = error;
}

/* Whether the last call has failed for no fault of the host: what it names is gone, or is another
 * kind of file. */
static bool is_not_there(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO;
}

/* A descriptor, or -1, which is told if it is for a fault. */
static int told(int fd, const struct move *move, const char *name)
{
	if (fd == -1 && !is_not_there())
		tell(move, name);
	return fd;
}

static int open_below(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Call each for all names in the directory, which is closed. */
static void each_name(int dirfd, const struct move *move, int depth,
    void (*each)(int dirfd, const char *name, const struct move *move, int depth))
{
	DIR *dir = fdopendir(dirfd);
	struct dirent *entry;

	if (dir == NULL) {
		tell(move, "a directory");
		close(dirfd);
		return;
	}
	while (errno = 0, (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			each(dirfd, entry->d_name, move, depth);
	if (errno != 0)
		tell(move, "a directory");
	closedir(dir);
}

/* With all that is in it, also of a directory that an earlier try has moved before it ended. */
static void move_tree(int dirfd, const char *name, const struct move *move, int depth)
{
	int fd = told(openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), move, name), below = -1;
	struct stat st;

	if (fd == -1)
		return;
	if (fstat(fd, &st) == -1) {
		tell(move, name);
	} else {
		bool is_dir = S_ISDIR(st.st_mode);

		if (st.st_uid == move->from && (is_dir || st.st_nlink == 1) &&
		    fchownat(fd, "", move->to, move->group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == -1)
			tell(move, name);
		if (is_dir && (st.st_uid == move->from || st.st_uid == move->to) && depth < DEPTH_MAX)
			below = told(open_below(fd, "."), move, name);
	}
	if (below != -1)
		each_name(below, move, depth + 1, move_tree);
	close(fd);
}

/* A file or directory that stays rld's, and is for the agents, too. */
static void share(int dirfd, const char *name, const struct move *move, mode_t mode)
{
	int fd = told(openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), move, name);
	struct stat st;

	if (fd == -1)
		return;
	if (fstat(fd, &st) == -1 || (st.st_uid == move->from && (S_ISDIR(st.st_mode) || st.st_nlink == 1) &&
	    (fchown(fd, (uid_t)-1, move->group) == -1 || fchmod(fd, mode) == -1)))
		tell(move, name);
	close(fd);
}

static bool begins(const char *name, const char *head)
{
	return strncmp(name, head, strlen(head)) == 0;
}

/* Of a run, and in it one for each slot: the directories stay rld's, which makes them. */
static void move_scratch(int dirfd, const char *name, const struct move *move, int depth)
{
	int fd = told(open_below(dirfd, name), move, name);

	if (fd == -1) {
		if (is_not_there())
			move_tree(dirfd, name, move, depth);
		return;
	}
	each_name(fd, move, depth + 1, depth == SLOT_DEPTH ? move_tree : move_scratch);
	share(dirfd, name, move, 01770);
}

static void move_of_run(int dirfd, const char *name, const struct move *move, int depth)
{
	if (begins(name, "task")) {
		share(dirfd, name, move, 0640);
	} else if (strcmp(name, "scratch") == 0) {
		move_scratch(dirfd, name, move, SLOT_DEPTH - 1);
	} else if (begins(name, "tree-") || begins(name, "tmp-")) {
		move_tree(dirfd, name, move, depth + 1);
	}
}

static void move_run(int dirfd, const char *name, const struct move *move, int depth)
{
	int fd = told(open_below(dirfd, name), move, name);

	if (fd == -1)
		return;
	if (fchmod(fd, 0771) == -1)
		tell(move, name);
	each_name(fd, move, depth + 1, move_of_run);
}

/* The target of a link in the directory of a process: its size; 0: it has none, or is gone; -1: it
 * is not known. */
static ssize_t process_link(const char *process, const char *name, char target[PATH_MAX])
{
	char path[300];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/%s", process, name);
	n = readlink(path, target, PATH_MAX - 1);
	target[n > 0 ? n : 0] = '\0';
	return n >= 0 ? n : errno == ENOENT || errno == ESRCH || errno == EACCES ? 0 : -1;
}

/* 1: it is a shim that works in the state directory, which is where it has its agent's records,
 * with one kind of ids: its agent has them, too. The directory in /proc of one that has two kinds
 * is root's. 0: it is none. -1: that is not known. */
static int is_earlier(const char *process, const char *state_dir, uid_t uid)
{
	char target[PATH_MAX], path[300];
	size_t n = strlen(state_dir);
	ssize_t size = process_link(process, "exe", target);
	struct stat st;

	/* "(deleted)" follows when the package was replaced */
	if (size <= 0 || strstr(target, "/" PROCESS_SHIM) == NULL)
		return size < 0 ? -1 : 0;
	size = process_link(process, "cwd", target);
	if (size <= 0 || strncmp(target, state_dir, n) != 0 || target[n] != '/')
		return size < 0 ? -1 : 0;
	snprintf(path, sizeof(path), "/proc/%s", process);
	if (stat(path, &st) == -1)
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	return st.st_uid == uid;
}

/* How many there are, -1 with errno; *pidfd: readable when one of them ends, or -1. */
static int find_shims(const char *state_dir, uid_t uid, int *pidfd)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int count = 0, is = 0, error;

	*pidfd = -1;
	if (proc == NULL)
		return -1;
	while (is != -1 && (errno = 0, (entry = readdir(proc)) != NULL)) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		is = is_earlier(entry->d_name, state_dir, uid);
		if (is == 1 && *pidfd == -1) {
			*pidfd = pidfd_open((pid_t)strtol(entry->d_name, NULL, 10), 0);
			if (*pidfd == -1)
				is = errno == ESRCH ? 0 : -1;
		}
		count += is == 1;
	}
	error = errno;
	closedir(proc);
	errno = error;
	if (error == 0)
		return count;
	if (*pidfd != -1)
		close(*pidfd);
	return -1;
}

/* 0, or -1 with errno: whether there are any is not known. */
static int wait_for_shims(const char *state_dir, uid_t uid)
{
	int count, told = 0, pidfd;

	while ((count = find_shims(state_dir, uid, &pidfd)) > 0) {
		struct pollfd p = { .fd = pidfd, .events = POLLIN };

		if (count != told)
			fprintf(stderr, "rl-start: attempts that an earlier version has started as the user of rld: "
			    "%d; waiting for their end\n", count);
		told = count;
		poll(&p, 1, -1);
		close(pidfd);
	}
	return count;
}

static bool is_marked(int state, uid_t uid)
{
	int fd = openat(state, MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[32] = { 0 };
	bool marked = fd != -1 && read(fd, text, sizeof(text) - 1) > 0 && strtoul(text, NULL, 10) == uid;

	if (fd != -1)
		close(fd);
	return marked;
}

static int mark(int state, uid_t uid, const struct stat *owner)
{
	int fd, rv;

	unlinkat(state, MARK, 0);
	fd = openat(state, MARK, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	rv = fd == -1 || dprintf(fd, "%lu\n", (unsigned long)uid) < 0 || fsync(fd) == -1 ||
	    fchown(fd, owner->st_uid, owner->st_gid) == -1 ? -1 : 0;
	if (fd != -1)
		close(fd);
	return rv;
}

int hand_over(const struct start_setup *setup, const char *state_dir)
{
	static const struct {
		const char *name;
		bool keeps_group;	/* that of rld */
		void (*move)(int dirfd, const char *name, const struct move *move, int depth);
	} parts[] = { { "evidence", true, move_tree }, { "worktrees", false, move_tree }, { "runs", false, move_run } };
	int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool failed = false;
	struct stat st;
	char *real;

	if (state == -1 && errno == ENOENT)
		return 0;
	if (state == -1 || fstat(state, &st) == -1) {
		fprintf(stderr, "rl-start: %s: %s\n", state_dir, strerror(errno));
		return -1;
	}
	if (st.st_uid == 0 || st.st_uid == setup->uid) {
		fprintf(stderr, "rl-start: %s belongs to uid %u; it must belong to the user of rld\n", state_dir,
		    (unsigned)st.st_uid);
		close(state);
		return -1;
	}
	if (!is_marked(state, setup->uid)) {
		real = realpath(state_dir, NULL);
		if (real == NULL || wait_for_shims(real, st.st_uid) == -1) {
			fprintf(stderr, "rl-start: whether agents of an earlier version are at work in %s is not "
			    "known: %s; start rld again\n", state_dir, strerror(errno));
			free(real);
			close(state);
			return -1;
		}
		free(real);
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			const struct move move = { .from = st.st_uid, .to = setup->uid,
			    .group = parts[i].keeps_group ? st.st_gid : setup->gid,
			    .failed = &failed };
			int fd = told(open_below(state, parts[i].name), &move, parts[i].name);

			if (fd != -1)
				each_name(fd, &move, 0, parts[i].move);
		}
		if (failed) {
			fprintf(stderr, "rl-start: some of %s could not be given to uid %u: see above, and start rld "
			    "again\n", state_dir, (unsigned)setup->uid);
			close(state);
			return -1;
		}
		if (mark(state, setup->uid, &st) == -1) {
			fprintf(stderr, "rl-start: %s/" MARK ": %s\n", state_dir, strerror(errno));
			close(state);
			return -1;
		}
	}
	close(state);
	return 0;
}
