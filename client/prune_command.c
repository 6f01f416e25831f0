/* SPDX-License-Identifier: MIT */
/* rlctl prune: remove what is kept of old runs. */
#include <stdlib.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/exit.h"
#include "client/field.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column gone_columns[] = {
	{ "RUN", TABLE_RIGHT, cell_number, .key = "run" },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "ended_at" },
	{ "SIZE", TABLE_RIGHT, cell_size, .key = "bytes" },
	{ "LIMIT", 0, cell_text, .key = "why" },
};

static const struct table_column kept_columns[] = {
	{ "KEPT", TABLE_RIGHT, cell_number, .key = "run" },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "ended_at" },
	{ "SIZE", TABLE_RIGHT, cell_size, .key = "bytes" },
	{ "WHY", TABLE_FLEXIBLE, cell_text, .key = "reason" },
};

static const char *plural(long long count)
{
	return count == 1 ? "" : "s";
}

/* "Pruned 3 runs, 1.2 MiB. 1 run beyond the limits stays." */
static void prune_sum(struct client *c, const json_t *result)
{
	long long count = field_count(result, "count"), kept = field_count(result, "kept_count"),
	    rooms = field_count(result, "prepared_bytes");
	char *size = cell_size(result, "bytes"), *prepared = cell_size(result, "prepared_bytes");
	FILE *out = c->out.file;

	fprintf(out, "%s %lld run%s, %s", field_true(result, "check") ? "Would prune" : "Pruned", count, plural(count),
	    *size != '\0' ? size : "0 B");
	if (rooms > 0)
		fprintf(out, ", and %s of prepared rooms", prepared);
	fprintf(out, ".");
	if (kept > 0)
		fprintf(out, " %lld run%s beyond the limits stay%s.", kept, plural(kept), kept == 1 ? "s" : "");
	fputc('\n', out);
	free(prepared);
	free(size);
}

int prune_command(struct client *c)
{
	int status;
	json_t *result = client_call_json(c, "state.prune", json_incref(c->options.params), &status);
	const json_t *left = field_array(result, "left");

	if (result != NULL && !c->json) {
		table_print_rows(&c->out, gone_columns, ARRAY_SIZE(gone_columns), field_array(result, "runs"));
		if (json_array_size(field_array(result, "runs")) > 0)
			table_print_apart(&c->out, kept_columns, ARRAY_SIZE(kept_columns), field_array(result, "kept"));
		else
			table_print_rows(&c->out, kept_columns, ARRAY_SIZE(kept_columns), field_array(result, "kept"));
		prune_sum(c, result);
		for (size_t i = 0; i < json_array_size(left); i++)
			fprintf(c->talk.file, "%s\n", json_string_value(json_array_get(left, i)));
	}
	if (json_array_size(left) > 0)
		status = EXIT_REFUSED;
	json_decref(result);
	return status;
}
