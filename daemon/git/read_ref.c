/* SPDX-License-Identifier: MIT */
#include "git/read_ref.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "proto/memory.h"

#define LOOSE_MAX 4096
#define PACKED_MAX ((size_t)256 * 1024 * 1024)

/* The id in a line "ID REF" of packed-refs; NULL: none. Other lines begin with '#' or '^'. */
static char *find_packed(const char *data, const char *ref)
{
	size_t size = strlen(ref);

	for (const char *p = data; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		size_t id = strcspn(p, " \n");

		if (*p != '#' && *p != '^' && p[id] == ' ' && strncmp(p + id + 1, ref, size) == 0 &&
		    (p[id + 1 + size] == '\n' || p[id + 1 + size] == '\0'))
			return xmemdup0(p, id);
	}
	return NULL;
}

static int read_packed(const char *common, const char *ref, char **value)
{
	char *file = xasprintf("%s/packed-refs", common), *data;
	size_t size;
	int rv = file_read(AT_FDCWD, file, PACKED_MAX, &data, &size);

	free(file);
	if (rv != 0)
		return rv == -ENOENT ? 0 : rv;
	*value = find_packed(data, ref);
	free(data);
	return 0;
}

int read_ref(const char *common, const char *ref, char **value)
{
	char *file = xasprintf("%s/reftable", common), *data;
	bool reftable = access(file, F_OK) == 0;
	size_t size;
	int rv;

	*value = NULL;
	free(file);
	if (reftable)
		return -ENOTSUP;
	file = xasprintf("%s/%s", common, ref);
	rv = file_read(AT_FDCWD, file, LOOSE_MAX, &data, &size);
	free(file);
	/* a directory: other refs begin with this name */
	if (rv == -ENOENT || rv == -ENOTDIR || rv == -EINVAL || rv == -EISDIR)
		return read_packed(common, ref, value);
	if (rv != 0)
		return rv;
	data[strcspn(data, "\r\n")] = '\0';
	*value = data;
	return 0;
}
