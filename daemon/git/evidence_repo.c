/* SPDX-License-Identifier: MIT */
#include "git/evidence_repo.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "git/gitdir.h"
#include "git/lock.h"
#include "git/prepared_room.h"
#include "git/read_ref.h"
#include "git/remove_dir.h"
#include "git/stat_cache.h"
#include "git/verified.h"
#include "record/host_fault.h"
#include "record/sync.h"

#define DEPTH "100"		/* of the history that comes with a base commit */
#define FETCHED "refs/fetched"	/* until all that came with it is on the disk */
#define LOOSE_MAX 100		/* objects that are unpacked; more stay a pack */

/* Behind what `git init` writes. */
static const char settings[] =
    "[core]\n"
    "\tfilemode = true\n"
    "\tsymlinks = true\n"
    "\tignorecase = false\n"
    "\tprotectHFS = true\n"
    "\tprotectNTFS = true\n"
    "\ttrustctime = true\n"
    "\tcheckStat = default\n"
    "\tfilesRefLockTimeout = 10000\n"
    "[gc]\n"
    "\tauto = 0\n"
    "[maintenance]\n"
    "\tauto = false\n";

/* A file is its bytes, whatever a .gitattributes says. */
static const char attributes[] = "* -text -ident -filter -working-tree-encoding -eol\n";

char *evidence_file(const struct git_op *op, const char *name)
{
	return xasprintf("%s/rld/%s", op->objects, name);
}

static int fail_file(struct git_op *op, const char *file, int rv)
{
	return git_fail(op, xasprintf("%s: %s; make the state directory writable for the daemon's user", file,
	    host_words(-rv)));
}

/* ---- creation ---- */

static int append_settings(struct git_op *op, const char *dir)
{
	char *file = xasprintf("%s/config", dir), *data = NULL, *text;
	size_t size;
	int rv = file_read(AT_FDCWD, file, 1 << 20, &data, &size);

	if (rv == 0) {
		text = xasprintf("%s%s", data, settings);
		rv = file_write(AT_FDCWD, file, text, strlen(text), 0600, false);
		free(text);
	}
	if (rv != 0)
		fail_file(op, file, rv);
	free(data);
	free(file);
	return rv == 0 ? 0 : -1;
}

static int fill(struct git_op *op, const char *dir)
{
	static const char *const dirs[] = { "info", "rld" };
	char *file = xasprintf("%s/info/attributes", dir);
	int rv = append_settings(op, dir), error = 0;

	for (size_t i = 0; rv == 0 && error == 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char *path = xasprintf("%s/%s", dir, dirs[i]);

		error = file_mkdirs(path, 0700);
		free(path);
	}
	if (rv == 0 && error == 0)
		error = file_write(AT_FDCWD, file, attributes, strlen(attributes), 0600, false);
	if (error != 0)
		rv = fail_file(op, file, error);
	free(file);
	return rv;
}

/* The format of the user's object ids. */
static char *object_format(struct git_op *op)
{
	if (git_run(op, 0, "rev-parse", "--show-object-format") != 0)
		return NULL;
	return git_line(op, "no object format");
}

static int sync_place(struct git_op *op, const char *dir)
{
	int rv = sync_all(dir);

	return rv == 0 ? 0 : fail_file(op, dir, rv);
}

/* Under a temporary name, so that it is complete, and on the disk, once it has its own. */
static int create(struct git_op *op)
{
	char *dir = xasprintf("%s.%ld", op->objects, (long)getpid()), *format = object_format(op);
	char *option = format != NULL ? xasprintf("--object-format=%s", format) : NULL;
	char *parent = xmemdup0(dir, (size_t)(strrchr(dir, '/') - dir));
	int rv = format != NULL ? 0 : -1, error = rv == 0 ? file_mkdirs(parent, 0700) : 0;

	if (error == 0)
		error = rv == 0 ? file_mkdir_anew(dir, 0700) : 0;
	if (error != 0)
		rv = fail_file(op, dir, error);
	if (rv == 0)
		rv = git_run(op, GIT_ALONE | GIT_INIT, "init", "-q", "--bare", "--template=", option, dir);
	if (rv == 0)
		rv = fill(op, dir);
	if (rv == 0)
		rv = sync_place(op, dir);
	/* another run may have been faster */
	if (rv == 0 && rename(dir, op->objects) == -1 && errno != ENOTEMPTY && errno != EEXIST)
		rv = fail_file(op, op->objects, -errno);
	remove_dir(dir);
	free(parent);
	free(option);
	free(format);
	free(dir);
	return rv;
}

static const char *format_name(bool sha256)
{
	return sha256 ? "SHA-256" : "SHA-1";
}

/* Nothing of a repository that was made again with other ids could get in. */
static int check_format(struct git_op *op)
{
	char *file = xasprintf("%s/config", op->objects), *config = NULL, *format = NULL;
	size_t size;
	int error = file_read(AT_FDCWD, file, 1 << 20, &config, &size), rv = 0;
	bool ours, theirs;

	if (error != 0) {
		rv = fail_file(op, file, error);
	} else if (op->result.commit == NULL && (format = object_format(op)) == NULL) {
		rv = -1;
	} else {
		ours = strcasestr(config, "objectformat = sha256") != NULL;
		theirs = format != NULL ? strcmp(format, "sha256") == 0 : strlen(op->result.commit) == GIT_ID_MAX - 1;
		if (ours != theirs)
			rv = git_fail(op, xasprintf("%s has %s object ids, and what an earlier repository "
			    "there has given to rld has %s ids: move the repository to another path; or, if its "
			    "earlier runs need not be verified or continued, remove %s", op->spec.workspace,
			    format_name(theirs), format_name(ours), op->objects));
	}
	free(format);
	free(config);
	free(file);
	return rv;
}

int evidence_open(struct git_op *op)
{
	struct stat st;

	if (op->objects == NULL)
		return 0;
	if (stat(op->objects, &st) == 0) {
		char *dir = evidence_file(op, "");

		stat_cache_prune(dir);
		prepared_prune(op->objects);
		free(dir);
		return check_format(op);
	}
	return errno == ENOENT ? create(op) : fail_file(op, op->objects, -errno);
}

/* ---- commits of the user's ---- */

/* "file:///a%20b" */
static char *url_of(const char *path)
{
	struct buf url = { 0 };

	buf_adds(&url, "file://");
	for (const unsigned char *p = (const unsigned char *)path; *p != '\0'; p++) {
		if (isalnum(*p) || strchr("/._-", *p) != NULL)
			buf_add(&url, (const char *)p, 1);
		else
			buf_addf(&url, "%%%02X", *p);
	}
	return buf_take(&url, NULL);
}

/* The caller is the only one that fetches: what is there was left behind. */
static int lock_fetch(struct git_op *op, const char *ref, int *fd)
{
	const char *const left[] = { "shallow.lock", FETCHED, FETCHED ".lock" };
	char *file = evidence_file(op, "fetch");
	int rv = 0;

	*fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd == -1 || flock(*fd, LOCK_EX) == -1) {
		rv = fail_file(op, file, -errno);
	} else {
		lock_remove_ref(op->objects, ref);
		for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
			char *path = xasprintf("%s/%s", op->objects, left[i]);

			unlink(path);
			free(path);
		}
	}
	free(file);
	return rv;
}

static int fail_fetch(struct git_op *op, const char *commit)
{
	int rv = git_run(op, GIT_MAY_FAIL, "config", "--get-regexp",
	    "^(extensions\\.partialclone|remote\\..*\\.promisor)$");

	if (rv == -1)
		return -1;
	return git_fail(op, rv == 0 ?
	    xasprintf("%s is a partial clone and lacks objects of commit %.12s; get them with `git fetch --refetch "
	        "--no-filter`, then retry the run", op->spec.workspace, commit) :
	    xasprintf("commit %.12s cannot be read in %s: its objects are missing, damaged or not what their ids "
	        "say; see `git fsck --full`, then retry the run", commit, op->spec.workspace));
}

static int fetch(struct git_op *op, const char *commit, const char *url, const char *ref)
{
	static const char *const depths[] = { "--depth=" DEPTH, "--depth=1" };
	char *what = xasprintf("+%s:" FETCHED, commit);
	int rv = 1;

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]) && rv == 1; i++)
		rv = git_run(op, GIT_EVIDENCE | GIT_MAY_FAIL, "fetch", "-q", "--no-write-fetch-head",
		    "--no-auto-maintenance", depths[i],
		    "--upload-pack=git -c safe.directory='*' -c core.useReplaceRefs=false "
		    "-c uploadpack.allowAnySHA1InWant=true upload-pack", url, what);
	free(what);
	if (rv == 0)
		rv = sync_place(op, op->objects);
	if (rv == 0)
		rv = git_run(op, GIT_EVIDENCE, "update-ref", ref, commit);
	return rv == 1 ? fail_fetch(op, commit) : rv;
}

/* 0: the evidence repository has it; 1: it has not; -1. */
static int has_ref(struct git_op *op, const char *ref)
{
	char *value = NULL;
	bool there = read_ref(op->objects, ref, &value) == 0 && value != NULL;

	free(value);
	return there ? 0 : git_run(op, GIT_EVIDENCE | GIT_MAY_FAIL, "rev-parse", "--verify", "-q", ref);
}

int evidence_fetch(struct git_op *op, const char *commit)
{
	char *ref = xasprintf("refs/base/%s", commit), *common, *url;
	int fd, rv;

	if (op->objects == NULL) {
		free(ref);
		return 0;
	}
	rv = has_ref(op, ref);
	if (rv == 1) {
		common = git_dir_common(op->spec.workspace);
		url = url_of(common != NULL ? common : op->spec.workspace);
		rv = lock_fetch(op, ref, &fd);
		if (rv == 0)
			rv = fetch(op, commit, url, ref);
		if (fd != -1)
			close(fd);
		free(url);
		free(common);
	}
	free(ref);
	return rv;
}

/* ---- objects from one repository to the other ---- */

/* pack: a file of ours with a pack of ids, in the repository that flags name. */
static int make_pack(struct git_op *op, unsigned flags, const struct buf *ids, const char *pack)
{
	int fd = open(pack, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), rv;

	if (fd == -1)
		return fail_file(op, pack, -errno);
	rv = git_run_call(op, &(struct git_call){ .flags = flags, .input = ids->data,
	    .input_size = ids->size, .output = fd }, "pack-objects", "-q", "--stdout", "--window=0",
	    /* without those of the repository itself */
	    (flags & GIT_STAGED) != 0 ? "--local" : NULL, NULL);
	close(fd);
	return rv;
}

static int read_pack(struct git_op *op, unsigned flags, bool loose, const char *pack)
{
	int fd = open(pack, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), rv;
	struct stat st;
	void *data;

	if (fd == -1 || fstat(fd, &st) == -1) {
		rv = fail_file(op, pack, -errno);
	} else if ((data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED) {
		rv = fail_file(op, pack, -errno);
	} else {
		struct git_call call = { .flags = flags, .input = data, .input_size = (size_t)st.st_size };

		rv = loose ? git_run_call(op, &call, "unpack-objects", "-q", NULL) :
		    git_run_call(op, &call, "index-pack", "--stdin", NULL);
		munmap(data, (size_t)st.st_size);
	}
	if (fd != -1)
		close(fd);
	return rv;
}

/* from, to: GIT_EVIDENCE or 0. */
static int carry(struct git_op *op, unsigned from, unsigned to, const struct buf *ids)
{
	char *pack = xasprintf("%s/pack", op->spec.scratch);
	size_t count = 0;
	int rv;

	for (size_t i = 0; i < ids->size; i++)
		count += ids->data[i] == '\n';
	rv = count > 0 ? make_pack(op, from, ids, pack) : 0;
	if (rv == 0 && count > 0)
		rv = read_pack(op, to, count < LOOSE_MAX, pack);
	unlink(pack);
	free(pack);
	return rv;
}

int evidence_take(struct git_op *op, const struct buf *ids)
{
	struct buf missing = { 0 };
	int rv = op->objects != NULL && ids->size > 0 ? verified_read(op, GIT_EVIDENCE, ids, &missing, NULL) : 0;

	if (rv == 0 && missing.size > 0)
		rv = carry(op, 0, GIT_EVIDENCE, &missing);
	buf_release(&missing);
	return rv;
}

int evidence_give(struct git_op *op, const char *tree, const char *known)
{
	/* a commit, as such, would leave out no tree */
	char *not = known != NULL ? xasprintf("^%s^{tree}", known) : NULL;
	struct buf ids = { 0 }, missing = { 0 };
	int rv = op->objects != NULL ? git_run(op, GIT_EVIDENCE, "rev-list", "--objects",
	    "--no-object-names", tree, not) : 1;

	free(not);
	if (rv != 0)
		return rv == 1 ? 0 : -1;
	buf_add(&ids, git_out(op), git_out_size(op));
	rv = ids.size > 0 ? verified_read(op, 0, &ids, &missing, NULL) : 0;
	if (rv == 0)
		rv = carry(op, GIT_EVIDENCE, 0, &missing);
	buf_release(&missing);
	buf_release(&ids);
	return rv;
}

/* ---- many new objects ---- */

static char *staging(const struct git_op *op)
{
	return xasprintf("%s/" GIT_STAGING, op->spec.scratch);
}

int evidence_stage_begin(struct git_op *op, bool *staged)
{
	char *dir;
	int rv = 0;

	/* the list of places that git looks in is separated by colons */
	*staged = op->objects != NULL && strpbrk(op->objects, ":\"") == NULL;
	if (!*staged)
		return 0;
	dir = staging(op);
	rv = remove_dir(dir);
	if (rv == 0 && mkdir(dir, 0700) == -1)
		rv = -errno;
	if (rv != 0)
		rv = fail_file(op, dir, rv);
	free(dir);
	return rv;
}

/* Whether there is any: directories of loose objects have two digits. */
static bool has_objects(const char *dir)
{
	DIR *entries = opendir(dir);
	struct dirent *e;
	bool any = false;

	while (entries != NULL && !any && (e = readdir(entries)) != NULL)
		any = strlen(e->d_name) == 2 && e->d_name[0] != '.';
	if (entries != NULL)
		closedir(entries);
	return any;
}

int evidence_stage_end(struct git_op *op, const char *ids, size_t size)
{
	char *dir = staging(op), *pack = xasprintf("%s/pack", op->spec.scratch);
	struct buf list = { 0 };
	int rv = 0;

	if (size > 0 && has_objects(dir)) {
		buf_add(&list, ids, size);
		rv = make_pack(op, GIT_EVIDENCE | GIT_STAGED, &list, pack);
		if (rv == 0)
			rv = read_pack(op, GIT_EVIDENCE, false, pack);
		buf_release(&list);
	}
	unlink(pack);
	remove_dir(dir);
	free(pack);
	free(dir);
	return rv;
}
