/* SPDX-License-Identifier: MIT */
/* Products, and what judged each of them. */
#include <stdlib.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "proto/memory.h"

static void evidence_row(struct html *h, const json_t *row, long long run)
{
	html_open(h, "tr");
	html_open(h, "th");
	html_attr(h, "scope", "row");
	html_text(h, field_text(row, "kind"));
	html_close(h);
	html_open_class(h, "td", "wide");
	html_open(h, "code");
	piece_clip(h, field_text(row, "subject"), 120);
	html_close(h);
	html_close(h);
	html_open(h, "td");
	piece_state(h, field_text(row, "result"));
	html_close(h);
	piece_cell(h, NULL, field_int(row, "attempt_number") != FIELD_NONE ?
	    xasprintf("%lld/%lld", run, field_count(row, "attempt_number")) :
	    field_int(row, "from_run") != FIELD_NONE ?
	    xasprintf("%lld/%lld", field_count(row, "from_run"), field_count(row, "from_attempt")) : xstrdup(""));
	piece_cell(h, NULL, cell_text(row, "room"));
	html_open(h, "td");
	piece_hash(h, field_text(row, "tree"));
	html_close(h);
	html_open(h, "td");
	piece_hash(h, field_text(row, "output_hash"));
	html_close(h);
	html_open(h, "td");
	piece_hash(h, field_text(row, "hash"));
	html_close(h);
	html_close(h);
}

static const struct piece_column columns[] = { { "Judged by", NULL }, { "Subject", NULL }, { "Result", NULL },
	{ "Attempt", NULL }, { "Where", NULL }, { "Tree", NULL }, { "Output", NULL }, { "Row", NULL }, { NULL, NULL } };

/* The rows about a product; FIELD_NONE: about none. Returns how many. */
static size_t evidence_rows(struct html *h, const json_t *evidence, int64_t product, long long run)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(evidence) && count < PIECE_ROWS_MAX; i++) {
		const json_t *row = json_array_get(evidence, i);

		if (field_int(row, "product") != product)
			continue;
		evidence_row(h, row, run);
		count++;
	}
	return count;
}

/* The row above those about a product: what it is, and its whole hash. */
static void evidence_head(struct html *h, const json_t *product, long long run)
{
	const char *task = field_text(product, "task_id");

	html_close(h);
	html_open(h, "tbody");
	html_open_class(h, "tr", "group");
	html_open(h, "th");
	html_attr(h, "scope", "rowgroup");
	html_attrf(h, "colspan", "%zu", ARRAY_SIZE(columns) - 1);
	html_textf(h, "Product %lld: %s%s", field_count(product, "number"), field_text(product, "kind"),
	    *task != '\0' ? " of " : "");
	piece_clip(h, task, 60);
	html_open_class(h, "span", "note");
	html_text(h, " tree ");
	html_leaf(h, "code", "hash", field_text(product, "tree"));
	if (field_int(product, "parent") != FIELD_NONE)
		html_textf(h, ", made of product %lld", field_count(product, "parent"));
	if (field_int(product, "attempt_number") != FIELD_NONE)
		html_textf(h, " by attempt %lld/%lld", run, field_count(product, "attempt_number"));
	if (field_int(product, "from_run") != FIELD_NONE)
		html_textf(h, ", taken over from run %lld", field_count(product, "from_run"));
	html_close(h);
	html_close(h);
	html_close(h);
}

static void evidence_table(struct html *h, const json_t *products, size_t shown, const json_t *evidence, long long run)
{
	piece_table(h, "Products in order, each with what judged it", columns);
	evidence_rows(h, evidence, FIELD_NONE, run);
	for (size_t i = 0; i < shown; i++) {
		const json_t *product = json_array_get(products, i);

		evidence_head(h, product, run);
		evidence_rows(h, evidence, field_int(product, "number"), run);
	}
	piece_table_end(h);
}

static void evidence_summary(struct html *h, size_t products, size_t judgements)
{
	char *made = piece_count((long long)products, "product"),
	     *judged = piece_count((long long)judgements, "judgement");

	html_leaff(h, "summary", NULL, "%s, %s", made, judged);
	free(made);
	free(judged);
}

void section_evidence(struct html *h, const json_t *d)
{
	const json_t *run = json_object_get(d, "run"), *products = field_array(d, "products"),
	             *evidence = field_array(d, "evidence");
	size_t all = json_array_size(products), shown = all < PIECE_ROUNDS_MAX ? all : PIECE_ROUNDS_MAX;
	long long id = field_count(run, "id");
	char *more = xasprintf("rlctl evidence %lld", id), *verify = xasprintf("rlctl review verify %lld", id);

	if (all + json_array_size(evidence) > 0) {
		piece_section(h, "evidence", "Evidence");
		html_leaff(h, "p", "note", "Each product is a git tree that never changes; each row below it is one "
		    "judgement. Both lists and the log of reviews are hash chains, which this compares with the "
		    "files and refs:");
		piece_command(h, verify);
		html_open(h, "details");
		html_attr(h, "open", all <= 4 ? "" : NULL);
		evidence_summary(h, all, json_array_size(evidence));
		evidence_table(h, products, shown, evidence, id);
		piece_left_out(h, shown, all, "products", more);
		html_close(h);
		piece_facts(h);
		piece_fact(h, "newest review", cell_text(run, "review_head"));
		piece_fact(h, "newest product", cell_text(run, "product_head"));
		piece_fact(h, "newest judgement", cell_text(run, "evidence_head"));
		piece_fact(h, "newest entry of the record", cell_text(run, "entry_head"));
		html_close(h);
		html_close(h);
	}
	free(more);
	free(verify);
}
