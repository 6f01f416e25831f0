/* SPDX-License-Identifier: MIT */
#include "client/listing.h"

#include "client/field.h"
#include "client/table.h"

int listing_run(struct client *c, const struct listing *listing, json_t *params)
{
	int status;
	json_t *result = client_call_json(c, listing->method, params, &status);
	const json_t *rows = field_array(result, listing->rows);

	if (result != NULL && !c->json) {
		table_print_rows(&c->out, listing->columns, listing->count, rows);
		if (json_array_size(rows) == 0 && listing->none != NULL)
			fprintf(c->talk.file, "%s\n", listing->none);
		if (json_array_size(rows) == 0 && listing->no_rows != NULL)
			listing->no_rows(c);
		if (listing->older != NULL && json_array_size(rows) > 0 && field_int(result, "next") != FIELD_NONE)
			fprintf(c->talk.file, "For older ones, add %s %lld.\n",
			    listing->older, field_count(result, "next"));
	}
	json_decref(result);
	return status;
}
