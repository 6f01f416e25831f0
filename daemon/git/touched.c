/* SPDX-License-Identifier: MIT */
/* MEASURE: what of the work must be shown to a human: changes of protected paths, of the files by
 * which reviews go, and of submodules, whose files no room has. */
#include <string.h>
#include <sys/stat.h>

#include "git/artifact.h"
#include "git/operations.h"
#include "git/path_pattern.h"

#define MODE_REPOSITORY 0160000

static bool leads(unsigned mode)
{
	return S_ISLNK(mode) || mode == MODE_REPOSITORY;
}

/* The path is one of the names, or stands for a directory above one. */
static bool is_above(const char *path, bool leads_elsewhere, char *const *names)
{
	size_t n = strlen(path);

	for (; names != NULL && *names != NULL; names++)
		if (strncmp(*names, path, n) == 0 && ((*names)[n] == '\0' || (leads_elsewhere && (*names)[n] == '/')))
			return true;
	return false;
}

void touched_find(struct git_op *op, const struct changes *differs)
{
	struct names protected = { 0 }, judging = { 0 }, modules = { 0 };

	text_set(&op->result.modules, NULL);
	if (op->spec.protect == NULL && op->spec.judging == NULL)
		return;
	for (size_t i = 0; i < differs->count; i++) {
		const struct change *c = &differs->list[i];
		bool leads_elsewhere = leads(c->was) || leads(c->mode);

		if (artifact_has(op->artifacts, c->path))
			continue;
		if (path_touches(c->path, leads_elsewhere, op->spec.protect))
			names_add(&protected, c->path);
		if (is_above(c->path, leads_elsewhere, op->spec.judging))
			names_add(&judging, c->path);
		if (c->mode == MODE_REPOSITORY)
			names_add(&modules, c->path);
	}
	op->result.protected = names_take(&protected);
	op->result.judging = names_take(&judging);
	op->result.modules = names_take(&modules);
}
