/* SPDX-License-Identifier: MIT */
/* .rld.toml: a project's settings for its runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/peer_file.h"
#include "config/layers.h"
#include "config/toml.h"
#include "proto/memory.h"

/* Names of these keys in an older tool. */
static const struct alias aliases[] = {
	{ "reviewEnabled", "review.enabled" },
	{ "reviewMaxFixAttempts", "review.max_fixes" },
	{ "developerPromptPath", "review.developer_prompt" },
	{ "reviewerPromptPath", "review.reviewer_prompt" },
	{ 0 },
};

void project_read(struct project_text *out, const char *workdir, char *const *read_as)
{
	size_t n = strlen(workdir);

	while (n > 1 && workdir[n - 1] == '/')
		n--;
	*out = (struct project_text){ .workdir = xmemdup0(workdir, n) };
	/* an unusable directory is reported later, with a better message */
	if (workdir[0] != '/')
		out->error = -ENOENT;
	else {
		char *path = xasprintf("%s/" PROJECT_FILE, n == 1 ? "" : out->workdir);

		out->error = file_read_as(read_as, path, true, TOML_SIZE_MAX, &out->text, &out->size);
		free(path);
	}
}

void project_text_release(struct project_text *text)
{
	free(text->workdir);
	free(text->text);
	*text = (struct project_text){ 0 };
}

static const char *fault(int error)
{
	switch (error) {
	case -EFBIG:
		return "the file is longer than 32 KiB, too long for a settings file; check that "
		    "it is the right file";
	case -EINVAL:
		return "is not a regular file; replace it, or remove it";
	case -ELOOP:
		return "is a symbolic link, which is not followed; replace it with the file itself";
	default:
		return strerror(-error);
	}
}

int project_parse(struct project **out, const struct project_text *text, struct config_error *error)
{
	struct project *project;
	struct reading reading = { .field = "workdir", .layer = LAYER_PROJECT, .aliases = aliases, .error = error };

	*out = NULL;
	if (text->error == -ENOENT || text->error == -ENOTDIR)
		return 0;
	project = xcalloc(1, sizeof(*project));
	project->path = xasprintf("%s/" PROJECT_FILE, strcmp(text->workdir, "/") == 0 ? "" : text->workdir);
	if (text->error != 0) {
		config_refuse(error, "workdir", "%s: %s", project->path, fault(text->error));
		project_free(project);
		return -1;
	}
	reading.file = project->path;
	reading.base = text->workdir;
	if (reading_take(&reading, text->text, text->size) == -1) {
		reading_release(&reading);
		project_free(project);
		return -1;
	}
	project->values = reading.values;
	values_release(&reading.tables);
	*out = project;
	return 0;
}

void project_free(struct project *project)
{
	if (project == NULL)
		return;
	free(project->path);
	values_release(&project->values);
	free(project);
}
