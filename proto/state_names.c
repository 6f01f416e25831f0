/* SPDX-License-Identifier: MIT */
#include "proto/state_names.h"

#include <stdlib.h>
#include <string.h>

const char *state_name(const struct state_names *names, int value)
{
	if (value < 0 || (size_t)value >= names->count)
		abort();
	return names->names[value];
}

int state_value(const struct state_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++) {
		if (names->names[i] != NULL && strcmp(names->names[i], name) == 0)
			return (int)i;
	}
	return names->older != NULL && strcmp(names->older, name) == 0 ? (int)names->count - 1 : -1;
}
