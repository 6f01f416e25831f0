/* SPDX-License-Identifier: MIT */
/* Names in a patch of git, and the lines before it that name the files whose change it leaves
 * out. */
#ifndef BASE_PATCH_NOTE_H
#define BASE_PATCH_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/memory.h"

struct patch_note {
	char *file;		/* owned */
	bool binary;		/* before the change; false: too large */
	uint64_t was, now;	/* size in bytes; 0: there is none */
};

/* Add "Not in this diff (binary, 12 bytes before, 34 bytes now): file" and a newline. */
void patch_note_add(struct buf *out, const struct patch_note *note);

/* Reads such a line, with or without its newline. False: it is none. */
bool patch_note_read(const char *line, size_t size, struct patch_note *note);

/* Add a name as git writes it: in quotes, with escapes, if it has control characters, quotes or
 * backslashes. */
void patch_name_add(struct buf *out, const char *name);
/* Reads such a name, up to *size bytes; *size becomes what it takes. malloc'd. */
char *patch_name_read(const char *text, size_t *size);

#endif
