/* SPDX-License-Identifier: MIT */
/* Files that the daemon reads or writes for a client: a client that is no administrator must not
 * reach by the daemon what its own user may not. This holds for paths that are named; what agents,
 * checks and set-up commands do, they do as the daemon's user. Blocks on the disk: on a worker. */
#ifndef RPC_PATH_ACCESS_H
#define RPC_PATH_ACCESS_H

#include <stdbool.h>

#include "base/credentials.h"
#include "config/config.h"
#include "core/plan.h"

struct call;

struct path_access {
	const struct peer *peer;	/* NULL: an administrator, who may name anything */
	/* the first path that may not be used, as a sentence; NULL: none. Owned */
	char *text;
	const char *field;		/* parameter at fault */
};

/* The peer that the paths of this call are checked for; NULL: none. Valid as long as the call. */
const struct peer *path_access_peer(const struct call *call);

/* For whom to read such files, see base/peer_file.h; own: settings of the daemon, whose prompts are
 * for all, NULL: none. malloc'd; NULL: as the daemon. What is read so is checked as it is opened:
 * the checks below give the better message, and hold for the moment only. */
char **path_access_read_as(const struct path_access *access, const struct plan *own);

#define PATH_ACCESS_HINT "name what your own user may use, or change its owner, group or mode"

/* mode: of access(2). path: absolute; NULL: none. Returns false with text. */
bool path_access_check(struct path_access *access, const char *field, const char *path, int mode);

/* A directory whose project file is read. */
bool path_access_project(struct path_access *access, const char *workdir);

/* project_read() for the caller. */
void path_access_read(const struct path_access *access, struct project_text *out, const char *workdir);

/* A directory where agents are to work, its repository and project file included. */
bool path_access_workdir(struct path_access *access, const char *workdir);

/* What the settings of a run name, but for what the settings of the daemon name: own. */
bool path_access_plan(struct path_access *access, const struct plan *plan, const struct plan *own,
    const char *workdir);

#endif
