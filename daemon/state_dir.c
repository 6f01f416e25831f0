/* SPDX-License-Identifier: MIT */
#include "state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/file.h"
#include "base/log.h"
#include "proto/memory.h"

/* Another user with write access could replace our files: jobs, environments, the database. */
static void check_owner(const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		log_fatal("state directory %s: %s; give uid %u access to it, or name another with "
		    "--state-dir",
		    path, strerror(errno), (unsigned)geteuid());
	if (st.st_uid != geteuid())
		log_fatal("state directory %s belongs to uid %u, but rld runs as uid %u; chown it, "
		    "run rld as its owner, or name another with --state-dir",
		    path, (unsigned)st.st_uid, (unsigned)geteuid());
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		log_fatal("state directory %s has mode %03o, so other users can change its "
		    "content; run 'chmod go-w %s', or name another with --state-dir",
		    path, (unsigned)(st.st_mode & 0777), path);
}

struct opened {
	const char *name;
	mode_t mode;
};

/* Where agents have another user, see base/agent_user.h. */
static void pass(const char *state_dir, const struct opened *o)
{
	char *path = xasprintf("%s%s", state_dir, o->name);
	int rv = file_mkdirs(path, 0700);

	if (rv == 0)
		rv = agent_user_pass(AT_FDCWD, path, o->mode);
	if (rv != 0)
		log_fatal("state directory: %s: %s", path, strerror(-rv));
	free(path);
}

/* By rl-start --hand-over: then the evidence is no longer ours. */
static void check_handed_over(const char *state_dir)
{
	char *path = xasprintf("%s/agents", state_dir), *text = NULL;
	size_t size;

	if (!agent_user()->apart && file_read(AT_FDCWD, path, 32, &text, &size) == 0)
		log_fatal("state directory %s was handed over to uid %d, as whom its agents work: start rld with "
		    "rl-start (rld.service of the system does), or name another with --state-dir", state_dir,
		    (int)strtol(text, NULL, 10));
	free(text);
	free(path);
}

static void make_state(const char *state_dir)
{
	static const char *const names[] = { "", "/attempts", "/runs", "/env", "/blobs" };
	static const struct opened open[] = {
		{ "", 0711 }, { "/attempts", 0711 }, { "/runs", 0711 }, { "/worktrees", 0771 }, { "/evidence", 0770 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = xasprintf("%s%s", state_dir, names[i]);
		int rv = file_mkdirs(path, 0700);

		if (rv != 0)
			log_fatal("state directory %s: %s; create it for uid %u, "
			    "or name another with --state-dir", path, strerror(-rv), (unsigned)geteuid());
		check_owner(path);
		free(path);
	}
	check_handed_over(state_dir);
	for (size_t i = 0; agent_user()->apart && i < sizeof(open) / sizeof(open[0]); i++)
		pass(state_dir, &open[i]);
}

/* That of the system service is open, so that users without a role can be told. Returns 0 or
 * -errno: the socket cannot be created there. */
static int make_parent(const char *socket, bool system)
{
	char *dir = xstrdup(socket), *slash = strrchr(dir, '/');
	bool is_new;
	int rv = 0;

	if (slash != NULL && slash != dir) {
		*slash = '\0';
		is_new = access(dir, F_OK) == -1;
		rv = file_mkdirs(dir, 0700);
		if (rv == 0 && is_new && system && chmod(dir, 0755) == -1)
			rv = -errno;
		if (rv == 0 && access(dir, W_OK | X_OK) == -1)
			rv = -errno;
	}
	free(dir);
	return rv;
}

/* $XDG_RUNTIME_DIR may be missing, or another user's after su(1): the socket next to the state
 * remains, and rlctl finds it. */
static void do_without(struct places *places, int why)
{
	log_warn("cannot create the socket %s: %s; only %s is there. Unset XDG_RUNTIME_DIR, or log in as this user",
	    places->socket[0], strerror(why), places->socket[1]);
	free(places->socket[0]);
	places->socket[0] = places->socket[1];
	places->socket[1] = NULL;
}

void state_dir_make(struct places *places)
{
	make_state(places->state_dir);
	for (int i = places->inherited ? 1 : 0; i < 2 && places->socket[i] != NULL; i++) {
		int rv = make_parent(places->socket[i], places->system);

		if (rv != 0 && i == 0 && places->can_do_without)
			do_without(places, -rv);
		else if (rv != 0)
			log_fatal("socket directory of %s: %s; create it, or name another socket with --socket",
			    places->socket[i], strerror(-rv));
	}
}
