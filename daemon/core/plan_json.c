/* SPDX-License-Identifier: MIT */
#include "core/plan_json.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "proto/memory.h"

enum member_kind {
	/* LIMIT: an integer, null is ROW_NONE; MONEY: a number, null is NaN */
	MEMBER_TEXT, MEMBER_WORDS, MEMBER_INT, MEMBER_LIMIT, MEMBER_MONEY, MEMBER_BOOL, MEMBER_CHOICE, MEMBER_PROFILE
};

/* A member of the JSON object and of the struct; both directions walk these tables. */
struct member {
	const char *name;
	enum member_kind kind;
	size_t offset;
	/* CAME_LATER: absent in plans of older versions */
	enum { MAY_BE_NULL, NEVER_NULL, CAME_LATER } rule;
	const struct state_names *choices;	/* MEMBER_CHOICE */
	/* in struct profile: offset of the value for a member that came later; 0: none */
	size_t cell;
	int64_t old;			/* ... or the value itself, if it is a number or a choice */
};

#define AGENT(name, kind, rule) { #name, kind, offsetof(struct agent_plan, name), rule, NULL, 0, 0 }
#define AGENT_OLD(name, kind, old) { #name, kind, offsetof(struct agent_plan, name), CAME_LATER, NULL, 0, old }
#define AGENT_CHOICE(name, choices) \
	{ #name, MEMBER_CHOICE, offsetof(struct agent_plan, name), NEVER_NULL, choices, 0, 0 }
static const struct member agent_members[] = {
	AGENT(name, MEMBER_TEXT, NEVER_NULL),
	AGENT(command, MEMBER_WORDS, NEVER_NULL),
	AGENT(resume, MEMBER_WORDS, CAME_LATER),
	AGENT_CHOICE(prompt, &prompt_via_names),
	AGENT_CHOICE(reader, &reader_names),
	AGENT(model, MEMBER_TEXT, MAY_BE_NULL),
	AGENT(set, MEMBER_WORDS, NEVER_NULL),
	AGENT(env, MEMBER_WORDS, NEVER_NULL),
	AGENT(writable, MEMBER_WORDS, CAME_LATER),
	AGENT(account, MEMBER_TEXT, CAME_LATER),
	AGENT(launcher, MEMBER_TEXT, CAME_LATER),
	AGENT(launch, MEMBER_WORDS, CAME_LATER),
	AGENT(cancel, MEMBER_WORDS, CAME_LATER),
	AGENT_OLD(launcher_slots, MEMBER_INT, 0),
	AGENT(hosts, MEMBER_WORDS, CAME_LATER),
	AGENT(copies, MEMBER_BOOL, CAME_LATER),
};

/* The profile precedes the members that take defaults from it. */
#define PLAN(name, kind, rule) { #name, kind, offsetof(struct plan, name), rule, NULL, 0, 0 }
#define PLAN_OLD(name, kind, old) { #name, kind, offsetof(struct plan, name), CAME_LATER, NULL, 0, old }
#define PLAN_CELL(name, kind, cell) \
	{ #name, kind, offsetof(struct plan, name), CAME_LATER, NULL, offsetof(struct profile, cell), 0 }
#define PLAN_CHOICE(name, choices) \
	{ #name, MEMBER_CHOICE, offsetof(struct plan, name), CAME_LATER, choices, offsetof(struct profile, name), 0 }
#define PLAN_CHOICE_0(name, rule, choices) { #name, MEMBER_CHOICE, offsetof(struct plan, name), rule, choices, 0, 0 }
#define PLAN_CHOICE_OLD(name, choices, old) \
	{ #name, MEMBER_CHOICE, offsetof(struct plan, name), CAME_LATER, choices, 0, old }
static const struct member plan_members[] = {
	PLAN(review, MEMBER_BOOL, NEVER_NULL),
	PLAN(skip_reason, MEMBER_TEXT, MAY_BE_NULL),
	PLAN_CHOICE_OLD(skip_kind, &skip_kind_names, SKIP_NOTHING),
	PLAN(skipped, MEMBER_BOOL, CAME_LATER),
	PLAN(profile, MEMBER_PROFILE, NEVER_NULL),
	PLAN(profile_name, MEMBER_TEXT, CAME_LATER),
	PLAN(max_fixes, MEMBER_INT, NEVER_NULL),
	PLAN(stall_limit, MEMBER_INT, NEVER_NULL),
	PLAN(any_round, MEMBER_BOOL, CAME_LATER),
	PLAN_CHOICE(on_malformed, &on_malformed_names),
	{ "malformed_again", MEMBER_CHOICE, offsetof(struct plan, malformed_again), CAME_LATER, &bad_end_names,
	    offsetof(struct profile, on_malformed), 0 },
	PLAN_CHOICE(on_reviewer_error, &bad_end_names),
	PLAN_CHOICE(on_exhausted, &bad_end_names),
	PLAN_CHOICE(fixer, &fixer_names),
	PLAN_CHOICE(scope, &scope_names),
	PLAN_CHOICE(commit, &commit_mode_names),
	PLAN(commit_said, MEMBER_BOOL, CAME_LATER),
	PLAN_CHOICE_OLD(isolation, &isolation_names, ISOLATION_SHARED),
	PLAN_CHOICE_OLD(integrate, &integrate_names, INTEGRATE_NONE),
	PLAN_OLD(parallel, MEMBER_INT, 1),
	PLAN_OLD(iterations, MEMBER_LIMIT, ROW_NONE),
	PLAN_OLD(pause_ms, MEMBER_INT, 0),
	PLAN(rolls, MEMBER_BOOL, CAME_LATER),
	PLAN_CHOICE_OLD(on_failure, &on_failure_names, ON_FAILURE_STOP),
	PLAN_CHOICE_OLD(assign, &assign_names, ASSIGN_DAEMON),
	PLAN(stop_markers, MEMBER_WORDS, CAME_LATER),
	PLAN_CHOICE_OLD(on_no_change, &on_no_change_names, ON_NO_CHANGE_REVIEW),
	PLAN(no_change_markers, MEMBER_WORDS, CAME_LATER),
	PLAN(max_cost_usd, MEMBER_MONEY, CAME_LATER),
	PLAN_OLD(max_tokens, MEMBER_LIMIT, ROW_NONE),
	PLAN_OLD(max_wall_ms, MEMBER_LIMIT, ROW_NONE),
	PLAN(strict_budget, MEMBER_BOOL, CAME_LATER),
	PLAN(base, MEMBER_TEXT, CAME_LATER),
	PLAN_OLD(disk_floor_bytes, MEMBER_INT, 0),
	PLAN_OLD(evidence_age_ms, MEMBER_INT, 0),
	PLAN_CHOICE(strictness, &strictness_names),
	PLAN_CELL(read_only, MEMBER_BOOL, read_only),
	PLAN_CHOICE_0(sandbox, CAME_LATER, &sandbox_names),
	PLAN_CHOICE_0(workspace, CAME_LATER, &review_place_names),
	PLAN_CHOICE_0(room, CAME_LATER, &room_of_names),
	PLAN_CHOICE_0(on_cut, CAME_LATER, &on_cut_names),
	PLAN_CHOICE_0(on_question, CAME_LATER, &on_question_names),
	PLAN(nonce, MEMBER_BOOL, CAME_LATER),
	PLAN_CHOICE_0(silence, CAME_LATER, &silence_names),
	PLAN(checks, MEMBER_WORDS, CAME_LATER),
	PLAN(may_change, MEMBER_WORDS, CAME_LATER),
	PLAN(protect, MEMBER_WORDS, CAME_LATER),
	PLAN(escalate, MEMBER_WORDS, CAME_LATER),
	PLAN(quorum, MEMBER_TEXT, CAME_LATER),
	PLAN(checks_in_room, MEMBER_BOOL, CAME_LATER),
	PLAN(setup, MEMBER_WORDS, CAME_LATER),
	PLAN(copy, MEMBER_WORDS, CAME_LATER),
	PLAN(setup_inputs, MEMBER_WORDS, CAME_LATER),
	PLAN_CHOICE_0(check_on_base, CAME_LATER, &check_on_base_names),
	PLAN(base_beside, MEMBER_BOOL, CAME_LATER),
	PLAN_CHOICE_0(checks_mode, CAME_LATER, &checks_mode_names),
	PLAN(checks_merged, MEMBER_BOOL, CAME_LATER),
	PLAN_CHOICE_0(review_merged, CAME_LATER, &review_merged_names),
	PLAN(guidelines, MEMBER_WORDS, CAME_LATER),
	PLAN(conventions, MEMBER_WORDS, CAME_LATER),
	PLAN_CELL(review_file, MEMBER_TEXT, carrier_file),
	PLAN_CELL(review_log, MEMBER_TEXT, review_log),
	PLAN(reviewer, MEMBER_TEXT, CAME_LATER),
	PLAN(reviewer_sha256, MEMBER_TEXT, CAME_LATER),
	PLAN(report, MEMBER_TEXT, CAME_LATER),
	PLAN(on_hold, MEMBER_WORDS, CAME_LATER),
	PLAN(on_pass, MEMBER_WORDS, CAME_LATER),
	PLAN(on_end, MEMBER_WORDS, CAME_LATER),
	PLAN_CHOICE_0(on_lost, NEVER_NULL, &on_lost_names),
	PLAN_OLD(retries, MEMBER_INT, 5),
	PLAN(developer_prompt, MEMBER_TEXT, MAY_BE_NULL),
	PLAN(reviewer_prompt, MEMBER_TEXT, MAY_BE_NULL),
	PLAN(grace_ms, MEMBER_INT, NEVER_NULL),
	PLAN(output_bytes, MEMBER_INT, NEVER_NULL),
	PLAN(env, MEMBER_WORDS, NEVER_NULL),
	PLAN(labels, MEMBER_WORDS, CAME_LATER),
	PLAN(read_as, MEMBER_WORDS, CAME_LATER),
};

/* In milliseconds; "own" as in struct clocks. */
#define CLOCK(name, member, clock, kind) { name, kind, offsetof(struct clocks, member[clock]), NEVER_NULL, NULL, 0, 0 }
static const struct member clock_members[] = {
	CLOCK("wall_ms", ms, CLOCK_WALL, MEMBER_INT),
	CLOCK("wall_own", own, CLOCK_WALL, MEMBER_BOOL),
	CLOCK("idle_ms", ms, CLOCK_IDLE, MEMBER_INT),
	CLOCK("idle_own", own, CLOCK_IDLE, MEMBER_BOOL),
	CLOCK("post_result_ms", ms, CLOCK_POST_RESULT, MEMBER_INT),
	CLOCK("post_result_own", own, CLOCK_POST_RESULT, MEMBER_BOOL),
};

/* Roles with an agent: a check is a command. */
static const enum role roles[] = { ROLE_IMPLEMENT, ROLE_REVIEW, ROLE_FIX, ROLE_COMMIT };

/* Enums without negative values are unsigned ints. */
_Static_assert(sizeof(enum bad_end) == sizeof(unsigned) &&
    sizeof(enum prompt_via) == sizeof(unsigned), "an enum is an unsigned int");

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Written by hand: a submit would spend more on the objects of a library than on its rows. */

static void text_out(struct buf *out, const char *text)
{
	size_t plain;

	if (text == NULL) {
		buf_adds(out, "null");
		return;
	}
	buf_adds(out, "\"");
	for (; *text != '\0'; text += plain) {
		for (plain = 0; (unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\'; plain++)
			;
		buf_add(out, text, plain);
		if (text[plain] == '\0')
			break;
		buf_addf(out, "\\u%04x", (unsigned char)text[plain++]);
	}
	buf_adds(out, "\"");
}

static void words_out(struct buf *out, char *const *words)
{
	buf_adds(out, "[");
	for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
		buf_adds(out, i > 0 ? "," : "");
		text_out(out, words[i]);
	}
	buf_adds(out, "]");
}

static void number_out(struct buf *out, int64_t number)
{
	char digits[24];

	buf_add(out, digits, (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)number));
}

/* As few digits as the number needs. */
static void money_out(struct buf *out, double money)
{
	json_t *json = json_real(money);
	char *text = json != NULL ? json_dumps(json, JSON_ENCODE_ANY) : NULL;

	buf_adds(out, text != NULL ? text : "null");
	free(text);
	json_decref(json);
}

static void member_out(struct buf *out, const struct member *m, const void *p)
{
	switch (m->kind) {
	case MEMBER_TEXT:
		text_out(out, *(char *const *)p);
		return;
	case MEMBER_WORDS:
		words_out(out, *(char **const *)p);
		return;
	case MEMBER_LIMIT:
		if (*(const int64_t *)p == ROW_NONE)
			buf_adds(out, "null");
		else
			number_out(out, *(const int64_t *)p);
		return;
	case MEMBER_INT:
		number_out(out, *(const int64_t *)p);
		return;
	case MEMBER_MONEY:
		money_out(out, *(const double *)p);
		return;
	case MEMBER_BOOL:
		buf_adds(out, *(const bool *)p ? "true" : "false");
		return;
	case MEMBER_CHOICE:
		text_out(out, state_name(m->choices, (int)*(const unsigned *)p));
		return;
	case MEMBER_PROFILE:
		text_out(out, (*(const struct profile *const *)p)->name);
		return;
	}
	abort();
}

static void name_out(struct buf *out, const char *name, bool first)
{
	buf_adds(out, first ? "\"" : ",\"");
	buf_adds(out, name);
	buf_adds(out, "\":");
}

/* Without its braces. */
static void members_out(struct buf *out, const struct member *members, size_t count, const void *base)
{
	for (size_t i = 0; i < count; i++) {
		name_out(out, members[i].name, i == 0);
		member_out(out, &members[i], (const char *)base + members[i].offset);
	}
}

static void agents_out(struct buf *out, const struct agent_plan *agents, size_t count, bool with_fallbacks);

/* A fallback has none itself. */
static void agent_out(struct buf *out, const struct agent_plan *agent, bool with_fallbacks)
{
	buf_adds(out, "{");
	members_out(out, agent_members, COUNT(agent_members), agent);
	if (with_fallbacks) {
		name_out(out, "fallbacks", false);
		agents_out(out, agent->fallbacks, agent->nfallbacks, false);
	}
	buf_adds(out, "}");
}

static void agents_out(struct buf *out, const struct agent_plan *agents, size_t count, bool with_fallbacks)
{
	buf_adds(out, "[");
	for (size_t i = 0; i < count; i++) {
		buf_adds(out, i > 0 ? "," : "");
		agent_out(out, &agents[i], with_fallbacks);
	}
	buf_adds(out, "]");
}

char *plan_to_json(const struct plan *plan)
{
	struct buf out = { 0 };

	buf_adds(&out, "{\"reviewers\":");
	agents_out(&out, plan->reviewers, plan->nreviewers, true);
	buf_adds(&out, ",\"agents\":{");
	for (size_t i = 0; i < COUNT(roles); i++) {
		name_out(&out, state_name(&role_names, (int)roles[i]), i == 0);
		agent_out(&out, &plan->agents[roles[i]], true);
	}
	buf_adds(&out, "},\"clocks\":{");
	for (int role = 0; role < ROLES; role++) {
		name_out(&out, state_name(&role_names, role), role == 0);
		buf_adds(&out, "{");
		members_out(&out, clock_members, COUNT(clock_members), &plan->clocks[role]);
		buf_adds(&out, "}");
	}
	buf_adds(&out, "},");
	members_out(&out, plan_members, COUNT(plan_members), plan);
	buf_adds(&out, "}");
	return buf_take(&out, NULL);
}

/* Of a struct that was copied: what it points to as well. */
static void copy_members(const struct member *members, size_t count, void *base)
{
	for (size_t i = 0; i < count; i++) {
		void *p = (char *)base + members[i].offset;

		if (members[i].kind == MEMBER_TEXT)
			*(char **)p = xstrdup(*(char **)p);
		else if (members[i].kind == MEMBER_WORDS && *(char ***)p != NULL)
			*(char ***)p = strings_copy(*(char ***)p);
	}
}

static void copy_agents(struct agent_plan **agents, size_t count)
{
	struct agent_plan *copies = xcalloc(count, sizeof(*copies));

	for (size_t i = 0; i < count; i++) {
		copies[i] = (*agents)[i];
		copy_members(agent_members, COUNT(agent_members), &copies[i]);
		copy_agents(&copies[i].fallbacks, copies[i].nfallbacks);
	}
	*agents = copies;
}

void plan_copy(struct plan *to, const struct plan *from)
{
	*to = *from;
	copy_members(plan_members, COUNT(plan_members), to);
	for (int role = 0; role < ROLES; role++) {
		copy_members(agent_members, COUNT(agent_members), &to->agents[role]);
		copy_agents(&to->agents[role].fallbacks, to->agents[role].nfallbacks);
	}
	copy_agents(&to->reviewers, to->nreviewers);
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

/* Value of a member that an older plan does not have. */
static void member_default(const struct member *m, const struct profile *profile, void *p)
{
	const void *cell = m->cell == 0 ? NULL : (const char *)profile + m->cell;

	switch (m->kind) {
	case MEMBER_TEXT:
		*(char **)p = cell == NULL ? NULL : xstrdup(*(const char *const *)cell);
		break;
	case MEMBER_WORDS:
		*(char ***)p = xcalloc(1, sizeof(char *));
		break;
	case MEMBER_BOOL:
		*(bool *)p = cell != NULL && *(const int64_t *)cell != 0;
		break;
	case MEMBER_CHOICE:
		*(unsigned *)p = cell == NULL ? (unsigned)m->old : (unsigned)*(const int64_t *)cell;
		break;
	case MEMBER_INT:
	case MEMBER_LIMIT:
		*(int64_t *)p = m->old;
		break;
	case MEMBER_MONEY:
		*(double *)p = NAN;
		break;
	case MEMBER_PROFILE:
		abort();
	}
}

/* 0, or -1 for a value of the wrong type; plan_release() frees what was made. */
static int member_in(const struct member *m, const json_t *json, void *p)
{
	int value;

	if (json == NULL || (json_is_null(json) && m->rule == NEVER_NULL))
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
	case MEMBER_LIMIT:
		*(int64_t *)p = json_is_null(json) ? ROW_NONE : json_integer_value(json);
		return json_is_integer(json) || json_is_null(json) ? 0 : -1;
	case MEMBER_MONEY:
		*(double *)p = json_is_null(json) ? (double)NAN : json_number_value(json);
		return json_is_number(json) || json_is_null(json) ? 0 : -1;
	case MEMBER_BOOL:
		*(bool *)p = json_is_true(json);
		return json_is_boolean(json) ? 0 : -1;
	case MEMBER_CHOICE:
		if (json_is_string(json))
			value = state_value(m->choices, json_string_value(json));
		else
			value = json_is_null(json) && m->choices->names[0] == NULL ? 0 : -1;
		*(unsigned *)p = value == -1 ? 0 : (unsigned)value;
		return value == -1 ? -1 : 0;
	case MEMBER_PROFILE:
		*(const struct profile **)p = json_is_string(json) ? profile_find(json_string_value(json)) : NULL;
		return *(const struct profile **)p != NULL ? 0 : -1;
	}
	abort();
}

/* profile: set once it has been read; NULL: no defaults from a profile. */
static int object_in(const json_t *object, const struct member *members, size_t count,
    const struct profile *const *profile, void *base)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *json = json_object_get(object, members[i].name);
		void *p = (char *)base + members[i].offset;

		if (json == NULL && members[i].rule == CAME_LATER)
			member_default(&members[i], profile != NULL ? *profile : NULL, p);
		else if (member_in(&members[i], json, p) == -1)
			return -1;
	}
	return 0;
}

static int one_agent_in(const json_t *object, struct agent_plan *agent)
{
	int rv = object_in(object, agent_members, COUNT(agent_members), NULL, agent);

	if (rv == 0 && agent->account == NULL)
		agent->account = xstrdup(agent->name);
	return rv == 0 && agent->command[0] == NULL ? -1 : rv;
}

static int agent_in(const json_t *object, struct agent_plan *agent)
{
	const json_t *fallbacks = json_object_get(object, "fallbacks"), *fallback;
	int rv = fallbacks != NULL && !json_is_array(fallbacks) ? -1 : one_agent_in(object, agent);
	size_t i;

	json_array_foreach(fallbacks, i, fallback) {
		if (rv == -1)
			break;
		agent->fallbacks = xreallocarray(agent->fallbacks, i + 1, sizeof(*agent->fallbacks));
		agent->fallbacks[i] = (struct agent_plan){ 0 };
		agent->nfallbacks = i + 1;
		rv = one_agent_in(fallback, &agent->fallbacks[i]);
	}
	return rv;
}

/* None in plans of older versions. */
static int reviewers_in(const json_t *object, struct plan *plan)
{
	const json_t *list = json_object_get(object, "reviewers"), *agent;
	size_t i;

	if (list != NULL && !json_is_array(list))
		return -1;
	plan->reviewers = xcalloc(json_array_size(list), sizeof(*plan->reviewers));
	json_array_foreach(list, i, agent) {
		plan->nreviewers++;
		if (agent_in(agent, &plan->reviewers[i]) == -1)
			return -1;
	}
	return 0;
}

/* Whether the values fit together. */
static bool is_whole(const struct plan *plan)
{
	return plan->review == (plan->skip_reason == NULL) &&
	    plan->review == (plan->skip_kind == SKIP_NOTHING) && strings_count(plan->guidelines) % 2 == 0;
}

/* Older plans had only these three time limits, for all roles and without post_result. */
static int old_clocks_in(const json_t *object, struct clocks *clocks)
{
	static const char *const names[] = { "timeout_ms", "review_timeout_ms", "idle_timeout_ms" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (!json_is_integer(json_object_get(object, names[i])))
			return -1;
	for (int role = 0; role < ROLES; role++) {
		clocks[role].ms[CLOCK_WALL] =
		    json_integer_value(json_object_get(object, names[role == ROLE_REVIEW ? 1 : 0]));
		clocks[role].ms[CLOCK_IDLE] = json_integer_value(json_object_get(object, names[2]));
	}
	return 0;
}

static int clocks_in(const json_t *object, struct plan *plan)
{
	const json_t *clocks = json_object_get(object, "clocks");
	int rv = 0;

	if (clocks == NULL)
		return old_clocks_in(object, plan->clocks);
	for (int role = 0; role < ROLES && rv == 0; role++) {
		const json_t *clock = json_object_get(clocks, state_name(&role_names, role));

		/* a role that came later */
		if (clock == NULL && role == ROLE_SETUP)
			clock = json_object_get(clocks, state_name(&role_names, ROLE_IMPLEMENT));
		rv = object_in(clock, clock_members, COUNT(clock_members), NULL, &plan->clocks[role]);
	}
	return rv;
}

int plan_from_json(const char *json, struct plan *plan)
{
	json_t *object = json_loads(json, JSON_REJECT_DUPLICATES, NULL), *agents = json_object_get(object, "agents");
	int rv;

	*plan = (struct plan){ 0 };
	rv = object_in(object, plan_members, COUNT(plan_members), &plan->profile, plan);
	if (rv == 0)
		rv = clocks_in(object, plan);
	for (size_t i = 0; rv == 0 && i < COUNT(roles); i++) {
		const json_t *agent = json_object_get(agents, state_name(&role_names, (int)roles[i]));

		/* a role that came later */
		if (agent == NULL && roles[i] == ROLE_COMMIT)
			agent = json_object_get(agents, state_name(&role_names, ROLE_IMPLEMENT));
		rv = agent_in(agent, &plan->agents[roles[i]]);
	}
	if (rv == 0)
		rv = reviewers_in(object, plan);
	json_decref(object);
	if (rv == 0 && plan->profile_name == NULL)
		plan->profile_name = xstrdup(plan->profile->name);
	/* older plans had only the sentence */
	if (rv == 0 && plan->skip_reason != NULL && plan->skip_kind == SKIP_NOTHING)
		plan->skip_kind = SKIP_OTHER;
	if (rv == 0 && !is_whole(plan))
		rv = -1;
	if (rv == -1)
		plan_release(plan);
	return rv;
}
