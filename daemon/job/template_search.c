/* SPDX-License-Identifier: MIT */
#include "job/template_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/peer_file.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define TEMPLATE_MAX (1024 * 1024)

static const char *fault(int error)
{
	switch (error) {
	case EINVAL:
		return "is not a regular file";
	case EFBIG:
		return "is larger than 1 MiB";
	default:
		return host_words(error);
	}
}

/* true: the search is over, with a text or an error. Links are followed, because people keep their
 * prompts in one place. */
static bool try_file(char *path, bool must_exist, char *const *read_as, char **text, size_t *size, char **error)
{
	int rv = file_read_as(read_as, path, false, TEMPLATE_MAX, text, size);
	struct stat st;

	/* a dangling link is an error */
	must_exist = must_exist || (rv == -ENOENT && lstat(path, &st) == 0);
	if (rv != 0 && (must_exist || rv != -ENOENT) && rv != -ENOTDIR)
		*error = xasprintf("prompt file %s: %s", path, fault(-rv));
	free(path);
	return *text != NULL || *error != NULL;
}

char *template_find(enum role role, const char *path, const char *workspace, const char *config_dir,
    char *const *read_as, size_t *size, char **error)
{
	const char *name = prompt_file_name(role);
	char *text = NULL;

	if (path != NULL) {
		try_file(xstrdup(path), true, read_as, &text, size, error);
		return text;
	}
	if (try_file(xasprintf("%s/.ai_agents/prompts/%s", workspace, name), false, read_as, &text, size,
	    error))
		return text;
	if (config_dir != NULL)
		try_file(xasprintf("%s/prompts/%s", config_dir, name), false, NULL, &text, size, error);
	return text;
}
