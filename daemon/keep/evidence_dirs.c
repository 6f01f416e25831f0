/* SPDX-License-Identifier: MIT */
#include "keep/evidence_dirs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/needs.h"
#include "git/remove_dir.h"
#include "keep/keeper_work.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define END ".git"
#define GONE ".gone"

struct evidence_dirs {
	struct keeper *keeper;
	char **names;			/* in the directory */
	char **gone;			/* paths to be removed */
	struct rowset *runs;		/* that are not pruned */
	char **left;
	void (*done)(void *arg, char *const *left);
	void *arg;
};

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

static void list_run(void *arg)
{
	struct evidence_dirs *e = arg;
	char *path = xasprintf("%s/evidence", e->keeper->options.state_dir);
	DIR *dir = opendir(path);
	const struct dirent *entry;

	e->names = xcalloc(1, sizeof(*e->names));
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			strings_append(&e->names, entry->d_name);
	if (dir != NULL)
		closedir(dir);
	free(path);
}

static void remove_done(void *arg)
{
	struct evidence_dirs *e = arg;

	for (char **text = e->left; text != NULL && *text != NULL; text++)
		log_warn("%s; the next prune tries again", *text);
	e->done(e->arg, e->left);
	strings_free(e->left);
	strings_free(e->names);
	strings_free(e->gone);
	free(e);
}

static void leave(struct evidence_dirs *e, const char *path, int error)
{
	char *text = xasprintf("cannot remove %s: %s", path, error == EXDEV ? "something is mounted there; unmount it" :
	    host_words(error));

	strings_append(&e->left, text);
	free(text);
}

static void remove_run(void *arg)
{
	struct evidence_dirs *e = arg;

	for (size_t i = 0; e->gone != NULL && e->gone[i] != NULL; i++) {
		int rv = remove_dir(e->gone[i]);

		if (rv != 0)
			leave(e, e->gone[i], -rv);
	}
}

static bool is_needed(const struct evidence_dirs *e, const char *id)
{
	for (size_t i = 0; i < e->runs->count; i++)
		if (text_equal(((const struct run_row *)e->runs->rows[i])->evidence, id))
			return true;
	return engine_needs_evidence(e->keeper->options.engine, id);
}

/* Under another name at once, so that no operation finds half of it. */
static void put_aside(struct evidence_dirs *e, const char *name)
{
	char *path = xasprintf("%s/evidence/%s", e->keeper->options.state_dir, name),
	    *gone = xasprintf("%s" GONE, path),
	    *id = xasprintf("%.*s", (int)(strlen(name) - strlen(END)), name);

	/* one of that name may be left of an earlier prune: then this one goes by the next */
	if (!is_needed(e, id)) {
		if (rename(path, gone) == 0)
			strings_append(&e->gone, gone);
		else
			leave(e, path, errno);
	}
	free(id);
	free(gone);
	free(path);
}

static void runs_cb(void *arg, struct rowset *set)
{
	struct evidence_dirs *e = arg;

	e->runs = set;
	for (size_t i = 0; e->names[i] != NULL; i++) {
		char *path = xasprintf("%s/evidence/%s", e->keeper->options.state_dir, e->names[i]);

		if (ends_with(e->names[i], END GONE))
			strings_append(&e->gone, path);
		else if (ends_with(e->names[i], END))
			put_aside(e, e->names[i]);
		free(path);
	}
	rowset_release(set);
	keeper_offload(e->keeper, remove_run, remove_done, e);
}

/* Runs that begin after this is read are the engine's. */
static void list_done(void *arg)
{
	struct evidence_dirs *e = arg;

	keeper_read(e->keeper, "prune.runs", ROW_RUN, ROW_NONE, runs_cb, e);
}

void evidence_dirs_remove(struct keeper *keeper, void (*done)(void *arg, char *const *left), void *arg)
{
	struct evidence_dirs *e = xcalloc(1, sizeof(*e));

	*e = (struct evidence_dirs){ .keeper = keeper, .done = done, .arg = arg };
	keeper_offload(keeper, list_run, list_done, e);
}
