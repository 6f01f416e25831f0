/* SPDX-License-Identifier: MIT */
/* The file and line with which a finding begins: "src/a.c:12: text", "`src/a.c` line 12 -
 * text", "`a.c`: text". */
#ifndef VERDICT_TEXT_POSITION_H
#define VERDICT_TEXT_POSITION_H

#include <stddef.h>

struct text_position {
	const char *file;	/* NULL: it begins with none */
	size_t file_size;
	long line;		/* 0: not given */
	size_t length;		/* of it and what sets it off from the text; 0: the text
				 * reads on and keeps it */
};

/* text is NUL-terminated. Only what is evidently a path counts: with a line, or in
 * backticks with a suffix. */
struct text_position text_position_read(const char *text);

#endif
