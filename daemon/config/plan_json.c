/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "core/profile.h"

enum member_kind { MEMBER_TEXT, MEMBER_WORDS, MEMBER_INT, MEMBER_BOOL, MEMBER_PROFILE, MEMBER_PROMPT_VIA, MEMBER_READER, MEMBER_ON_LOST };

/* One member of the JSON object and of the struct; both directions walk these tables. */
struct member {
	const char *name;
	enum member_kind kind;
	size_t offset;
	bool required;		/* may not be null */
};

#define AGENT(name, kind, required) { #name, kind, offsetof(struct agent_plan, name), required }
static const struct member agent_members[] = {
	AGENT(name, MEMBER_TEXT, true),
	AGENT(command, MEMBER_WORDS, true),
	AGENT(prompt, MEMBER_PROMPT_VIA, true),
	AGENT(reader, MEMBER_READER, true),
	AGENT(model, MEMBER_TEXT, false),
	AGENT(set, MEMBER_WORDS, true),
	AGENT(env, MEMBER_WORDS, true),
};

#define PLAN(name, kind, required) { #name, kind, offsetof(struct plan, name), required }
static const struct member plan_members[] = {
	PLAN(review, MEMBER_BOOL, true),
	PLAN(skip_reason, MEMBER_TEXT, false),
	PLAN(profile, MEMBER_PROFILE, true),
	PLAN(max_fixes, MEMBER_INT, true),
	PLAN(stall_limit, MEMBER_INT, true),
	PLAN(on_lost, MEMBER_ON_LOST, true),
	PLAN(developer_prompt, MEMBER_TEXT, false),
	PLAN(reviewer_prompt, MEMBER_TEXT, false),
	PLAN(timeout_ms, MEMBER_INT, true),
	PLAN(review_timeout_ms, MEMBER_INT, true),
	PLAN(idle_timeout_ms, MEMBER_INT, true),
	PLAN(grace_ms, MEMBER_INT, true),
	PLAN(output_bytes, MEMBER_INT, true),
	PLAN(env, MEMBER_WORDS, true),
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static json_t *words_out(char *const *words)
{
	json_t *array = json_array();

	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		json_array_append_new(array, json_string(words[i]));
	return array;
}

static json_t *text_out(const char *text)
{
	return text == NULL ? json_null() : json_string(text);
}

static json_t *member_out(const struct member *m, const void *p)
{
	switch (m->kind) {
	case MEMBER_TEXT:
		return text_out(*(char *const *)p);
	case MEMBER_WORDS:
		return words_out(*(char **const *)p);
	case MEMBER_INT:
		return json_integer(*(const int64_t *)p);
	case MEMBER_BOOL:
		return json_boolean(*(const bool *)p);
	case MEMBER_PROFILE:
		return text_out((*(const struct profile *const *)p)->name);
	case MEMBER_PROMPT_VIA:
		return text_out(state_name(&prompt_via_names, (int)*(const enum prompt_via *)p));
	case MEMBER_READER:
		return text_out(state_name(&reader_names, (int)*(const enum reader_kind *)p));
	case MEMBER_ON_LOST:
		return text_out(state_name(&on_lost_names, (int)*(const enum on_lost *)p));
	}
	abort();
}

static json_t *object_out(const struct member *members, size_t count, const void *base)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new(object, members[i].name, member_out(&members[i], (const char *)base + members[i].offset));
	return object;
}

char *plan_to_json(const struct plan *plan)
{
	json_t *object = json_object(), *agents = json_object();
	char *text;

	for (int role = 0; role < ROLES; role++)
		json_object_set_new(agents, state_name(&role_names, role), object_out(agent_members, COUNT(agent_members), &plan->agents[role]));
	json_object_set_new(object, "agents", agents);
	json_object_update_new(object, object_out(plan_members, COUNT(plan_members), plan));
	text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (text == NULL)
		abort();
	return text;
}

static int words_in(const json_t *json, char ***words)
{
	const json_t *word;
	size_t i;

	if (!json_is_array(json))
		return -1;
	*words = xcalloc(1, sizeof(**words));
	json_array_foreach(json, i, word) {
		if (!json_is_string(word))
			return -1;
		strings_append(words, json_string_value(word));
	}
	return 0;
}

/* Index of the name, -1 for what is none. */
static int choice_in(const json_t *json, const struct state_names *names)
{
	return json_is_string(json) ? state_value(names, json_string_value(json)) : -1;
}

/* 0, or -1 for a value that does not fit; what was already made is freed by plan_release(). */
static int member_in(const struct member *m, const json_t *json, void *p)
{
	int value;

	if (json == NULL || (json_is_null(json) && m->required))
		return -1;
	switch (m->kind) {
	case MEMBER_TEXT:
		if (!json_is_null(json) && !json_is_string(json))
			return -1;
		*(char **)p = xstrdup(json_string_value(json));
		return 0;
	case MEMBER_WORDS:
		return words_in(json, p);
	case MEMBER_INT:
		*(int64_t *)p = json_integer_value(json);
		return json_is_integer(json) ? 0 : -1;
	case MEMBER_BOOL:
		*(bool *)p = json_is_true(json);
		return json_is_boolean(json) ? 0 : -1;
	case MEMBER_PROFILE:
		*(const struct profile **)p = json_is_string(json) ? profile_find(json_string_value(json)) : NULL;
		return *(const struct profile **)p != NULL ? 0 : -1;
	case MEMBER_PROMPT_VIA:
		if ((value = choice_in(json, &prompt_via_names)) == -1)
			return -1;
		*(enum prompt_via *)p = (enum prompt_via)value;
		return 0;
	case MEMBER_READER:
		if ((value = choice_in(json, &reader_names)) == -1)
			return -1;
		*(enum reader_kind *)p = (enum reader_kind)value;
		return 0;
	case MEMBER_ON_LOST:
		if ((value = choice_in(json, &on_lost_names)) == -1)
			return -1;
		*(enum on_lost *)p = (enum on_lost)value;
		return 0;
	}
	abort();
}

static int object_in(const json_t *object, const struct member *members, size_t count, void *base)
{
	for (size_t i = 0; i < count; i++) {
		if (member_in(&members[i], json_object_get(object, members[i].name), (char *)base + members[i].offset) == -1)
			return -1;
	}
	return 0;
}

int plan_from_json(const char *json, struct plan *plan)
{
	json_t *object = json_loads(json, JSON_REJECT_DUPLICATES, NULL), *agents = json_object_get(object, "agents");
	int rv;

	*plan = (struct plan){ 0 };
	rv = object_in(object, plan_members, COUNT(plan_members), plan);
	for (int role = 0; rv == 0 && role < ROLES; role++)
		rv = object_in(json_object_get(agents, state_name(&role_names, role)), agent_members, COUNT(agent_members), &plan->agents[role]);
	json_decref(object);
	if (rv == 0 && plan->review != (plan->skip_reason == NULL))
		rv = -1;
	for (int role = 0; rv == 0 && role < ROLES; role++)
		rv = plan->agents[role].command[0] == NULL ? -1 : 0;
	if (rv == -1)
		plan_release(plan);
	return rv;
}
