/* SPDX-License-Identifier: MIT */
#include "client/sockets.h"

#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/memory.h"

#define SYSTEM_DIRECTORY "/run/rld"
#define SYSTEM_SOCKET SYSTEM_DIRECTORY "/rld.sock"

/* A variable with an absolute path; the XDG base directory specification ignores others. */
static const char *sockets_directory(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value == '/' ? value : NULL;
}

static const char *sockets_home(void)
{
	const char *path = sockets_directory("HOME");
	const struct passwd *user;

	if (path != NULL)
		return path;
	user = getpwuid(getuid());
	return user != NULL ? user->pw_dir : "/";
}

char *sockets_state_dir(void)
{
	const char *base = sockets_directory("XDG_STATE_HOME");

	return base != NULL ? xasprintf("%s/rld", base) : xasprintf("%s/.local/state/rld", sockets_home());
}

char *sockets_config_file(void)
{
	const char *base = sockets_directory("XDG_CONFIG_HOME");

	return base != NULL ? xasprintf("%s/rld/rld.toml", base) : xasprintf("%s/.config/rld/rld.toml", sockets_home());
}

bool sockets_system_owner(uid_t *uid)
{
	struct stat st;

	if (lstat(SYSTEM_DIRECTORY, &st) == -1 || !S_ISDIR(st.st_mode) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return false;
	*uid = st.st_uid;
	return true;
}

bool sockets_system_unit(void)
{
	static const char *const files[] = {
		"/etc/systemd/system/rld.service", "/run/systemd/system/rld.service",
		"/usr/local/lib/systemd/system/rld.service", "/usr/lib/systemd/system/rld.service",
		"/lib/systemd/system/rld.service",
	};
	struct stat st;

	/* the first file of a name wins: a link to /dev/null masks the others */
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (stat(files[i], &st) == 0)
			return S_ISREG(st.st_mode);
	return false;
}

char **sockets_list(void)
{
	const char *runtime = sockets_directory("XDG_RUNTIME_DIR");
	char **sockets = xreallocarray(NULL, 4, sizeof(*sockets));
	char *state = sockets_state_dir();
	int n = 0;

	if (runtime != NULL)
		sockets[n++] = xasprintf("%s/rld.sock", runtime);
	sockets[n++] = xasprintf("%s/rld.sock", state);
	sockets[n++] = xstrdup(SYSTEM_SOCKET);
	sockets[n] = NULL;
	free(state);
	return sockets;
}

void sockets_free(char **sockets)
{
	strings_free(sockets);
}
