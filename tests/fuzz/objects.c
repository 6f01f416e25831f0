/* SPDX-License-Identifier: MIT */
/* Any bytes as what git prints of objects, trees and refs: commits of cat-file --batch, lists of
 * ls-tree and diff-tree, packed-refs, the file .git and commondir. They are refused, or read within
 * their bounds; a commit that was read is written with its author and message; what is read of a
 * list is ordered, and found again. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/change.h"
#include "git/gitdir.h"
#include "git/object.h"
#include "git/path_pattern.h"
#include "git/read_ref.h"
#include "proto/memory.h"

static char place[] = "/tmp/rl-fuzz-XXXXXX";
static int dir = -1;

static void leave(void)
{
	static const char *const names[] = { "packed-refs", "refs/heads/x", ".git", "commondir", "index" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlinkat(dir, names[i], 0);
	unlinkat(dir, "refs/heads", AT_REMOVEDIR);
	unlinkat(dir, "refs", AT_REMOVEDIR);
	rmdir(place);
}

static void enter(void)
{
	if (dir != -1)
		return;
	if (mkdtemp(place) == NULL || (dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    mkdirat(dir, "refs", 0700) == -1 || mkdirat(dir, "refs/heads", 0700) == -1)
		abort();
	atexit(leave);
}

static void put(const char *name, const void *data, size_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void read_commits(const char *text, size_t size)
{
	static const char *const parents[] = { "0123456789abcdef0123456789abcdef01234567", NULL };
	const char *at = text, *end = text + size;
	struct commit_object commit;

	for (bool more = true; more; ) {
		const char *before = at;

		more = commit_object_read(&commit, &at, end);
		if (at < before || at > end || (more && at == before))
			abort();
		if (more) {
			struct buf out = { 0 };

			if (strlen(commit.tree) >= GIT_ID_MAX)
				abort();
			commit_object_write(&out, commit.tree, parents, &commit, commit.committed);
			if (out.size < commit.message_size || memcmp(out.data + out.size - commit.message_size,
			    commit.message, commit.message_size) != 0)
				abort();
			buf_release(&out);
		}
		commit_object_release(&commit);
	}
}

static void check_changes(struct changes *changes)
{
	char *patterns[] = { (char *)"*.c", (char *)"/a/", (char *)"b/**", NULL };
	struct buf out = { 0 };

	changes_order(changes);
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *c = &changes->list[i];

		if ((i > 0 && strcmp(changes->list[i - 1].path, c->path) >= 0) || changes_find(changes, c->path) != c)
			abort();
		(void)path_matches(c->path, patterns);
		(void)path_touches(c->path, i % 2 == 0, patterns);
		(void)changes_has_below(changes, c->path);
	}
	changes_index(changes, true, &out);
	changes_index(changes, false, &out);
	changes_index_before(changes, &out);
	changes_paths(changes, true, &out);
	buf_release(&out);
	changes_release(changes);
}

static void read_lists(const char *text, size_t size)
{
	struct changes changes = { 0 };

	changes_read(&changes, text, size, NULL);
	check_changes(&changes);
	changes = (struct changes){ 0 };
	changes_read_tree(&changes, text, size);
	check_changes(&changes);
}

static void read_refs(const char *text, size_t size)
{
	char *value, *path;

	put("packed-refs", text, size);
	unlinkat(dir, "refs/heads/x", 0);
	if (read_ref(place, "refs/heads/x", &value) == 0 && value != NULL)
		free(value);
	put("refs/heads/x", text, size);
	if (read_ref(place, "refs/heads/x", &value) == 0 && value != NULL) {
		if (strpbrk(value, "\r\n") != NULL)
			abort();
		free(value);
	}
	put(".git", text, size);
	path = git_dir_own(place);
	if (path != NULL && path[0] != '/')
		abort();
	free(path);
	put(".git", "gitdir: .", 9);
	put("commondir", text, size);
	put("index", text, size);
	free(git_dir_common(place));
	free(git_dir_id(place));
	(void)git_dir_lists(place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmemdup0(data, size);

	enter();
	read_commits(text, size);
	read_lists(text, size);
	read_refs(text, size);
	free(text);
	return 0;
}
