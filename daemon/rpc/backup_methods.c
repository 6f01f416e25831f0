/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "rpc/context.h"

/* A copy in progress. */
struct backup_call {
	struct call *call;
	char *path;
};

static void copied_cb(void *arg, const char *fault, int64_t bytes)
{
	struct backup_call *b = arg;

	if (fault != NULL)
		call_error(b->call, RPC_UNAVAILABLE, "path", "the database is as it was; no copy was made", "%s",
		    fault);
	else
		call_ok(b->call, json_pack("{s:s,s:I}", "path", b->path, "bytes", (json_int_t)bytes));
	free(b->path);
	free(b);
}

static struct reply daemon_backup(struct rpc *rpc, struct call *call)
{
	const char *path = call_text(call, "path");
	struct backup_call *b;

	if (path[0] != '/' || path[strlen(path) - 1] == '/')
		return reply_error(call, RPC_INVALID_PARAMS, "path", "name a new file with its absolute path",
		    "path '%s' is not the absolute path of a file", path);
	b = xcalloc(1, sizeof(*b));
	b->call = call;
	b->path = xstrdup(path);
	store_backup(rpc->options.store, path, copied_cb, b);
	return reply_later(call);
}

static const struct schema backup_params[] = {
	{ "path", SCHEMA_TEXT, .min = 1, .max = PATH_MAX, .required = true,
	    .help = "absolute path of a new file, written by the daemon's user with mode 0600" },
	{ 0 },
};
static const struct result_field backup_results[] = {
	{ "path", "string", "the file" },
	{ "bytes", "integer", "its size" },
	{ 0 },
};
static const int backup_errors[] = { RPC_UNAVAILABLE, 0 };

const struct method backup_methods[] = {
	{ "daemon.backup", ACCESS_ADMIN, false, backup_params, backup_results, backup_errors, daemon_backup,
	    "copy the database to a file, while work continues" },
	{ 0 },
};
