/* SPDX-License-Identifier: MIT */
#include "rpc/environment.h"

#include <string.h>

#include "job/secrets.h"
#include "proto/memory.h"

/* Only job/secrets.h makes such entries. */
static bool is_ours(const char *name)
{
	return strncmp(name, SECRETS_OURS, strlen(SECRETS_OURS)) == 0;
}

char **environment_strings(const json_t *pairs)
{
	size_t n = json_array_size(pairs) + json_object_size(pairs), count = 0, i;
	const char *name;
	json_t *value;
	char **list;

	if (pairs == NULL)
		return NULL;
	list = xcalloc(n + 1, sizeof(*list));
	json_array_foreach(pairs, i, value)
		if (!is_ours(json_string_value(value)))
			list[count++] = xstrdup(json_string_value(value));
	json_object_foreach((json_t *)pairs, name, value)
		if (!is_ours(name))
			list[count++] = xasprintf("%s=%s", name, json_string_value(value));
	return list;
}
