/* SPDX-License-Identifier: MIT */
#include "rpc/counters.h"

#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "proto/memory.h"

static json_t **list_at(struct counters *c, size_t i)
{
	json_t **const all[] = { &c->runs, &c->attempts, &c->reviews, &c->cost, &c->input, &c->output, &c->events };

	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

void counters_init(struct counters *c)
{
	json_t **list;

	for (size_t i = 0; (list = list_at(c, i)) != NULL; i++)
		*list = json_object();
}

void counters_release(struct counters *c)
{
	json_t **list;

	for (size_t i = 0; (list = list_at(c, i)) != NULL; i++)
		json_decref(*list);
}

static void add(json_t *object, const char *key, double number)
{
	if (key != NULL && number > 0)
		json_object_set_new(object, key, json_real(json_number_value(json_object_get(object, key)) + number));
}

static void add_attempt(struct counters *c, const json_t *body)
{
	const char *role = json_string_value(json_object_get(body, "role")),
	    *outcome = json_string_value(json_object_get(body, "outcome"));
	char *key = xasprintf("%s %s", role != NULL ? role : "", outcome != NULL ? outcome : "unknown");

	add(c->attempts, key, 1);
	add(c->cost, role, json_number_value(json_object_get(body, "cost_usd")));
	add(c->input, role, json_number_value(json_object_get(body, "tokens_input")));
	add(c->output, role, json_number_value(json_object_get(body, "tokens_output")));
	free(key);
}

static void add_run(struct counters *c, const json_t *body)
{
	const char *name = json_string_value(json_object_get(body, "state"));
	int state = name != NULL ? state_value(&run_state_names, name) : -1;

	if (state != -1 && run_state_is_end((enum run_state)state))
		add(c->runs, name, 1);
}

static void add_review(struct counters *c, const json_t *body)
{
	add(c->reviews, json_string_value(json_object_get(body, "decision")), 1);
}

void counters_add(struct counters *c, const struct event_row *event)
{
	static const struct { const char *type; void (*add)(struct counters *c, const json_t *body); } rows[] = {
		{ "run.state", add_run }, { "attempt.ended", add_attempt }, { "review.decided", add_review },
	};

	add(c->events, event->type, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *body;

		if (strcmp(event->type, rows[i].type) != 0)
			continue;
		body = json_loads(event->body, 0, NULL);
		rows[i].add(c, body);
		json_decref(body);
	}
}
