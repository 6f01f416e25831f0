/* SPDX-License-Identifier: MIT */
#include "verdict/verdict.h"

#include "verdict/items.h"

size_t verdict_marks(const char *text, size_t size, struct verdict_finding **out)
{
	struct items items;

	items_read(text, size, true, &items);
	*out = items.list;
	return items.count;
}
