/* SPDX-License-Identifier: MIT */
#include "git/room_setup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "git/evidence_repo.h"
#include "git/stat_cache.h"

#define NOTE_MAX 4096

/* Beside the room's stat cache, and removed with such. malloc'd. */
static char *note_file(const struct git_op *op)
{
	char *cache = stat_cache_name(op->spec.dir), *name = xasprintf("%s-setup", cache),
	    *file = evidence_file(op, name);

	free(name);
	free(cache);
	return file;
}

char *room_setup_tree(const struct git_op *op, const char *key)
{
	char *file = note_file(op), *text = NULL, *tree = NULL;
	size_t size, length = strlen(key);

	if (file_read(AT_FDCWD, file, NOTE_MAX, &text, &size) == 0 && size > length + 1 &&
	    strncmp(text, key, length) == 0 && text[length] == ' ')
		tree = xmemdup0(text + length + 1, size - length - 1);
	free(text);
	free(file);
	return tree;
}

/* Without a note, the set-up only runs again. */
void room_setup_note(const struct git_op *op, const char *key, const char *tree)
{
	char *file = note_file(op), *text = xasprintf("%s %s", key, tree);

	file_write(AT_FDCWD, file, text, strlen(text), 0600, false);
	free(text);
	free(file);
}

void room_setup_forget(const struct git_op *op)
{
	char *file = op->objects != NULL ? note_file(op) : NULL;

	if (file != NULL)
		unlink(file);
	free(file);
}
