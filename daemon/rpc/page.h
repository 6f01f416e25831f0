/* SPDX-License-Identifier: MIT */
/* Pages of a list: the parameters and the result that all paged methods share, and pages of rows
 * that are in memory. */
#ifndef RPC_PAGE_H
#define RPC_PAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "rpc/method.h"

#define PAGE_MAX 1000

/* what: "runs per page; default 50" */
#define PAGE_PARAMS(limit_max, what) \
	{ "limit", SCHEMA_INT, .clamp = true, .min = 1, .max = (limit_max), .help = what }, \
	{ "cursor", SCHEMA_INT, .min = 1, .max = INT64_MAX, .help = "next of the previous page" }
/* Of rows in memory: all are one page, unless the client asks for less. */
#define PAGE_OF_RUN(what) PAGE_PARAMS(PAGE_MAX, what " per page; default: all")
#define PAGE_NEXT { "next", "integer|null", "cursor of the next page; null: no more pages" }

/* A page of a list to which rows are only added: the cursor is the number of the last row, from 1,
 * that it had. */
struct page {
	json_int_t after, limit, last;
	bool more;
	json_t *list;
};

struct page page_begin(const struct call *call);

/* Whether the row at this index belongs to the page; asked for each row that the client wants, in
 * order. */
bool page_takes(struct page *page, size_t index);

/* Takes ownership of json. */
void page_add(struct page *page, json_t *json);

/* Answers the call: {key, next}. */
void page_answer(struct page *page, struct call *call, const char *key);

#endif
