/* SPDX-License-Identifier: MIT */
#include "keep/inventory.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "git/gitdir.h"
#include "git/read_ref.h"
#include "git/worktree_admin.h"
#include "keep/repository.h"
#include "proto/memory.h"

#define LOCK_SECONDS 3600	/* a younger one may be in use */

/* Takes name. */
static void add(struct inventory *i, enum inventory_kind kind, int64_t id, char *name, const char *workspace)
{
	i->items = xreallocarray(i->items, i->count + 1, sizeof(*i->items));
	i->items[i->count++] = (struct inventory_item){ kind, id, name, workspace };
}

/* The number that text is, up to end; 0: it is none. */
static int64_t number_of(const char *text, const char *end)
{
	size_t length = strcspn(text, end);
	int64_t number = 0;

	if (length == 0 || length > 15 || text[0] == '0' || strspn(text, "0123456789") != length)
		return 0;
	for (size_t i = 0; i < length; i++)
		number = number * 10 + (text[i] - '0');
	return number;
}

static void list_state(struct inventory *i, const char *folder, enum inventory_kind kind)
{
	char *path = xasprintf("%s/%s", i->state_dir, folder);
	DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.')
			add(i, kind, number_of(e->d_name, ""), xasprintf("%s/%s", folder, e->d_name), NULL);
	if (dir != NULL)
		closedir(dir);
	free(path);
}

/* "refs/rl/<instance>/KIND/<run>[/...]", or without the instance in earlier versions: the run; 0:
 * it has another form. Refs of other instances are none of ours: -1. */
static int64_t run_of_ref(const struct inventory *i, const char *ref)
{
	const char *rest = ref + strlen("refs/rl/"), *slash = strchr(rest, '/');
	bool has_instance = strspn(rest, "0123456789abcdef") == 8 && rest[8] == '/';

	if (has_instance && strncmp(rest, i->instance, 8) != 0)
		return -1;
	if (has_instance)
		slash = strchr(rest + 9, '/');
	return slash != NULL ? number_of(slash + 1, "/") : 0;
}

static void list_refs(struct inventory *i, const char *workspace)
{
	static const char *const args[] = { "for-each-ref", "--format=%(refname)", "refs/rl/", NULL };
	char *names = repository_lines(workspace, args), *rest = names, *ref;

	while ((ref = strsep(&rest, "\n")) != NULL) {
		int64_t run = *ref != '\0' ? run_of_ref(i, ref) : -1;

		if (run >= 0)
			add(i, INVENTORY_REF, run, xstrdup(ref), workspace);
	}
	free(names);
}

/* Registered by git, and below our worktrees/. */
static void list_admin(struct inventory *i, const char *workspace, const char *common)
{
	char *path = xasprintf("%s/worktrees", common), *ours = xasprintf("%s/worktrees/", i->state_dir);
	DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char *admin = xasprintf("%s/%s", path, e->d_name),
		    *tree = e->d_name[0] != '.' ? worktree_admin_line(admin, "gitdir") : NULL;

		if (tree != NULL && strncmp(tree, ours, strlen(ours)) == 0) {
			if (strlen(tree) > 5 && strcmp(tree + strlen(tree) - 5, "/.git") == 0)
				tree[strlen(tree) - 5] = '\0';
			add(i, INVENTORY_ADMIN, strchr(tree + strlen(ours), '/') != NULL ?
			    number_of(tree + strlen(ours), "/") : 0, xstrdup(tree), workspace);
		}
		free(tree);
		free(admin);
	}
	if (dir != NULL)
		closedir(dir);
	free(ours);
	free(path);
}

/* "branch.rl/12-result.rldinstance <instance>" */
static void list_config(struct inventory *i, const char *workspace, const char *common)
{
	char *lines = repository_lines(workspace, (const char *const[]){ "config", "--local", "--get-regexp",
	    "^branch\\.rl/.*\\.rldinstance$", NULL }), *rest = lines, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		char *value = strchr(line, ' '), *dot, *ref, *tip = NULL;

		if (value == NULL || strcmp(value + 1, i->instance) != 0)
			continue;
		*value = '\0';
		dot = strrchr(line, '.');
		*dot = '\0';
		ref = xasprintf("refs/heads/%s", line + strlen("branch."));
		if (read_ref(common, ref, &tip) == 0 && tip == NULL)
			add(i, INVENTORY_CONFIG, number_of(line + strlen("branch.rl/"), "/-"), xstrdup(line),
			    workspace);
		free(tip);
		free(ref);
	}
	free(lines);
}

static void list_locks(struct inventory *i, const char *workspace, const char *common)
{
	char *path = xasprintf("%s/refs/rl", common), *const paths[] = { path, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	while (fts != NULL && (e = fts_read(fts)) != NULL) {
		size_t n = strlen(e->fts_path);

		if (e->fts_info == FTS_F && n > 5 && strcmp(e->fts_path + n - 5, ".lock") == 0 &&
		    e->fts_statp->st_mtime + LOCK_SECONDS < time(NULL))
			add(i, INVENTORY_LOCK, 0, xstrdup(e->fts_path), workspace);
	}
	if (fts != NULL)
		fts_close(fts);
	free(path);
}

void inventory_take(struct inventory *i)
{
	list_state(i, "attempts", INVENTORY_ATTEMPT);
	list_state(i, "runs", INVENTORY_RUN);
	list_state(i, "worktrees", INVENTORY_TREE);
	for (size_t w = 0; i->workspaces[w] != NULL; w++) {
		char *common = git_dir_common(i->workspaces[w]);

		if (common == NULL)
			continue;
		list_refs(i, i->workspaces[w]);
		list_admin(i, i->workspaces[w], common);
		list_config(i, i->workspaces[w], common);
		list_locks(i, i->workspaces[w], common);
		free(common);
	}
}

void inventory_release(struct inventory *i)
{
	for (size_t n = 0; n < i->count; n++)
		free(i->items[n].name);
	free(i->items);
	strings_free(i->workspaces);
}
