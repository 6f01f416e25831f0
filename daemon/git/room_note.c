/* SPDX-License-Identifier: MIT */
#include "git/room_note.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "git/evidence_repo.h"
#include "git/stat_cache.h"

#define NOTE_MAX 4096

/* Beside the room's stat cache, and removed with such. malloc'd. */
static char *note_file(const struct git_op *op, const char *what)
{
	char *cache = stat_cache_name(op->spec.dir), *name = xasprintf("%s-%s", cache, what),
	    *file = evidence_file(op, name);

	free(name);
	free(cache);
	return file;
}

char *room_note_read(const struct git_op *op, const char *what)
{
	char *file = op->objects != NULL ? note_file(op, what) : NULL, *text = NULL;
	size_t size;

	if (file == NULL || file_read(AT_FDCWD, file, NOTE_MAX, &text, &size) != 0 || text[0] == '\0') {
		free(text);
		text = NULL;
	}
	free(file);
	return text;
}

void room_note_write(const struct git_op *op, const char *what, const char *text)
{
	char *file = op->objects != NULL ? note_file(op, what) : NULL;

	if (file != NULL)
		file_write(AT_FDCWD, file, text, strlen(text), 0600, false);
	free(file);
}

void room_note_remove(const struct git_op *op, const char *what)
{
	char *file = op->objects != NULL ? note_file(op, what) : NULL;

	if (file != NULL)
		unlink(file);
	free(file);
}
