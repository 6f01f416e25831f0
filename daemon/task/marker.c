/* SPDX-License-Identifier: MIT */
#include "task/marker.h"

#include <string.h>
#include <strings.h>

#include "base/own_lines.h"

static const char *marker_of(struct own_line line, char *const *markers)
{
	for (; *markers != NULL; markers++) {
		struct own_line marker = own_line_trim(*markers, strlen(*markers));

		if (marker.size > 0 && marker.size == line.size && strncasecmp(marker.text, line.text, line.size) == 0)
			return *markers;
	}
	return NULL;
}

const char *marker_in(const char *text, size_t size, char *const *markers)
{
	struct own_lines lines = own_lines_of(text, size);
	struct own_line line;
	const char *found = NULL;

	while (markers != NULL && found == NULL && own_lines_next(&lines, &line))
		found = marker_of(line, markers);
	return found;
}
