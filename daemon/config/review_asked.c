/* SPDX-License-Identifier: MIT */
#include "config/review_asked.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "config/layers.h"
#include "core/plan.h"

/* It is neither an empty list nor an empty text. */
static bool is_set(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL);
	bool set = json_is_array(json) ? json_array_size(json) > 0 : json_is_integer(json) ||
	    json_string_length(json) > 0;

	json_decref(json);
	return set;
}

int review_asked_check(const struct layers *layers, const struct plan *plan, struct config_error *error)
{
	static const struct { const char *path, *what; } rows[] = {
		{ "review.checks", "checks run before a review" },
		{ "review.reviewers", "this says who reviews" },
		{ "review.quorum", "this says how many reviewers must pass the work" },
		{ "review.agent", "this says who reviews" },
	};
	json_t *skip = layers_get(layers, "review.skip", NULL);
	bool silent = !plan->review && !json_is_true(skip) && !layers_submitted(layers, "review.enabled");
	int rv = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && silent && rv == 0; i++) {
		struct origin origin;

		if (!layers_submitted(layers, rows[i].path) || !is_set(layers, rows[i].path))
			continue;
		json_decref(layers_get(layers, rows[i].path, &origin));
		rv = config_refuse(error, origin.field, "%s: %s, and this run is not reviewed (%s); add --review, or "
		    "leave it out", origin.name, rows[i].what, plan->skip_reason);
		free(origin.text);
	}
	json_decref(skip);
	return rv;
}
