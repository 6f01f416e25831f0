/* SPDX-License-Identifier: MIT */
#include "job/remove_theirs.h"

#include "git/remove_dir.h"
#include "proc/starter.h"

int remove_theirs(const char *path)
{
	int rv = starter_remove(path);

	/* directories that are ours, in which nothing of theirs is left */
	return rv != 0 && remove_dir(path) == 0 ? 0 : rv;
}
