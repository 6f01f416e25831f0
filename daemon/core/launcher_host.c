/* SPDX-License-Identifier: MIT */
#include "core/launcher_host.h"

#include <stdlib.h>
#include <string.h>

bool launcher_host_read(const char *word, struct launcher_host *out)
{
	const char *equals = strrchr(word, '=');
	char *end;

	if (equals == NULL || equals == word || equals - word > LAUNCHER_NODE_MAX)
		return false;
	memcpy(out->name, word, (size_t)(equals - word));
	out->name[equals - word] = '\0';
	out->slots = strtoll(equals + 1, &end, 10);
	return end != equals + 1 && *end == '\0' && out->slots > 0;
}
