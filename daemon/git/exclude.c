/* SPDX-License-Identifier: MIT */
#include "git/exclude.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "git/artifact.h"
#include "git/gitdir.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define EXCLUDE_MAX (4 * 1024 * 1024)

/* The pattern that matches only path at the top. Characters that cannot be in a line are matched by
 * "?". */
static char *exclude_pattern(const char *path)
{
	size_t words = strlen(path);
	struct buf out = { 0 };

	while (words > 0 && path[words - 1] == ' ')
		words--;
	buf_adds(&out, "/");
	for (size_t i = 0; path[i] != '\0'; i++) {
		if (path[i] == '\n' || path[i] == '\r')
			buf_adds(&out, "?");
		else
			buf_addf(&out, "%s%c", strchr("\\*?[", path[i]) != NULL || i >= words ? "\\" : "", path[i]);
	}
	return buf_take(&out, &words);
}

static bool has_line(const struct buf *text, const char *line)
{
	size_t size = strlen(line);

	for (const char *p = text->data, *end = p + text->size; p != NULL && p < end; ) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t length = (size_t)((stop != NULL ? stop : end) - p);

		if (length == size && memcmp(p, line, size) == 0)
			return true;
		p = stop != NULL ? stop + 1 : end;
	}
	return false;
}

/* What must be added to text. */
static struct buf missing_lines(const struct buf *text, char *const *artifacts)
{
	char **list = artifacts_copy(artifacts);
	struct buf out = { 0 };

	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		char *line = exclude_pattern(list[i]);

		if (!has_line(text, line) && !has_line(&out, line))
			buf_addf(&out, "%s\n", line);
		free(line);
	}
	strings_free(list);
	return out;
}

/* Read file, add, replace it. *lines: what was to be added, for an error. 0 or -errno. */
static int add_lines(int dirfd, const char *file, char *const *artifacts, struct buf *lines)
{
	struct buf text = { 0 };
	struct stat st;
	char *data;
	size_t size;
	bool there = fstatat(dirfd, file, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int rv = file_read(dirfd, file, EXCLUDE_MAX, &data, &size);

	if (rv == 0) {
		buf_add(&text, data, size);
		free(data);
	}
	*lines = missing_lines(&text, artifacts);
	if ((rv == 0 || rv == -ENOENT) && lines->size > 0) {
		if (text.size > 0 && text.data[text.size - 1] != '\n')
			buf_adds(&text, "\n");
		buf_add(&text, lines->data, lines->size);
		rv = file_write(dirfd, file, text.data, text.size, 0644, false);
		if (rv == 0 && there && fchmodat(dirfd, file, st.st_mode & 07777, AT_SYMLINK_NOFOLLOW) == -1)
			rv = -errno;
	}
	buf_release(&text);
	return lines->size > 0 ? rv : 0;
}

static char *exclude_error(const char *file, int rv, const struct buf *lines)
{
	size_t size = lines->size > 0 ? lines->size - 1 : 0;
	char *shown = text_escape(lines->data != NULL ? lines->data : "", size, false);
	char *text = xasprintf("%s: %s; make it writable for the daemon's user, or add these lines to it: %s",
	    file, host_words(-rv), shown);

	free(shown);
	return text;
}

/* What is checked is the directory that is open: an agent may put a link in its place. -errno. */
static int open_checked(const char *dir, bool (*may)(int dirfd, int mode))
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return -errno;
	if (may == NULL || may(fd, W_OK | X_OK))
		return fd;
	close(fd);
	return -EACCES;
}

/* In common, "info" is made. */
static int open_place(const char *common, const char *real, bool (*may)(int dirfd, int mode))
{
	char *dir = real != NULL ? xmemdup0(real, (size_t)(strrchr(real, '/') + 1 - real)) : xstrdup(common);
	int fd = open_checked(dir, may), rv = fd;

	free(dir);
	if (fd < 0 || real != NULL)
		return fd;
	if ((mkdirat(fd, "info", 0777) == -1 && errno != EEXIST) ||
	    (rv = openat(fd, "info", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) == -1)
		rv = -errno;
	close(fd);
	return rv;
}

int git_exclude(const char *workspace, char *const *artifacts, bool (*may)(int dirfd, int mode), char **error)
{
	char *common = git_dir_common(workspace), *file, *real;
	struct buf lines = { 0 };
	int dirfd, rv;

	if (common == NULL) {
		*error = xasprintf("%s/.git: %s; see what `git status` says there", workspace, host_words(errno));
		return -1;
	}
	file = xasprintf("%s/info/exclude", common);
	real = realpath(file, NULL);		/* keep a link of the user's */
	rv = dirfd = open_place(common, real, may);
	if (dirfd >= 0) {
		rv = add_lines(dirfd, real != NULL ? strrchr(real, '/') + 1 : "exclude", artifacts, &lines);
		close(dirfd);
	}
	if (rv != 0)
		*error = exclude_error(file, rv, &lines);
	buf_release(&lines);
	free(real);
	free(file);
	free(common);
	return rv == 0 ? 0 : -1;
}
