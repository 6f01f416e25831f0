/* SPDX-License-Identifier: MIT */
#include "git/ignored.h"

#include <string.h>

#include "core/remedy.h"
#include "git/artifact.h"

/* A home directory may have very many. */
#define IGNORED_MAX 100

void ignored_find(struct git_op *op, const struct changes *entries)
{
	const char *source = op->spec.repository != NULL ? op->spec.repository : op->spec.workspace, *end, *p;
	size_t count = 0;

	for (size_t i = 0; i < entries->count; i++)
		if (remedy_is_manifest(entries->list[i].path))
			strings_append(&op->result.manifests, entries->list[i].path);
	if (op->bare || git_run_call(op, &(struct git_call){ GIT_MAY_FAIL, .place = source },
	    "ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z", NULL) != 0) {
		text_set(&op->result.error, NULL);
		op->result.fault = 0;
		return;
	}
	end = git_out(op) + git_out_size(op);
	for (p = git_out(op); p < end && count < IGNORED_MAX; p += strlen(p) + 1)
		if (!artifact_has(op->artifacts, p)) {
			strings_append(&op->result.ignored, p);
			count++;
		}
}
