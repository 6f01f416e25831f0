/* SPDX-License-Identifier: MIT */
#include "git/submit_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/conversions.h"
#include "git/evidence_repo.h"
#include "git/gitdir.h"

int submit_copy_make(struct git_op *op)
{
	char *common, *from, *to, *path, *excludes, *dir;
	struct stat st;
	int rv;

	if (op->objects == NULL)
		return 0;
	excludes = xasprintf("%s/" GIT_EXCLUDES, op->objects);
	dir = evidence_file(op, ".");
	if (op->spec.settings_kept && stat(excludes, &st) == 0 && conversions_are_in(dir)) {
		free(dir);
		free(excludes);
		return 0;
	}
	common = git_dir_common(op->spec.workspace);
	from = xasprintf("%s/info/exclude", common != NULL ? common : op->spec.workspace);
	to = xasprintf("%s/info/exclude", op->objects);
	rv = conversions_copy_file(op, from, to);
	free(to);
	free(from);
	free(common);
	if (rv == 0)
		rv = conversions_user_file(op, "core.excludesFile", "ignore", &path);
	if (rv == 0) {
		rv = conversions_copy_file(op, path, excludes);
		free(path);
	}
	if (rv == 0)
		rv = conversions_copy(op, dir);
	free(dir);
	free(excludes);
	return rv;
}
