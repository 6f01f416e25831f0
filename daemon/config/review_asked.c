/* SPDX-License-Identifier: MIT */
#include "config/review_asked.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/layers.h"
#include "core/plan.h"

static bool is_submitted(const struct layers *layers, const char *path, struct origin *origin)
{
	json_decref(layers_get(layers, path, origin));
	return origin->field != NULL && strcmp(origin->name, origin->field) == 0;
}

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
	struct origin enabled;
	json_t *skip = layers_get(layers, "review.skip", NULL);
	bool told = is_submitted(layers, "review.enabled", &enabled);
	int rv = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rv == 0; i++) {
		struct origin origin;
		bool asked = is_submitted(layers, rows[i].path, &origin) && is_set(layers, rows[i].path);

		if (asked && !told && !plan->review && !json_is_true(skip))
			rv = config_refuse(error, origin.field, "%s: %s, and there is none (%s); add --review, or "
			    "leave it out", origin.name, rows[i].what, plan->skip_reason);
		free(origin.text);
	}
	json_decref(skip);
	free(enabled.text);
	return rv;
}
