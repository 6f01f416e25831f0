/* SPDX-License-Identifier: MIT */
/* rlctl evidence: the products of a run, and what judged each of them. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/table.h"
#include "proto/memory.h"

/* As much of a hash as git shows. */
static char *evidence_id(const json_t *row, const char *key)
{
	return xasprintf("%.12s", field_text(row, key));
}

/* "41/3": the attempt that was green on this tree. */
static char *evidence_from(const json_t *row, const char *key)
{
	return field_int(row, key) == FIELD_NONE ? xstrdup("") :
	    xasprintf("%lld/%lld", field_count(row, "from_run"), field_count(row, key));
}

static const struct table_column products[] = {
	{ "PRODUCT", TABLE_RIGHT, cell_number, .key = "number" },
	{ "KIND", 0, cell_text, .key = "kind" },
	{ "TASK", 0, cell_text, .key = "task_id" },
	{ "TREE", 0, evidence_id, .key = "tree" },
	{ "MADE OF", TABLE_RIGHT, cell_number, .key = "parent" },
	{ "ATTEMPT", TABLE_RIGHT, cell_number, .key = "attempt_number" },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "created_at" },
};

static const struct table_column evidence[] = {
	{ "PRODUCT", TABLE_RIGHT, cell_number, .key = "product" },
	{ "JUDGED BY", 0, cell_text, .key = "kind" },
	{ "RESULT", 0, cell_text, "result", .paint_of = print_state_paint },
	{ "TASK", 0, cell_text, .key = "task_id" },
	{ "REVIEW", TABLE_RIGHT, cell_number, .key = "review" },
	{ "ATTEMPT", TABLE_RIGHT, cell_number, .key = "attempt_number" },
	{ "EXIT", TABLE_RIGHT, cell_number, .key = "exit_code" },
	{ "GREEN IN", 0, evidence_from, .key = "from_attempt" },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "created_at" },
	{ "SUBJECT", TABLE_FLEXIBLE, cell_line, .key = "subject" },
};

/* The array called name in the answer to method, a new reference; NULL: *status is an exit code. */
static json_t *evidence_get(struct client *c, const char *method, const char *name, int64_t run,
    const char *task, int *status)
{
	json_t *params = json_pack("{s:I, s:s*}", "run", (json_int_t)run, "task", task);
	json_t *result = client_list(c, method, name, params, status), *list;

	if (result == NULL)
		return NULL;
	list = json_incref(json_object_get(result, name));
	json_decref(result);
	return list;
}

int evidence_command(struct client *c)
{
	char *name = xstrdup(c->options.arguments[0]), *task = strchr(name, '/');
	json_t *made = NULL, *judged = NULL;
	int64_t run;
	int status;

	if (task != NULL)
		*task++ = '\0';
	status = client_parse_run(name, &run, NULL) == 0 ? EXIT_DONE : EXIT_USAGE;
	if (status == EXIT_DONE)
		made = evidence_get(c, "product.list", "products", run, task, &status);
	if (made != NULL)
		judged = evidence_get(c, "evidence.list", "evidence", run, task, &status);
	if (judged != NULL && c->json) {
		json_t *both = json_pack("{s:O, s:O}", "products", made, "evidence", judged);

		print_json(&c->out, both);
		json_decref(both);
	} else if (judged != NULL) {
		table_print_rows(&c->out, products, ARRAY_SIZE(products), made);
		if (json_array_size(made) > 0)
			table_print_apart(&c->out, evidence, ARRAY_SIZE(evidence), judged);
		else
			table_print_rows(&c->out, evidence, ARRAY_SIZE(evidence), judged);
		if (json_array_size(made) + json_array_size(judged) == 0)
			fputs("No products and no evidence.\n", c->talk.file);
	}
	json_decref(judged);
	json_decref(made);
	free(name);
	return status;
}
