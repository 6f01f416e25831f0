/* SPDX-License-Identifier: MIT */
#include "git/worktree_admin.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "child/child.h"
#include "git/remove_dir.h"
#include "proto/memory.h"

#define LINE_MAX_SIZE 65536

char *worktree_admin_line(const char *admin, const char *file)
{
	char *path = xasprintf("%s/%s", admin, file), *data, *line = NULL;
	size_t size;

	if (file_read(AT_FDCWD, path, LINE_MAX_SIZE, &data, &size) == 0) {
		if (size > 0 && data[size - 1] == '\n')
			data[--size] = '\0';
		line = data;
	}
	free(path);
	return line;
}

/* Both names may contain links. */
static bool same_place(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Whether git, "/path/of/tree/.git", belongs to dir. Neither must exist any more, but their parents
 * must. */
static bool is_of(const char *git, const char *dir)
{
	size_t size = strlen(git);
	char *tree, *at, *other;
	bool yes = false;

	if (size < 6 || strcmp(git + size - 5, "/.git") != 0)
		return false;
	tree = xmemdup0(git, size - 5);
	other = xstrdup(dir);
	at = strrchr(tree, '/');
	if (strcmp(tree, dir) == 0) {
		yes = true;
	} else if (at != NULL && strrchr(other, '/') != NULL && strcmp(at, strrchr(other, '/')) == 0) {
		*at = '\0';
		*strrchr(other, '/') = '\0';
		yes = same_place(*tree != '\0' ? tree : "/", *other != '\0' ? other : "/");
	}
	free(tree);
	free(other);
	return yes;
}

char *worktree_admin_find(const char *common, const char *dir)
{
	char *place = xasprintf("%s/worktrees", common), *found = NULL;
	gid_t group = child_open_as_agents();
	DIR *d = opendir(place);
	struct dirent *entry;

	while (d != NULL && found == NULL && (entry = readdir(d)) != NULL) {
		char *admin, *git;

		if (entry->d_name[0] == '.')
			continue;
		admin = xasprintf("%s/%s", place, entry->d_name);
		git = worktree_admin_line(admin, "gitdir");
		if (git != NULL && is_of(git, dir))
			found = admin;
		else
			free(admin);
		free(git);
	}
	if (d != NULL)
		closedir(d);
	child_open_as(group);
	free(place);
	return found;
}

bool worktree_admin_points_to(const char *admin, const char *common)
{
	char *to = worktree_admin_line(admin, "commondir"), *path;
	bool yes;

	if (to == NULL)
		return false;
	path = to[0] == '/' ? xstrdup(to) : xasprintf("%s/%s", admin, to);
	yes = same_place(path, common);
	free(path);
	free(to);
	return yes;
}

/* Everything but the file by which it is found, so that an interrupted removal can be continued. */
static int remove_rest(const char *admin)
{
	DIR *d = opendir(admin);
	struct dirent *entry;
	int rv = 0;

	while (d != NULL && rv == 0 && (entry = readdir(d)) != NULL) {
		char *path;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    strcmp(entry->d_name, "gitdir") == 0)
			continue;
		path = xasprintf("%s/%s", admin, entry->d_name);
		rv = remove_dir(path);
		free(path);
	}
	if (d != NULL)
		closedir(d);
	return rv;
}

int worktree_admin_remove(const char *common, const char *admin)
{
	char *place = xasprintf("%s/worktrees", common);
	gid_t group = child_open_as_agents();
	int rv = remove_rest(admin);

	if (rv == 0)
		rv = remove_dir(admin);
	rmdir(place);	/* git does this after the last one; it fails while there are others */
	child_open_as(group);
	free(place);
	return rv;
}

/* git names it after the last part of the path, with digits appended if the name is in use. */
static bool is_named_after(const char *name, const char *dir)
{
	const char *base = strrchr(dir, '/');
	size_t n;

	base = base != NULL ? base + 1 : dir;
	n = strlen(base);
	return strncmp(name, base, n) == 0 && strspn(name + n, "0123456789") == strlen(name + n);
}

/* Whether admin contains only git's lock. */
static bool is_begun(const char *admin)
{
	DIR *d = opendir(admin);
	struct dirent *entry;
	bool begun = d != NULL;

	while (begun && (entry = readdir(d)) != NULL)
		begun = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    strcmp(entry->d_name, "locked") == 0;
	if (d != NULL)
		closedir(d);
	return begun;
}

/* Whether admin does not name its work tree. */
static bool is_nameless(const char *admin)
{
	char *git = worktree_admin_line(admin, "gitdir");
	bool nameless = git == NULL || git[0] == '\0';

	free(git);
	return nameless;
}

/* A git that was told to end while it made a work tree takes back what it has made: here it was
 * killed at that. `git worktree prune` would remove it, too. */
static bool is_half_gone(const char *admin)
{
	char *lock = xasprintf("%s/locked", admin);
	bool locked = access(lock, F_OK) == 0;

	free(lock);
	return !locked && is_nameless(admin);
}

static bool is_old(const char *admin)
{
	struct stat st;

	return stat(admin, &st) == 0 && st.st_mtime + 1 < time(NULL);
}

void worktree_admin_prune(const char *common, const char *dir, bool damaged)
{
	char *place = xasprintf("%s/worktrees", common);
	gid_t group = child_open_as_agents();
	DIR *d = opendir(place);
	struct dirent *entry;

	while (d != NULL && (entry = readdir(d)) != NULL) {
		char *admin = xasprintf("%s/%s", place, entry->d_name);

		if (is_named_after(entry->d_name, dir) && is_old(admin) &&
		    (damaged ? is_nameless(admin) : is_begun(admin) || is_half_gone(admin)))
			remove_dir(admin);
		free(admin);
	}
	if (d != NULL)
		closedir(d);
	rmdir(place);
	child_open_as(group);
	free(place);
}
