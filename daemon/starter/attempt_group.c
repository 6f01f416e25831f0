/* SPDX-License-Identifier: MIT */
#include "starter/attempt_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "proc/start_wire.h"
#include "proto/memory.h"
#include "record/own_group.h"

#define KILL_TRIES 300
#define KILL_PAUSE_NS 10000000	/* 10 ms, so 3 s in total */
#define ENTER_TRIES 1000
#define ENTER_PAUSE_NS 1000000	/* 1 ms, so 1 s in total */

/* In which systemd runs control processes of the service. */
static const char *const control = ".control";
static const char *const of_systemd = "starter";
static const char *const ours = "main";

static const struct {
	const char *controller, *file, *note;
	unsigned can;
	size_t limit;		/* in struct start_limits */
} kinds[] = {
	{ "memory", "memory.max", "user.rld.memory", START_CAN_MEMORY, offsetof(struct start_limits, memory) },
	{ "pids", "pids.max", "user.rld.processes", START_CAN_PROCESSES, offsetof(struct start_limits, processes) },
};

#define EACH_KIND(k) (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)

/* The directory above the last name, if that is this one; NULL: it is another. */
static char *above(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash + 1, name) == 0 ? xasprintf("%.*s", (int)(slash - path), path) : NULL;
}

char *attempt_groups_find(void)
{
	char own[PATH_MAX], *at;

	if (!own_group(own, sizeof(own)))
		return NULL;
	at = above(own, of_systemd);
	if (at == NULL)
		at = xstrdup(own);
	if (access(at, W_OK | X_OK) == 0)
		return at;
	free(at);
	return NULL;
}

static bool put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd != -1)
		close(fd);
	free(path);
	return done;
}

static bool has_word(const char *dir, const char *name, const char *word)
{
	char *path = xasprintf("%s/%s", dir, name), text[256] = "", *rest = text, *next;
	FILE *file = fopen(path, "re");
	bool found = false;

	if (file != NULL && fgets(text, sizeof(text), file) != NULL)
		while (!found && (next = strsep(&rest, " \n")) != NULL)
			found = strcmp(next, word) == 0;
	if (file != NULL)
		fclose(file);
	free(path);
	return found;
}

/* Move all processes of groups_at below it: this one, and what an earlier rl-start has left. */
static void move_below(const char *groups_at)
{
	char *dir = xasprintf("%s/%s", groups_at, ours), *path = xasprintf("%s/cgroup.procs", groups_at), line[32];
	FILE *file = mkdir(dir, 0755) == 0 || errno == EEXIST ? fopen(path, "re") : NULL;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		put(dir, "cgroup.procs", line);
	if (file != NULL)
		fclose(file);
	free(path);
	free(dir);
}

static void set_limit(const char *dir, size_t kind, int64_t limit)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, limit);
	if (!put(dir, kinds[kind].file, text))
		fprintf(stderr, "rl-start: %s/%s: %s\n", dir, kinds[kind].file, strerror(errno));
	/* or the limit would only move it to the swap */
	if (kinds[kind].can == START_CAN_MEMORY)
		put(dir, "memory.swap.max", "0");
}

/* Groups that were there before. */
static void limit_again(const char *groups_at, size_t kind)
{
	DIR *groups = opendir(groups_at);
	struct dirent *entry;
	int64_t limit;

	while (groups != NULL && (entry = readdir(groups)) != NULL) {
		char *dir = xasprintf("%s/%s", groups_at, entry->d_name);

		if (strncmp(entry->d_name, ATTEMPT_GROUP, strlen(ATTEMPT_GROUP)) == 0 &&
		    getxattr(dir, kinds[kind].note, &limit, sizeof(limit)) == sizeof(limit) && limit > 0)
			set_limit(dir, kind, limit);
		free(dir);
	}
	if (groups != NULL)
		closedir(groups);
}

unsigned attempt_groups_limit(const char *groups_at)
{
	unsigned can = groups_at != NULL ? START_CAN_GROUP : 0;

	for EACH_KIND(k) {
		char *text = xasprintf("+%s", kinds[k].controller);

		if (groups_at != NULL && has_word(groups_at, "cgroup.controllers", kinds[k].controller)) {
			move_below(groups_at);
			if (put(groups_at, "cgroup.subtree_control", text))
				can |= kinds[k].can;
			else
				fprintf(stderr, "rl-start: %s/cgroup.subtree_control: %s: %s\n", groups_at, text,
				    strerror(errno));
		}
		if (can & kinds[k].can)
			limit_again(groups_at, k);
		free(text);
	}
	return can;
}

void attempt_groups_release_at(const char *groups_at)
{
	char *dir = xasprintf("%s/%s", groups_at, of_systemd);

	for EACH_KIND(k) {
		char *text = xasprintf("-%s", kinds[k].controller);

		/* with DelegateSubgroup= the next rl-start starts below anyway */
		if (access(dir, F_OK) == -1 && has_word(groups_at, "cgroup.subtree_control", kinds[k].controller) &&
		    !put(groups_at, "cgroup.subtree_control", text))
			fprintf(stderr, "rl-start: %s/cgroup.subtree_control: %s: %s\n", groups_at, text,
			    strerror(errno));
		free(text);
	}
	free(dir);
}

void attempt_groups_release(void)
{
	char own[PATH_MAX], *at = own_group(own, sizeof(own)) ? above(own, control) : NULL;

	if (at != NULL)
		attempt_groups_release_at(at);
	free(at);
}

/* Noted first: also for a later rl-start that can do more. */
static void limit_group(const char *dir, const struct start_limits *limits, unsigned can)
{
	for EACH_KIND(k) {
		int64_t limit;

		memcpy(&limit, (const char *)limits + kinds[k].limit, sizeof(limit));
		if (limit <= 0)
			continue;
		if (setxattr(dir, kinds[k].note, &limit, sizeof(limit), 0) == -1 && can & kinds[k].can)
			fprintf(stderr, "rl-start: %s: its %s cannot be noted, and is lost when rl-start restarts: "
			    "%s\n", dir, kinds[k].file, strerror(errno));
		if (can & kinds[k].can)
			set_limit(dir, k, limit);
	}
}

/* 0 or -errno; -ENOENT: attempt_groups_tidy() has found it empty. */
static int enter(const char *dir, const struct start_limits *limits, unsigned can)
{
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		return -errno;
	limit_group(dir, limits, can);
	return put(dir, "cgroup.procs", "0") ? 0 : -errno;
}

void attempt_group_enter(const char *groups_at, const char *uuid, const struct start_limits *limits, unsigned can)
{
	const struct timespec pause = { .tv_nsec = ENTER_PAUSE_NS };
	char *dir;
	int rv;

	if (groups_at == NULL)
		return;
	dir = xasprintf("%s/" ATTEMPT_GROUP "%s", groups_at, uuid);
	rv = enter(dir, limits, can);
	for (int i = 0; rv == -ENOENT && i < ENTER_TRIES; i++) {
		nanosleep(&pause, NULL);
		rv = enter(dir, limits, can);
	}
	if (rv != 0)
		fprintf(stderr, "rl-start: %s: %s\n", dir, strerror(-rv));
	free(dir);
}

/* "populated 0" or "populated 1"; false: there is no such group. What cannot be read may be. */
static bool is_populated(const char *dir)
{
	char *path = xasprintf("%s/cgroup.events", dir), text[256] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd != -1 ? read(fd, text, sizeof(text) - 1) : -1;
	bool populated = n > 0 ? strstr(text, "populated 1") != NULL : errno != ENOENT && errno != ENODEV;

	if (fd != -1)
		close(fd);
	free(path);
	return populated;
}

int attempt_group_kill(const char *groups_at, const char *uuid)
{
	const struct timespec pause = { .tv_nsec = KILL_PAUSE_NS };
	char *dir;
	int found;

	if (groups_at == NULL)
		return 0;
	dir = xasprintf("%s/" ATTEMPT_GROUP "%s", groups_at, uuid);
	found = is_populated(dir);
	for (int i = 0; is_populated(dir) && i < KILL_TRIES; i++) {
		put(dir, "cgroup.kill", "1");
		nanosleep(&pause, NULL);
	}
	if (is_populated(dir))
		found = -1;
	else
		rmdir(dir);
	free(dir);
	return found;
}

void attempt_groups_tidy(const char *groups_at)
{
	DIR *dir = groups_at != NULL ? opendir(groups_at) : NULL;
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (strncmp(entry->d_name, ATTEMPT_GROUP, strlen(ATTEMPT_GROUP)) == 0)
			/* only an empty one */
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir != NULL)
		closedir(dir);
}
