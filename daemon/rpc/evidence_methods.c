/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "model/row_json.h"
#include "rpc/context.h"
#include "rpc/page.h"
#include "rpc/run_load.h"

/* Also what the tasks share: task NULL. */
static bool is_asked(const struct call *call, const char *task)
{
	const char *only = call_text(call, "task");

	return only == NULL || task == NULL || strcmp(only, task) == 0;
}

/* The row, and what users call its attempt: the 3 of "42/3". Takes json. */
static void list_add(struct page *page, json_t *json, const struct run_rows *rows, int64_t attempt)
{
	const struct attempt_row *a = attempt != ROW_NONE ? run_rows_attempt(rows, attempt) : NULL;

	json_object_set_new(json, "attempt_number", a != NULL ? json_integer(a->number) : json_null());
	page_add(page, json);
}

static void products_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;
	struct page page;

	if (rows == NULL) {
		call_no_run(call, "run", call_int(call, "run", 0));
		return;
	}
	page = page_begin(call);
	for (size_t i = 0; i < rows->nproducts; i++) {
		const struct product_row *row = rows->products[i];

		if (is_asked(call, row->task_id) && page_takes(&page, i))
			list_add(&page, json_row(ROW_PRODUCT, row), rows, row->attempt);
	}
	page_answer(&page, call, "products");
}

static struct reply product_list(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), LOAD_ATTEMPTS | LOAD_PRODUCTS, products_cb, call);
	return reply_later(call);
}

static void evidence_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;
	struct page page;

	if (rows == NULL) {
		call_no_run(call, "run", call_int(call, "run", 0));
		return;
	}
	page = page_begin(call);
	for (size_t i = 0; i < rows->nevidence; i++) {
		const struct evidence_row *row = rows->evidence[i];

		if (is_asked(call, row->task_id) && page_takes(&page, i))
			list_add(&page, json_row(ROW_EVIDENCE, row), rows, row->attempt);
	}
	page_answer(&page, call, "evidence");
}

static struct reply evidence_list(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), LOAD_ATTEMPTS | LOAD_EVIDENCE, evidence_cb, call);
	return reply_later(call);
}

static const struct schema params[] = {
	{ "run", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "id of the run" },
	{ "task", SCHEMA_TEXT, .min = 1, .max = 256, .help = "only this task, and what the tasks share" },
	PAGE_OF_RUN("rows"),
	{ 0 },
};
static const struct result_field product_results[] = {
	{ "products", "[Product]", "in order" },
	PAGE_NEXT,
	{ 0 },
};
static const struct result_field evidence_results[] = {
	{ "evidence", "[Evidence]", "in order" },
	PAGE_NEXT,
	{ 0 },
};
static const int errors[] = { RPC_NOT_FOUND, 0 };

const struct method evidence_methods[] = {
	{ "product.list", ACCESS_READ, true, params, product_results, errors, product_list,
	    "return the products of a run: its base, its work, its results" },
	{ "evidence.list", ACCESS_READ, true, params, evidence_results, errors, evidence_list,
	    "return what judged the products of a run" },
	{ 0 },
};
