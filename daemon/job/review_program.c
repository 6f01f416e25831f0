/* SPDX-License-Identifier: MIT */
#include "job/review_program.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "job/kept_environment.h"
#include "proto/memory.h"
#include "record/host_fault.h"

/* 0, or the errno that tells why it cannot be executed. */
static int program_fault(const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) == -1 ? errno : 0;
}

int review_program_find(const char *reviewer, char *const *env, char **path)
{
	const char *search = environment_get(env, "PATH");
	char *copy, *rest, *dir;
	int error = ENOENT;

	*path = NULL;
	if (strchr(reviewer, '/') != NULL) {
		error = program_fault(reviewer);
		*path = error == 0 ? xstrdup(reviewer) : NULL;
		return error;
	}
	copy = rest = xstrdup(search != NULL ? search : "/usr/bin:/bin");
	/* a fault of the host ends the search */
	while (*path == NULL && !host_fault(error) && (dir = strsep(&rest, ":")) != NULL) {
		char *file = xasprintf("%s/%s", dir[0] != '\0' ? dir : ".", reviewer);

		error = program_fault(file);
		if (error == 0)
			*path = file;
		else
			free(file);
	}
	free(copy);
	return error;
}

int review_program_digest(const char *reviewer, char *const *env, char hex[DIGEST_HEX])
{
	char *path;
	int error = review_program_find(reviewer, env, &path);

	if (error != 0)
		return error;
	error = digest_file(path, hex);
	free(path);
	return error;
}

#define KEPT 16
/* A change within the clock tick of another cannot be seen in the times. */
#define TICK_S 2

/* What is known of files, the newest first. */
static struct kept {
	struct stat st;
	char hex[DIGEST_HEX];
} kept[KEPT];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	    a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool kept_find(const struct stat *st, char hex[DIGEST_HEX])
{
	bool found = false;

	pthread_mutex_lock(&kept_lock);
	for (size_t i = 0; i < KEPT && !found; i++) {
		found = kept[i].hex[0] != '\0' && is_same(&kept[i].st, st);
		if (found)
			memcpy(hex, kept[i].hex, DIGEST_HEX);
	}
	pthread_mutex_unlock(&kept_lock);
	return found;
}

static void kept_add(const struct stat *st, const char hex[DIGEST_HEX])
{
	pthread_mutex_lock(&kept_lock);
	memmove(kept + 1, kept, sizeof(kept) - sizeof(kept[0]));
	kept[0].st = *st;
	memcpy(kept[0].hex, hex, DIGEST_HEX);
	pthread_mutex_unlock(&kept_lock);
}

int program_digest(const char *path, char hex[DIGEST_HEX])
{
	struct stat before, after;
	int error;

	if (stat(path, &before) == -1)
		return errno;
	if (kept_find(&before, hex))
		return 0;
	error = digest_file(path, hex);
	if (error == 0 && stat(path, &after) == 0 && is_same(&before, &after) &&
	    after.st_ctim.tv_sec + TICK_S < time(NULL))
		kept_add(&after, hex);
	return error;
}
