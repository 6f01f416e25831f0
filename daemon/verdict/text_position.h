/* SPDX-License-Identifier: MIT */
/* The file and line at the beginning of a finding: "src/a.c:12: text", "`src/a.c` line 12 - text",
 * "`a.c`: text". */
#ifndef VERDICT_TEXT_POSITION_H
#define VERDICT_TEXT_POSITION_H

#include <stddef.h>

struct text_position {
	const char *file;	/* NULL: none */
	size_t file_size;
	long line;		/* 0: not given */
	/* including the separator; 0: the position is part of the sentence */
	size_t length;
};

/* text is NUL-terminated. Only an obvious path counts: one with a line, or in backticks with a
 * suffix. */
struct text_position text_position_read(const char *text);

#endif
