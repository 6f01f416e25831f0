/* SPDX-License-Identifier: MIT */
#include "git/base_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "record/identity.h"

#define NAME_MAX_BYTES 256

/* "boot-id tree", malloc'd: what is kept was not synced, so it counts only until the machine
 * restarts. NULL: unknown. */
static char *name_of(const char *tree)
{
	char boot[BOOT_ID];

	return boot_id_read(boot) == 0 ? xasprintf("%s %s\n", boot, tree) : NULL;
}

static bool is_kept(const char *file, const char *name)
{
	char *data = NULL;
	size_t size;
	bool same = file_read(AT_FDCWD, file, NAME_MAX_BYTES, &data, &size) == 0 && strcmp(data, name) == 0;

	free(data);
	return same;
}

/* git replaces an index and never writes into one, so a link is a copy. The name stands alone while
 * the index is missing: then it is read again. */
static void keep(const struct git_op *op, const char *kept, const char *file, const char *name)
{
	if ((unlink(kept) == 0 || access(kept, F_OK) != 0) &&
	    file_write(AT_FDCWD, file, name, strlen(name), 0600, false) == 0)
		(void)!link(op->index, kept);
}

int base_index_read(struct git_op *op, const char *tree)
{
	char *kept = xasprintf("%s.base", op->index), *file = xasprintf("%s.base-name", op->index),
	    *name = op->objects != NULL ? name_of(tree) : NULL;
	int rv = 0;

	git_fresh_index(op);
	if (name == NULL || !is_kept(file, name) || link(kept, op->index) != 0) {
		rv = git_run(op, GIT_EVIDENCE | GIT_INDEX, "read-tree", tree);
		if (rv == 0 && name != NULL)
			keep(op, kept, file, name);
	}
	free(name);
	free(file);
	free(kept);
	return rv;
}
