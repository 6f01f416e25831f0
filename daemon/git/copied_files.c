/* SPDX-License-Identifier: MIT */
#include "git/copied_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "git/artifact.h"
#include "git/evidence_repo.h"
#include "git/place_path.h"
#include "git/stat_cache.h"
#include "record/host_fault.h"

static const char *source_of(const struct git_op *op)
{
	return op->spec.repository != NULL ? op->spec.repository : op->spec.workspace;
}

/* A bare repository has no files. */
static bool has_files(const char *source)
{
	char *git = xasprintf("%s/.git", source);
	bool has = access(git, F_OK) == 0;

	free(git);
	return has;
}

/* ---- what they are ---- */

/* The SHA-256 of an open file from its beginning. 0 or -errno. */
static int hash_file(int fd, char hex[DIGEST_HEX])
{
	struct digest *digest = digest_new();
	char chunk[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, chunk, sizeof(chunk), at)) != 0) {
		if (n == -1 && errno != EINTR)
			break;
		digest_add(digest, chunk, n > 0 ? (size_t)n : 0);
		at += n > 0 ? n : 0;
	}
	digest_end(digest, n == 0 ? hex : NULL);
	return n == 0 ? 0 : -errno;
}

static void add_entry(struct digest *sum, const char *path, mode_t mode, const char *content)
{
	char *head = xasprintf("%o %zu ", (unsigned)mode, strlen(content));

	digest_add(sum, head, strlen(head));
	digest_add(sum, content, strlen(content));
	digest_add(sum, path, strlen(path) + 1);
	free(head);
}

/* ---- one of them ---- */

struct copy {
	struct digest *sum;
	struct stat_cache *known;	/* of contents in source; NULL: they are copied to dir */
	const char *source, *dir;
};

static int copy_bytes(int from, int to)
{
	char chunk[65536];
	ssize_t n;
	int rv = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while (rv == 0 && (n = read(from, chunk, sizeof(chunk))) != 0) {
		if (n == -1 && errno != EINTR)
			return -errno;
		rv = n > 0 ? place_write(to, chunk, (size_t)n) : 0;
	}
	return rv;
}

static int copy_file(int from, int to_dir, const char *name, mode_t mode, char hex[DIGEST_HEX])
{
	int to = -1, rv;

	if (unlinkat(to_dir, name, 0) == -1 && errno != ENOENT)
		return -errno;
	to = openat(to_dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	rv = to != -1 ? copy_bytes(from, to) : -errno;
	if (rv == 0)
		rv = hash_file(to, hex);
	if (rv == 0 && fchmod(to, mode) == -1)
		rv = -errno;
	if (to != -1 && close(to) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

static int hash_known(struct copy *c, const char *path, int fd, char hex[DIGEST_HEX])
{
	struct stat_key key;
	struct stat st;
	const char *same;
	int rv = 0;

	if (fstat(fd, &st) == -1)
		return -errno;
	key = stat_key_of(&st);
	same = stat_cache_find(c->known, path, &key);
	if (same != NULL)
		memcpy(hex, same, DIGEST_HEX);
	else
		rv = hash_file(fd, hex);
	if (rv == 0)
		stat_cache_add(c->known, path, &key, hex);
	return rv;
}

/* to_dir -1: it is not copied. */
static int take_file(struct copy *c, const char *path, int from_dir, int to_dir, mode_t mode)
{
	int from = openat(from_dir, place_name(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rv;
	char hex[DIGEST_HEX];

	if (from == -1)
		return -errno;
	rv = to_dir == -1 ? hash_known(c, path, from, hex) : copy_file(from, to_dir, place_name(path), mode, hex);
	close(from);
	if (rv == 0)
		add_entry(c->sum, path, mode, hex);
	return rv;
}

static int take_link(struct copy *c, const char *path, int from_dir, int to_dir)
{
	char text[4096];
	ssize_t n = readlinkat(from_dir, place_name(path), text, sizeof(text) - 1);
	int rv = 0;

	if (n == -1)
		return -errno;
	text[n] = '\0';
	if (to_dir != -1)
		rv = place_link(to_dir, place_name(path), text);
	if (rv == 0)
		add_entry(c->sum, path, S_IFLNK, text);
	return rv;
}

/* A file or a link; anything else, or what is gone by now, is left out. */
static int take(struct git_op *op, struct copy *c, const char *path)
{
	int from = place_existing_parent(c->source, path), to = -1, rv = 0;
	struct stat st;

	if (from < 0)
		return from == -ENOENT || from == -ENOTDIR || from == -ELOOP ? 0 :
		    place_fail(op, c->source, path, host_words(-from));
	if (fstatat(from, place_name(path), &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))) {
		close(from);
		return 0;
	}
	if (c->known == NULL)
		to = place_parent(c->dir, path);
	if (c->known == NULL && to < 0)
		rv = to;
	else
		rv = S_ISLNK(st.st_mode) ? take_link(c, path, from, to) :
		    take_file(c, path, from, to, st.st_mode & 0777);
	close(from);
	if (to >= 0)
		close(to);
	return rv == 0 ? 0 : place_fail(op, c->known == NULL ? c->dir : c->source, path, host_words(-rv));
}

/* ---- all of them ---- */

/* Ignored files that a pattern names. */
static int list_ignored(struct git_op *op, const char *source)
{
	char **patterns = NULL;
	int rv;

	for (size_t i = 0; op->spec.copy[i] != NULL; i++) {
		char *pattern = xasprintf(":(glob)%s", op->spec.copy[i]);

		strings_append(&patterns, pattern);
		free(pattern);
	}
	rv = git_run_call(op, &(struct git_call){ .place = source, .more = patterns },
	    "ls-files", "-o", "-i", "--exclude-standard", "-z", "--", NULL);
	strings_free(patterns);
	return rv;
}

static int take_all(struct git_op *op, struct copy *c)
{
	char hex[DIGEST_HEX], *listed = NULL;
	size_t size = 0;
	int rv = 0;

	if (has_files(c->source)) {
		rv = list_ignored(op, c->source);
		size = rv == 0 ? git_out_size(op) : 0;
		listed = xmemdup0(rv == 0 ? git_out(op) : "", size);
	}
	/* "nested/" is a repository, which is not copied */
	for (const char *p = listed; rv == 0 && p != NULL && p < listed + size; p += strlen(p) + 1)
		if (p[0] != '\0' && p[strlen(p) - 1] != '/' && !artifact_has(op->artifacts, p))
			rv = take(op, c, p);
	digest_end(c->sum, hex);
	if (rv == 0)
		text_set(&op->result.copied, hex);
	free(listed);
	return rv;
}

static bool has_patterns(const struct git_op *op)
{
	return op->spec.copy != NULL && op->spec.copy[0] != NULL;
}

/* What stat says is enough for those whose content is known. */
static struct stat_cache *known_files(const struct git_op *op, const char *source)
{
	char *key = xasprintf("%s\ncopied", source), *name = stat_cache_name(key),
	    *file = op->objects != NULL ? evidence_file(op, name) : xstrdup("");
	struct stat_cache *known = stat_cache_load(file);

	free(file);
	free(name);
	free(key);
	return known;
}

int copied_files_hash(struct git_op *op)
{
	struct copy c = { .source = source_of(op) };
	int rv;

	if (!has_patterns(op))
		return 0;
	c.known = known_files(op, c.source);
	c.sum = digest_new();
	rv = take_all(op, &c);
	if (rv == 0 && op->objects != NULL)
		stat_cache_save(c.known);
	stat_cache_free(c.known);
	return rv;
}

int copied_files_copy(struct git_op *op)
{
	struct copy c = { .source = source_of(op), .dir = op->spec.dir };

	if (!has_patterns(op))
		return 0;
	c.sum = digest_new();
	return take_all(op, &c);
}
