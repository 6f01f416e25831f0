/* SPDX-License-Identifier: MIT */
#include "git/room_judges.h"

#include <errno.h>
#include <unistd.h>

#include "git/place_path.h"
#include "record/host_fault.h"

int room_judges_remove(struct git_op *op, const struct changes *entries)
{
	int rv = 0;

	for (char *const *path = op->spec.judging; rv == 0 && path != NULL && *path != NULL; path++) {
		int dir = changes_find(entries, *path) == NULL ? place_existing_parent(op->spec.dir, *path) : -ENOENT;

		if (dir >= 0 && unlinkat(dir, place_name(*path), 0) == -1 && errno != ENOENT && errno != EISDIR)
			rv = place_fail(op, op->spec.dir, *path, host_words(errno));
		if (dir >= 0)
			close(dir);
	}
	return rv;
}
