/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/memory.h"

/* Without the NUL, which is optional in a socket address but good to have. */
#define SOCKET_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

/* New string; NULL if there is no working directory. */
static char *path_absolute(const char *path)
{
	char *here, *joined;

	if (path[0] == '/')
		return xstrdup(path);
	here = getcwd(NULL, 0);
	if (here == NULL)
		return NULL;
	joined = xasprintf("%s/%s", here, path);
	free(here);
	return joined;
}

/* The XDG specification: ignore relative paths in its variables. */
static const char *absolute_variable(char *(*environment)(const char *), const char *name)
{
	const char *value = environment(name);

	return value != NULL && value[0] == '/' ? value : NULL;
}

/* systemd passes a list with ":" if a unit names several directories; ours is the first. New string
 * or NULL. */
static char *unit_directory(char *(*environment)(const char *), const char *name)
{
	const char *value = absolute_variable(environment, name);

	return value == NULL ? NULL : xmemdup0(value, strcspn(value, ":"));
}

/* $NAME/rld or $HOME/fallback/rld; NULL without both. New string. */
static char *home_directory(char *(*environment)(const char *), const char *name, const char *fallback)
{
	const char *base = absolute_variable(environment, name), *home = absolute_variable(environment, "HOME");
	const struct passwd *user;

	if (base != NULL)
		return xasprintf("%s/rld", base);
	if (home == NULL && (user = getpwuid(getuid())) != NULL && user->pw_dir[0] == '/')
		home = user->pw_dir;
	return home == NULL ? NULL : xasprintf("%s/%s/rld", home, fallback);
}

static void system_places(struct places *out, char *(*environment)(const char *))
{
	char *runtime = unit_directory(environment, "RUNTIME_DIRECTORY");

	out->config_dir = xstrdup("/etc/rld");
	out->state_dir = unit_directory(environment, "STATE_DIRECTORY");
	if (out->state_dir == NULL)
		out->state_dir = xstrdup("/var/lib/rld");
	out->socket[0] = xasprintf("%s/rld.sock", runtime != NULL ? runtime : "/run/rld");
	free(runtime);
}

static void user_places(struct places *out, char *(*environment)(const char *))
{
	const char *runtime = absolute_variable(environment, "XDG_RUNTIME_DIR");

	out->config_dir = home_directory(environment, "XDG_CONFIG_HOME", ".config");
	out->state_dir = home_directory(environment, "XDG_STATE_HOME", ".local/state");
	if (runtime != NULL)
		out->socket[0] = xasprintf("%s/rld.sock", runtime);
}

/* Replace *path by the given path. */
static int path_override(char **path, const char *given)
{
	if (given == NULL)
		return 0;
	free(*path);
	*path = path_absolute(given);
	return *path == NULL ? -1 : 0;
}

static int check_socket(const char *path, char error[512])
{
	if (path == NULL || strlen(path) <= SOCKET_PATH_MAX)
		return 0;
	snprintf(error, 512,
	    "socket path is longer than %zu bytes; choose a shorter one with --socket or --state-dir: %s",
	    SOCKET_PATH_MAX, path);
	return -1;
}

int places_find(struct places *out, const struct places_given *given,
    char *(*environment)(const char *name), char error[512])
{
	const char *state = environment("STATE_DIRECTORY");

	*out = (struct places){ .system = given->system || (state != NULL && state[0] != '\0') };
	(out->system ? system_places : user_places)(out, environment);
	if (path_override(&out->config_file, given->config) == -1 ||
	    path_override(&out->state_dir, given->state_dir) == -1 ||
	    path_override(&out->socket[0], given->socket) == -1) {
		snprintf(error, 512,
		    "the working directory no longer exists (%s); use absolute paths", strerror(errno));
		goto fail;
	}
	if (out->config_file != NULL) {
		char *slash = strrchr(out->config_file, '/');

		free(out->config_dir);
		out->config_dir = xmemdup0(out->config_file,
		    slash == out->config_file ? 1 : (size_t)(slash - out->config_file));
	} else if (out->config_dir != NULL) {
		out->config_file = xasprintf("%s/rld.toml", out->config_dir);
	}
	if (out->config_file == NULL || out->state_dir == NULL) {
		snprintf(error, 512,
		    "unknown home directory; set HOME, or give --config and --state-dir");
		goto fail;
	}
	/* A logout removes $XDG_RUNTIME_DIR under a running daemon: the socket next to the state
	 * remains. */
	if (!out->system)
		out->socket[out->socket[0] == NULL ? 0 : 1] = xasprintf("%s/rld.sock", out->state_dir);
	out->can_do_without = !out->system && given->socket == NULL && out->socket[1] != NULL;
	if (out->socket[1] != NULL && strcmp(out->socket[0], out->socket[1]) == 0) {
		free(out->socket[1]);
		out->socket[1] = NULL;
		out->can_do_without = false;
	}
	if (check_socket(out->socket[0], error) == -1 || check_socket(out->socket[1], error) == -1)
		goto fail;
	return 0;
fail:
	places_release(out);
	return -1;
}

int places_inherit(struct places *places, const struct places_given *given, char *path, char error[512])
{
	if (given->socket != NULL && strcmp(path, places->socket[0]) != 0) {
		snprintf(error, 512, "the service manager listens at %s, but --socket names %s: remove one of them",
		    path, places->socket[0]);
		free(path);
		return -1;
	}
	free(places->socket[0]);
	places->socket[0] = path;
	places->inherited = true;
	places->can_do_without = false;
	if (places->socket[1] != NULL && strcmp(path, places->socket[1]) == 0) {
		free(places->socket[1]);
		places->socket[1] = NULL;
	}
	return 0;
}

void places_release(struct places *places)
{
	free(places->config_file);
	free(places->config_dir);
	free(places->state_dir);
	free(places->socket[0]);
	free(places->socket[1]);
	*places = (struct places){ 0 };
}
