/* SPDX-License-Identifier: MIT */
#include "git/own_moves.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "proto/memory.h"

#define MOVES_MAX (16 << 20)	/* bytes; a line each */

/* An empty text if there is no file. */
static int read_all(const char *file, char **text)
{
	size_t size;
	int rv = file_read(AT_FDCWD, file, MOVES_MAX, text, &size);

	if (rv == -ENOENT)
		*text = xstrdup("");
	return rv == -ENOENT ? 0 : rv;
}

int own_moves_add(const char *file, const char *commit)
{
	char *before, *all;
	int rv;

	if (file == NULL)
		return 0;
	rv = read_all(file, &before);
	if (rv != 0)
		return rv;
	all = xasprintf("%s%s\n", before, commit);
	rv = file_write(AT_FDCWD, file, all, strlen(all), 0600, true);
	free(all);
	free(before);
	return rv;
}

bool own_moves_have(const char *file, const char *since, const char *commit)
{
	char *text, *rest, *line;
	bool have = false;

	if (file == NULL || since == NULL || read_all(file, &text) != 0)
		return false;
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL)
		have = strcmp(line, commit) == 0 || (have && strcmp(line, since) != 0);
	free(text);
	return have;
}
