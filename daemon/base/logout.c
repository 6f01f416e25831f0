/* SPDX-License-Identifier: MIT */
#include "base/logout.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "proto/memory.h"

#define CGROUP_MAX (64 * 1024)
#define LINGER_DIR "/var/lib/systemd/linger"

/* "user@1000.service" */
static bool logout_is_manager(const char *name, size_t size, uid_t *uid)
{
	uint64_t number = 0;
	size_t i = 5;

	if (size < 6 || strncmp(name, "user@", 5) != 0)
		return false;
	for (; i < size && name[i] >= '0' && name[i] <= '9' && number <= UINT32_MAX; i++)
		number = number * 10 + (uint64_t)(name[i] - '0');
	if (i == 5 || number > UINT32_MAX || size - i != 8 || strncmp(name + i, ".service", 8) != 0)
		return false;
	*uid = (uid_t)number;
	return true;
}

/* "session-3.scope" */
static bool logout_is_session(const char *name, size_t size)
{
	return size > 14 && strncmp(name, "session-", 8) == 0 && strncmp(name + size - 6, ".scope", 6) == 0;
}

/* Of a path of cgroups: the outermost unit decides, because all below ends with it. */
static enum logout_place logout_path(const char *path, size_t size, uid_t *uid)
{
	for (size_t i = 0, n; i < size; i += n + 1) {
		const char *slash = memchr(path + i, '/', size - i);

		n = slash != NULL ? (size_t)(slash - path) - i : size - i;
		if (logout_is_manager(path + i, n, uid))
			return LOGOUT_MANAGER;
		if (logout_is_session(path + i, n))
			return LOGOUT_SESSION;
	}
	return LOGOUT_APART;
}

enum logout_place logout_place(const char *cgroup, uid_t *uid)
{
	/* the hierarchies that systemd names by units; others may have paths of other programs */
	static const char *const wanted[] = { "", "name=systemd" };
	enum logout_place place = LOGOUT_APART;
	size_t size;

	for (const char *line = cgroup; *line != '\0' && place == LOGOUT_APART; line += size + (line[size] == '\n')) {
		const char *names, *path;

		size = strcspn(line, "\n");
		names = memchr(line, ':', size);
		path = names != NULL ? memchr(names + 1, ':', size - (size_t)(names + 1 - line)) : NULL;
		for (size_t i = 0; path != NULL && i < ARRAY_SIZE(wanted); i++) {
			size_t length = (size_t)(path - names) - 1;

			if (length == strlen(wanted[i]) && strncmp(names + 1, wanted[i], length) == 0)
				place = logout_path(path + 1, size - (size_t)(path + 1 - line), uid);
		}
	}
	return place;
}

static bool logout_lingers(const char *user)
{
	char *path = xasprintf(LINGER_DIR "/%s", user);
	bool lingers = access(path, F_OK) == 0;

	free(path);
	return lingers;
}

void logout_look(struct logout *out)
{
	struct passwd entry, *found = NULL;
	char *text = NULL, names[4096];
	size_t size;
	uid_t uid = 0;

	*out = (struct logout){ .place = LOGOUT_APART };
	if (file_read(AT_FDCWD, "/proc/self/cgroup", CGROUP_MAX, &text, &size) != 0)
		return;
	out->place = logout_place(text, &uid);
	free(text);
	if (out->place != LOGOUT_MANAGER)
		return;
	if (getpwuid_r(uid, &entry, names, sizeof(names), &found) == 0 && found != NULL)
		out->user = xstrdup(found->pw_name);
	else
		out->user = xasprintf("%u", (unsigned)uid);
	out->ends = !logout_lingers(out->user);
}

void logout_release(struct logout *logout)
{
	free(logout->user);
	*logout = (struct logout){ 0 };
}

char *logout_remedy(const struct logout *logout)
{
	return xasprintf("loginctl enable-linger %s", logout->user);
}
