/* SPDX-License-Identifier: MIT */
#include "git/conversions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "git/evidence_repo.h"
#include "git/unpack.h"
#include "record/host_fault.h"

#define FILE_MAX (16 * 1024 * 1024)

/* names of the copies */
#define CONFIG "conversions"
#define ATTRIBUTES "attributes"		/* core.attributesFile */
#define INFO_ATTRIBUTES "info-attributes"

/* Settings that say what an object has of a file, and how its file is made. */
#define SETTINGS \
	"^(filter\\..*|lfs\\..*|core\\.(autocrlf|eol|checkroundtripencoding|sharedrepository|compression|" \
	    "loosecompression))$"

static int fail_file(struct git_op *op, const char *file, int rv)
{
	return git_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
}

/* ---- the copies ---- */

int conversions_copy_file(struct git_op *op, const char *from, const char *to)
{
	char *real = from != NULL ? realpath(from, NULL) : NULL, *data = NULL;
	size_t size = 0;
	int rv = real != NULL ? file_read(AT_FDCWD, real, FILE_MAX, &data, &size) :
	    from != NULL && errno != ENOENT && errno != ENOTDIR && errno != EACCES ? -errno : 0;

	/* git warns of what it cannot read, and continues */
	if (rv == -EACCES || rv == -EINVAL || rv == -ENOENT)
		rv = 0;
	if (rv != 0)
		rv = git_fail(op, xasprintf("%s: %s; make it readable for the user of the agents", from,
		    host_words(-rv)));
	if (rv == 0) {
		rv = file_write(AT_FDCWD, to, data != NULL ? data : "", size, 0600, true);
		if (rv != 0)
			rv = fail_file(op, to, rv);
	}
	free(data);
	free(real);
	return rv;
}

/* "key LF value NUL", the last one of a key counts: of all files of the user at once. */
static int read_user_files(struct git_op *op)
{
	int rv;

	if (op->user_files.data != NULL)
		return 0;
	rv = git_run(op, GIT_MAY_FAIL, "config", "-z", "--type=path", "--get-regexp",
	    "^core\\.(excludesfile|attributesfile)$");
	if (rv == 0)
		buf_add(&op->user_files, git_out(op), git_out_size(op));
	buf_add(&op->user_files, "", 1);
	return rv == -1 ? -1 : 0;
}

int conversions_user_file(struct git_op *op, const char *setting, const char *name, char **path)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *value = NULL;
	size_t size = strlen(setting);
	int rv = read_user_files(op);

	*path = NULL;
	if (rv == -1)
		return -1;
	for (const char *p = op->user_files.data; *p != '\0'; p += strlen(p) + 1)
		if (strncasecmp(p, setting, size) == 0 && p[size] == '\n')
			value = p + size + 1;
	if (value != NULL && value[0] == '/')
		*path = xstrdup(value);
	else if (value != NULL && value[0] != '\0')
		*path = xasprintf("%s/%s", op->spec.workspace, value);
	else if (value == NULL && config != NULL && config[0] != '\0')
		*path = xasprintf("%s/git/%s", config, name);
	else if (value == NULL && home != NULL)
		*path = xasprintf("%s/.config/git/%s", home, name);
	return 0;
}

static void add_quoted(struct buf *out, const char *text)
{
	buf_adds(out, "\"");
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '\n')
			buf_adds(out, "\\n");
		else if (*p == '\t')
			buf_adds(out, "\\t");
		else if (*p == '"' || *p == '\\')
			buf_addf(out, "\\%c", *p);
		else
			buf_add(out, p, 1);
	}
	buf_adds(out, "\"");
}

/* Whether it is a program that may be a file of the tree: git runs it at its top. */
static bool is_own_filter(const char *key)
{
	const char *last = strrchr(key, '.');

	return strncmp(key, "filter.", 7) == 0 && strncmp(key, "filter.lfs.", 11) != 0 &&
	    (strcmp(last, ".clean") == 0 || strcmp(last, ".smudge") == 0 || strcmp(last, ".process") == 0);
}

/* key: "filter.lfs.clean". value NULL: it has none, which is true. */
static void add_setting(const struct git_op *op, struct buf *out, const char *key, const char *value)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	char *section = xmemdup0(key, (size_t)(first - key)), *absolute = NULL;

	buf_addf(out, "[%s", section);
	if (last > first) {
		char *subsection = xmemdup0(first + 1, (size_t)(last - first - 1));

		buf_adds(out, " ");
		add_quoted(out, subsection);
		free(subsection);
	}
	buf_addf(out, "]\n\t%s", last + 1);
	/* relative to the git directory, which will be another one */
	if (value != NULL && strcmp(key, "lfs.storage") == 0 && value[0] != '/')
		value = absolute = xasprintf("%s/%s", op->common, value);
	else if (value != NULL && value[0] != '\0' && is_own_filter(key))
		value = absolute = xasprintf(CONVERSIONS_CD "%s", value);
	if (value != NULL) {
		buf_adds(out, " = ");
		add_quoted(out, value);
	}
	buf_adds(out, "\n");
	free(absolute);
	free(section);
}

/* Pairs "KEY LF VALUE NUL" as lines of a configuration file. */
static void add_settings(const struct git_op *op, struct buf *out)
{
	const char *data = git_out(op), *end = data + git_out_size(op);

	for (const char *p = data; p < end; p += strlen(p) + 1) {
		const char *value = strchr(p, '\n');
		char *key = xmemdup0(p, value != NULL ? (size_t)(value - p) : strlen(p));

		if (strchr(key, '.') != NULL)
			add_setting(op, out, key, value != NULL ? value + 1 : NULL);
		free(key);
	}
}

static int copy_settings(struct git_op *op, const char *to)
{
	struct buf text = { 0 };
	char *storage = xasprintf("%s/lfs", op->common);
	int rv = git_run(op, GIT_MAY_FAIL, "config", "-z", "--get-regexp", SETTINGS);

	/* the last one counts */
	add_setting(op, &text, "lfs.storage", storage);
	if (rv == 0)
		add_settings(op, &text);
	if (rv != -1) {
		rv = file_write(AT_FDCWD, to, text.data, text.size, 0600, true);
		if (rv != 0)
			rv = fail_file(op, to, rv);
	}
	buf_release(&text);
	free(storage);
	return rv;
}

int conversions_copy(struct git_op *op, const char *dir)
{
	char *config = xasprintf("%s/" CONFIG, dir), *attributes = xasprintf("%s/" ATTRIBUTES, dir),
	    *info = xasprintf("%s/" INFO_ATTRIBUTES, dir), *from = NULL, *path = NULL;
	int rv = op->common == NULL ? git_find_common(op) : 0;

	if (rv == 0) {
		from = xasprintf("%s/info/attributes", op->common);
		rv = conversions_copy_file(op, from, info);
	}
	if (rv == 0)
		rv = conversions_user_file(op, "core.attributesFile", "attributes", &path);
	if (rv == 0)
		rv = conversions_copy_file(op, path, attributes);
	if (rv == 0)
		rv = copy_settings(op, config);
	free(path);
	free(from);
	free(info);
	free(attributes);
	free(config);
	return rv;
}

bool conversions_are_in(const char *dir)
{
	char *file = xasprintf("%s/" CONFIG, dir);
	bool are = access(file, F_OK) == 0;

	free(file);
	return are;
}

/* ---- a git directory with them ---- */

static int add_file(struct unpack *unpack, const char *path, const char *data, size_t size)
{
	int fd, rv = unpack_file(unpack, path, false, &fd);

	if (rv != 0)
		return rv;
	if (dprintf(fd, "%.*s", (int)size, data) < 0)
		rv = -errno;
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

static int add_copy(struct unpack *unpack, const char *dir, const char *name, const char *path)
{
	char *file = xasprintf("%s/%s", dir, name), *data = NULL;
	size_t size;
	int rv = file_read(AT_FDCWD, file, FILE_MAX, &data, &size);

	if (rv == 0)
		rv = add_file(unpack, path, data, size);
	free(data);
	free(file);
	return rv;
}

static int add_config(const struct git_op *op, struct unpack *unpack, const char *dir, const char *git, bool sha256)
{
	char *file = xasprintf("%s/" CONFIG, dir), *attributes = xasprintf("%s/" ATTRIBUTES, git), *data = NULL;
	struct buf text = { 0 };
	size_t size;
	int rv = file_read(AT_FDCWD, file, FILE_MAX, &data, &size);

	if (rv == 0) {
		buf_addf(&text, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n", sha256);
		if (sha256)
			buf_adds(&text, "[extensions]\n\tobjectFormat = sha256\n");
		buf_add(&text, data, size);
		add_setting(op, &text, "core.attributesFile", attributes);
		rv = add_file(unpack, "config", text.data, text.size);
	}
	buf_release(&text);
	free(data);
	free(attributes);
	free(file);
	return rv;
}

int conversions_git_dir(struct git_op *op, const char *git, const char *from, bool sha256)
{
	char *objects = xasprintf("%s/objects", op->common);
	struct unpack *unpack;
	int rv = unpack_new(git, &unpack);

	if (rv == 0) {
		rv = unpack_link(unpack, "objects", objects);
		if (rv == 0)
			rv = add_file(unpack, "HEAD", "ref: refs/heads/none\n", strlen("ref: refs/heads/none\n"));
		if (rv == 0)
			rv = unpack_directory(unpack, "refs");
		if (rv == 0)
			rv = add_config(op, unpack, from, git, sha256);
		if (rv == 0)
			rv = add_copy(unpack, from, ATTRIBUTES, ATTRIBUTES);
		if (rv == 0)
			rv = add_copy(unpack, from, INFO_ATTRIBUTES, "info/attributes");
		unpack_free(unpack);
	}
	free(objects);
	return rv == 0 ? 0 : fail_file(op, git, rv);
}

bool conversions_have_own_filter(const char *dir)
{
	char *file = xasprintf("%s/" CONFIG, dir), *data = NULL;
	size_t size;
	bool have = file_read(AT_FDCWD, file, FILE_MAX, &data, &size) == 0 && strstr(data, CONVERSIONS_TOP) != NULL;

	free(data);
	free(file);
	return have;
}
