/* SPDX-License-Identifier: MIT */
#include "rpc/page.h"

struct page page_begin(const struct call *call)
{
	return (struct page){ .after = call_int(call, "cursor", 0), .limit = call_int(call, "limit", INT64_MAX),
	    .list = json_array() };
}

bool page_takes(struct page *page, size_t index)
{
	json_int_t number = (json_int_t)index + 1;

	if (number <= page->after)
		return false;
	if ((json_int_t)json_array_size(page->list) >= page->limit) {
		page->more = true;
		return false;
	}
	page->last = number;
	return true;
}

void page_add(struct page *page, json_t *json)
{
	json_array_append_new(page->list, json);
}

void page_answer(struct page *page, struct call *call, const char *key)
{
	call_ok(call, json_pack("{s:o,s:o}", key, page->list, "next",
	    page->more ? json_integer(page->last) : json_null()));
}
