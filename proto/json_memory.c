/* SPDX-License-Identifier: MIT */
#include "proto/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

#include "proto/memory.h"

void json_memory_begin(void)
{
	json_set_alloc_funcs(xmalloc, free);
}
