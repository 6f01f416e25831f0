/* SPDX-License-Identifier: MIT */
#include "client/diff_paint.h"

#include <string.h>

#include "proto/memory.h"

enum paint diff_paint(const char *line)
{
	static const struct {
		const char *start;
		enum paint paint;
	} paints[] = {
		{ "+++ ", PAINT_BOLD }, { "--- ", PAINT_BOLD }, { "diff ", PAINT_BOLD }, { "index ", PAINT_BOLD },
		{ "@@", PAINT_CYAN }, { "+", PAINT_GREEN }, { "-", PAINT_RED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(paints); i++)
		if (strncmp(line, paints[i].start, strlen(paints[i].start)) == 0)
			return paints[i].paint;
	return PAINT_NONE;
}
