/* SPDX-License-Identifier: MIT */
/* A diff as git writes it: its files and their hunks, borrowed from the text. */
#ifndef CLIENT_PAGE_DIFF_HUNKS_H
#define CLIENT_PAGE_DIFF_HUNKS_H

#include <stddef.h>

struct diff_hunk {
	const char *text;		/* its lines, the one with @@ included */
	size_t size;
	long long from, lines;		/* first line and number of lines in the new file */
};

struct diff_file {
	char *name;			/* in the new tree; of a deleted file, in the old one */
	const char *text;		/* all of it */
	size_t size;
	long long added, removed;	/* lines */
	struct diff_hunk *hunks;
	size_t count;
};

struct diff {
	struct diff_file *files;
	size_t count;
};

/* Read a diff, which may be cut anywhere. */
void hunks_read(struct diff *p, const char *text, size_t size);
void hunks_release(struct diff *p);

/* The hunk of a file that has the line, or is nearest to it; NULL: the file is not in the diff, or
 * has no hunk. */
const struct diff_hunk *hunks_find(const struct diff *p, const char *file, long long line);

#endif
