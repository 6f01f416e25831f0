/* SPDX-License-Identifier: MIT */
#include "client/settings_text.h"

#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "proto/memory.h"

/* "a + b + c, quorum majority"; NULL: there is no panel. */
static char *settings_panel(const json_t *review)
{
	const json_t *names = field_array(review, "reviewers");
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(names); i++)
		buf_addf(&text, "%s%s", i > 0 ? " + " : "", json_string_value(json_array_get(names, i)));
	if (text.size > 0 && *field_text(review, "quorum") != '\0')
		buf_addf(&text, " (quorum %s)", field_text(review, "quorum"));
	return text.data;
}

/* Whether the run has attempts of this role at all. */
static bool role_works(const char *role, const json_t *review)
{
	if (strcmp(role, "commit") == 0)
		return field_is(review, "commit", "agent");
	return strcmp(role, "implement") == 0 || field_true(review, "enabled") ||
	    field_is(review, "skip_kind", "by-task");
}

char *settings_agents(const json_t *agents, const json_t *review)
{
	char *panel = settings_panel(review);
	struct buf text = { 0 };

	for (void *i = json_object_iter((json_t *)agents); i != NULL; i = json_object_iter_next((json_t *)agents, i)) {
		const json_t *agent = json_object_iter_value(i);
		const char *model = field_text(agent, "model");

		if (!role_works(json_object_iter_key(i), review))
			continue;
		if (panel != NULL && strcmp(json_object_iter_key(i), "review") == 0) {
			buf_addf(&text, "%sreview %s", text.size > 0 ? ", " : "", panel);
			continue;
		}
		buf_addf(&text, "%s%s %s%s%s%s", text.size > 0 ? ", " : "", json_object_iter_key(i),
		    field_text(agent, "agent"), *model != '\0' ? " (" : "", model,
		    *model != '\0' ? ")" : "");
	}
	free(panel);
	return buf_take(&text, NULL);
}

char *settings_review(const json_t *review)
{
	int64_t checks = field_int(review, "checks");
	char *behind, *text;

	if (review == NULL)
		return xstrdup("");
	if (!field_true(review, "enabled"))
		return xasprintf("none: %s", field_text(review, "skip_reason"));
	behind = checks > 0
	    ? xasprintf(", %lld check%s before each", (long long)checks, checks == 1 ? "" : "s")
	    : xstrdup("");
	text = xasprintf("%s, at most %lld reviews%s%s", field_text(review, "profile"),
	    field_count(review, "max_fixes") + 1,
	    field_is(review, "scope", "run") ? " of the whole run" : "", behind);
	free(behind);
	return text;
}
