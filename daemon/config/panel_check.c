/* SPDX-License-Identifier: MIT */
#include "config/panel_check.h"

#include <stdlib.h>
#include <string.h>

#include "config/layers.h"
#include "core/plan.h"
#include "core/plan_words.h"
#include "core/profile.h"
#include "core/quorum.h"
#include "proto/memory.h"

/* "all" unless something else is set. */
char *panel_quorum_text(const struct layers *layers)
{
	json_t *json = layers_get(layers, "review.quorum", NULL);
	char *quorum = json_is_integer(json) ? xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(json)) :
	    xstrdup(json_string_value(json));

	json_decref(json);
	return quorum;
}

/* The command line says this, and only a file says the other. */
static bool is_replaced(const struct layers *layers, const char *other, const char *path)
{
	return layers_submitted(layers, path) && !layers_submitted(layers, other);
}

char **panel_reviewers(const struct layers *layers)
{
	json_t *json = is_replaced(layers, "review.reviewers", "review.agent") ? json_array() :
	    layers_get(layers, "review.reviewers", NULL);
	char **names = plan_words(json);

	json_decref(json);
	return names;
}

/* The first name that stands there twice; NULL: none. */
static const char *twice(char *const *names)
{
	for (size_t i = 0; names[i] != NULL; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(names[i], names[k]) == 0)
				return names[i];
	return NULL;
}

/* Takes text. */
static int refuse_panel(const struct layers *layers, const char *path, char *text, struct config_error *error)
{
	struct origin origin;

	json_decref(layers_get(layers, path, &origin));
	config_refuse(error, origin.field, "%s: %s", origin.name, text);
	free(origin.text);
	free(text);
	return -1;
}

int panel_check(const struct layers *layers, const struct plan *plan, struct config_error *error)
{
	char **names = panel_reviewers(layers);
	size_t count = strings_count(names);
	const char *path = "review.reviewers";
	struct origin agent, model, quorum, reviewers;
	char *text = NULL;

	json_decref(layers_get(layers, "review.agent", &agent));
	json_decref(layers_get(layers, "review.model", &model));
	json_decref(layers_get(layers, "review.quorum", &quorum));
	json_decref(layers_get(layers, path, &reviewers));
	if (count == 0 && quorum.field != NULL) {
		path = "review.quorum";
		text = xstrdup("a quorum is one of several reviewers, and none are named; name them in "
		    "reviewers, or leave the quorum out");
	} else if (plan->profile->carrier == CARRIER_EXIT && reviewers.field != NULL && count > 0) {
		text = xasprintf("profile '%s' reviews with a program, not with agents; leave reviewers "
		    "out, or choose another profile", plan->profile_name);
	} else if (plan->profile->carrier == CARRIER_EXIT || count == 0) {
		;	/* nothing of it matters */
	} else if (agent.said && !is_replaced(layers, "review.agent", path)) {
		text = xasprintf("reviewers and agent both say who reviews (agent: %s); leave one of them out",
		    agent.name);
	} else if (count > 1 && model.said) {
		text = xasprintf("each of several reviewers has its own model, and %s names one for all of "
		    "them; leave it out, and set model in [agent.NAME]", model.name);
	} else if (twice(names) != NULL) {
		text = xasprintf("'%s' is named twice, and an agent has one vote; for two votes of a "
		    "program, add an [agent.NAME] with its command", twice(names));
	} else if (panel_quorum(plan->quorum, count) > (int64_t)count) {
		path = "review.quorum";
		text = xasprintf("a quorum of %s needs as many reviewers, and %zu are named; lower it, or "
		    "name more", plan->quorum, count);
	}
	free(agent.text);
	free(model.text);
	free(quorum.text);
	free(reviewers.text);
	strings_free(names);
	return text != NULL ? refuse_panel(layers, path, text, error) : 0;
}
