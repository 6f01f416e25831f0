/* SPDX-License-Identifier: MIT */
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "proto/memory.h"

#define DIGEST_SHOWN 16

char *name_fit(char *name, const char *id)
{
	char hex[DIGEST_HEX], *fits;

	if (strlen(name) <= NAME_FIT_MAX)
		return name;
	digest_hex(id, strlen(id), hex);
	fits = xasprintf("%.*s-%.*s", NAME_FIT_MAX - DIGEST_SHOWN - 1, name, DIGEST_SHOWN, hex);
	free(name);
	return fits;
}
