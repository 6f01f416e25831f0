/* SPDX-License-Identifier: MIT */
/* Agents work in the repository, so its .git is not trustworthy: a filter there would run with the
 * user's rights. So git works in a new, empty repository that only shares the other's objects, and
 * whose attributes file, which has the highest precedence, prevents any conversion. */
#include "client/restore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/exit.h"
#include "client/message.h"
#include "client/spawn_program.h"
#include "proto/memory.h"

#define SHA256_DIGITS 64

/* Content of an empty repository. NULL: a directory. */
static const struct {
	const char *name;
	const char *text;
} parts[] = {
	{ "objects", NULL },
	{ "refs", NULL },
	{ "info", NULL },
	{ "HEAD", "ref: refs/heads/none\n" },
	{ "info/attributes", "* -text -eol -crlf -ident -filter -working-tree-encoding\n" },
};
#define PARTS ARRAY_SIZE(parts)

static const char config_sha1[] = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
static const char config_sha256[] =
    "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n";

static int write_file(int dir, const char *name, const char *text)
{
	size_t size = strlen(text);
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool written = fd != -1 && write(fd, text, size) == (ssize_t)size;

	if (fd != -1)
		close(fd);
	return written ? 0 : -1;
}

/* An empty repository, to be removed with remove_repository(). NULL after a message. */
static char *make_repository(bool sha256)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xasprintf("%s/rlctl-restore.XXXXXX", tmp != NULL && *tmp == '/' ? tmp : "/tmp");
	int dir, failed;

	if (mkdtemp(path) == NULL) {
		message_errno("%s", path);
		free(path);
		return NULL;
	}
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	failed = dir == -1;
	for (size_t i = 0; i < PARTS && !failed; i++)
		failed = parts[i].text == NULL ? mkdirat(dir, parts[i].name, 0700)
		                               : write_file(dir, parts[i].name, parts[i].text);
	if (failed || write_file(dir, "config", sha256 ? config_sha256 : config_sha1) != 0) {
		message_errno("%s", path);
		failed = true;
	}
	if (dir != -1)
		close(dir);
	if (!failed)
		return path;
	free(path);
	return NULL;
}

static void remove_repository(char *path)
{
	static const char *const files[] = { "index", "config" };
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	for (size_t i = 0; dir != -1 && i < ARRAY_SIZE(files); i++)
		unlinkat(dir, files[i], 0);
	for (size_t i = PARTS; dir != -1 && i-- > 0;)
		unlinkat(dir, parts[i].name, parts[i].text == NULL ? AT_REMOVEDIR : 0);
	if (dir != -1)
		close(dir);
	if (rmdir(path) == -1)
		message_note("%s stays: %s", path, strerror(errno));
	free(path);
}

/* The object directory of the repository. NULL after a message. */
static char *find_objects(const char *workspace)
{
	const char *const argv[] = {
		"git", "--no-pager", "-C", workspace, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"rev-parse", "--path-format=absolute", "--git-path", "objects", NULL
	};
	struct buf path = { 0 };

	if (start_git(argv, (const char *const[]){ NULL }, &path) == 0 && path.size > 1 &&
	    path.data[path.size - 1] == '\n') {
		path.data[path.size - 1] = '\0';
		return path.data;
	}
	message_error("%s: not in a git repository", workspace);
	free(path.data);
	return NULL;
}

static int lay_out(const char *repository, const char *objects, const char *commit, const char *dir)
{
	char *git_dir = xasprintf("--git-dir=%s", repository), *work_tree = xasprintf("--work-tree=%s", dir);
	char *index = xasprintf("GIT_INDEX_FILE=%s/index", repository),
	     *store = xasprintf("GIT_OBJECT_DIRECTORY=%s", objects);
	const char *const environment[] = { index, store, "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", NULL };
	const char *const read[] = {
		"git", "--no-pager", git_dir, work_tree, "-C", dir, "-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false", "-c", "core.splitIndex=false", "read-tree", commit, NULL
	};
	const char *const write[] = {
		"git", "--no-pager", git_dir, work_tree, "-C", dir, "-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false", "-c", "core.splitIndex=false", "checkout-index", "--all", "--quiet", NULL
	};
	int status = start_git(read, environment, NULL);

	if (status == 0)
		status = start_git(write, environment, NULL);
	free(store);
	free(index);
	free(work_tree);
	free(git_dir);
	return status;
}

/* Absolute path of an empty directory; NULL after a message. */
static char *empty_directory(const char *name)
{
	const struct dirent *entry;
	char *path;
	DIR *dir;
	bool made = mkdir(name, 0777) == 0;

	if (!made && errno != EEXIST) {
		message_errno("%s", name);
		return NULL;
	}
	dir = opendir(name);
	if (dir == NULL) {
		message_errno("%s", name);
		return NULL;
	}
	while ((entry = readdir(dir)) != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0))
		;
	closedir(dir);
	if (entry != NULL) {
		message_error("%s is not empty; name an empty or a new directory", name);
		return NULL;
	}
	path = realpath(name, NULL);
	if (path == NULL)
		message_errno("%s", name);
	return path;
}

int restore_commit(const char *workspace, const char *commit, const char *dir)
{
	char *objects = find_objects(workspace), *repository = NULL, *path = NULL;
	int status = EXIT_REFUSED;

	if (objects == NULL)
		return EXIT_REFUSED;
	path = empty_directory(dir);
	if (path != NULL)
		repository = make_repository(strlen(commit) == SHA256_DIGITS);
	if (repository != NULL && lay_out(repository, objects, commit, path) == 0)
		status = EXIT_DONE;
	else if (repository != NULL)
		message_error("%s: some files could not be written; see the messages of git", dir);
	if (repository != NULL)
		remove_repository(repository);
	free(path);
	free(objects);
	return status;
}
