/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/offload.h"
#include "core/decision.h"
#include "core/row.h"
#include "git/command.h"
#include "git/gitdir.h"
#include "job/kept_environment.h"
#include "proc/proc.h"
#include "proc/version_probe.h"
#include "proto/memory.h"
#include "proto/program.h"

#define SETTING "boot_id"	/* of the last check of results */
#define GIT_MS 10000		/* per process */
#define REF_MAX 4096		/* size of the file of a ref */

struct results {
	struct rowset set;		/* of salvage rows: run, task, workspace, ref, commit_id */
	struct store *store;
	atomic_bool stopped;
	struct buf lost;
	void (*done)(void *arg, char *lost);
	void *arg;
};

static bool seen_in_this_boot(struct store *store)
{
	const struct query_bind binds[] = { { ":name", 0, SETTING }, { NULL, 0, NULL } };
	struct rowset set = { 0 };
	bool same;

	store_read_now(store, "setting.get", ROW_SETTING, binds, &set);
	same = set.count > 0 && strcmp(((const struct setting_row *)set.rows[0])->value, proc_boot_id()) == 0;
	rowset_release(&set);
	return same;
}

struct results *results_load(struct store *store)
{
	struct results *results;

	if (seen_in_this_boot(store))
		return NULL;
	results = xcalloc(1, sizeof(*results));
	results->store = store;
	store_read_now(store, "run.results", ROW_SALVAGE, NULL, &results->set);
	return results;
}

/* ---- off the loop ---- */

static char **environment_for(const struct git_command *command)
{
	char **env = strings_copy(environ);

	environment_set_all(&env, (const char *const *)command->env);
	return env;
}

/* Run git with these words there: 0: yes; -ENOMSG: no; another -errno: no answer in time. */
static int git(const char *program, const char *workspace, const char *const *args)
{
	struct git_command command = { 0 };
	char line[128], **env;
	int rv;

	git_command_set(&command, workspace, NULL, NULL, args);
	env = environment_for(&command);
	rv = version_probe_run(program, command.argv, env, GIT_MS, line, sizeof(line));
	strings_wipe(env);
	git_command_release(&command);
	return rv;
}

/* Whether the tree of name exists there, with everything in it. Returns like git(). */
static int whole(const char *program, const char *workspace, const char *name)
{
	char *tree = xasprintf("%s^{tree}", name);
	const char *const args[] = { "rev-list", "--objects", "--quiet", "--end-of-options", tree, NULL };
	int rv = git(program, workspace, args);

	free(tree);
	return rv;
}

/* git cannot change a ref whose file is damaged: after a power cut, zeros or empty. */
static void remove_broken(const char *workspace, const char *ref)
{
	char *common = git_dir_common(workspace),
	    *file = common != NULL ? xasprintf("%s/%s", common, ref) : NULL, *data;
	size_t size;

	if (file != NULL && file_read(AT_FDCWD, file, REF_MAX, &data, &size) == 0) {
		if (size == 0 || !isxdigit((unsigned char)data[0]))
			unlink(file);
		free(data);
	}
	free(file);
	free(common);
}

static bool pin(const char *program, const struct salvage_row *row)
{
	const char *const args[] = { "update-ref", "--no-deref", row->ref, row->commit_id, NULL };

	remove_broken(row->workspace, row->ref);
	return git(program, row->workspace, args) == 0 && whole(program, row->workspace, row->ref) == 0;
}

static char *name_of(const struct salvage_row *row)
{
	return row->task != NULL ? xasprintf("run %lld, task %s", (long long)row->run, row->task) :
	    xasprintf("run %lld", (long long)row->run);
}

static void tell(struct results *results, const char *name, const char *what, const char *workspace)
{
	buf_addf(&results->lost, "%s%s: %s in %s", results->lost.size > 0 ? "; " : "", name, what, workspace);
}

static void results_inspect(struct results *results, const char *program, const struct salvage_row *row)
{
	static const char *const probe[] = { "rev-parse", "--git-dir", NULL };
	const char *where = row->ref != NULL ? row->ref : row->commit_id;
	char *name;
	int kept;

	/* a missing or unreadable repository proves nothing */
	if (whole(program, row->workspace, where) != -ENOMSG || git(program, row->workspace, probe) != 0)
		return;
	kept = row->ref != NULL ? whole(program, row->workspace, row->commit_id) : -ENOMSG;
	name = name_of(row);
	if (kept == 0 && pin(program, row)) {
		log_warn("%s: %s in %s was missing or damaged after the machine restarted, and has "
		    "been restored to %.12s", name, row->ref, row->workspace, row->commit_id);
	} else if (kept == 0) {
		log_warn("%s: %s in %s is missing or damaged after the machine restarted, and "
		    "could not be restored; its content exists, so run: git update-ref %s %s", name,
		    row->ref, row->workspace, row->ref, row->commit_id);
		tell(results, name, where, row->workspace);
	} else if (kept == -ENOMSG) {
		log_warn("%s: %s in %s is missing or damaged after the machine restarted, and so "
		    "is its content, %.12s; look for the work in the work tree, or retry the run: "
		    "rlctl retry %lld", name, where, row->workspace,
		    row->commit_id, (long long)row->run);
		tell(results, name, where, row->workspace);
	}
	free(name);
}

static void look_run(void *arg)
{
	struct results *results = arg;
	char *program = results->set.count > 0 ? program_find(getenv("PATH"), "git") : NULL;

	for (size_t i = 0; program != NULL && i < results->set.count && !results->stopped; i++)
		results_inspect(results, program, results->set.rows[i]);
	free(program);
}

/* ---- on the loop ---- */

static void recorded_cb(void *arg, enum store_result result, struct decision *d)
{
	(void)arg, (void)result;
	decision_release(d);
	free(d);
}

static void record(struct store *store)
{
	struct setting_row row = { .name = (char[]){ SETTING }, .value = (char *)proc_boot_id() };
	struct decision *d = xcalloc(1, sizeof(*d));

	decision_put(d, ROW_SETTING, &row);
	store_commit(store, d, false, recorded_cb, NULL);
}

static void look_done(void *arg)
{
	struct results *results = arg;

	if (!results->stopped) {
		log_debug("%zu results checked after the restart of the machine", results->set.count);
		record(results->store);
	}
	results->done(results->arg, results->lost.size > 0 ? buf_take(&results->lost, NULL) : NULL);
	rowset_release(&results->set);
	free(results);
}

void results_look(struct results *results, uv_loop_t *loop, void (*done)(void *arg, char *lost), void *arg)
{
	if (results == NULL)
		return;
	results->done = done;
	results->arg = arg;
	offload(loop, look_run, look_done, results);
}

void results_stop(struct results *results)
{
	if (results != NULL)
		results->stopped = true;
}
