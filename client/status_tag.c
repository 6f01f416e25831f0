/* SPDX-License-Identifier: MIT */
#include "client/status_tag.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/run_view.h"
#include "proto/kinds.h"
#include "proto/memory.h"

struct tag_facts {
	const json_t *run, *slot, *attempt;
	const char *task;	/* its subject, for a sentence; "" if there is none */
	int64_t events;
};

char *status_tag_name(int64_t slot)
{
	if (slot == SLOT_BASELINE)
		return xstrdup("base");
	return slot == 0 ? xstrdup("all") : xasprintf("A%lld", (long long)slot);
}

/* The cause, otherwise the reason, otherwise "". */
static char *tag_why(const struct tag_facts *l)
{
	return cell_why(l->slot, NULL);
}

/* Round 0: the tree is measured for a commit without a review. */
static bool is_reviewed(const struct tag_facts *l)
{
	return field_count(l->slot, "round") > 0;
}

static char *tag_reviewing(const struct tag_facts *l)
{
	return *l->task == '\0' ? xstrdup("reviewing") : xasprintf("reviewing %s", l->task);
}

static char *tag_fixing(const struct tag_facts *l)
{
	return xasprintf("fix attempt %lld%s%s", field_count(l->slot, "fix"), *l->task == '\0' ? "" : " for ", l->task);
}

static char *tag_checking(const struct tag_facts *l)
{
	const char *command = field_is(l->attempt, "role", "check") ? field_text(l->attempt, "agent") : "";

	return xasprintf("check %lld%s%s%s%s", field_count(l->slot, "check"), *l->task == '\0' ? "" : " for ", l->task,
		*command == '\0' ? "" : ": ", command);
}

static char *tag_setting_up(const struct tag_facts *l)
{
	const char *command = field_is(l->attempt, "role", "setup") ? field_text(l->attempt, "agent") : "";

	return xasprintf("setup%s%s%s%s", *l->task == '\0' ? "" : " for ", l->task,
	    *command == '\0' ? "" : ": ", command);
}

/* Whether the slot has its commit: what is in progress is the merge with the other tasks. */
static bool is_merged(const struct tag_facts *l)
{
	return *field_text(l->slot, "commit") != '\0' && *field_text(l->run, "result_branch") != '\0';
}

static char *tag_merging(const struct tag_facts *l)
{
	return xasprintf("merging %s", l->task);
}

static char *tag_committing(const struct tag_facts *l)
{
	return xasprintf("committing %s", l->task);
}

/* The slot is done, its task is not. */
static bool has_stopped(const struct tag_facts *l)
{
	return field_is(l->attempt, "outcome", "stop-marker");
}

/* Including the moment when its output is read. */
static bool tag_runs(const struct tag_facts *l)
{
	return l->attempt != NULL && !field_is(l->attempt, "state", "starting");
}

static bool has_said_something(const struct tag_facts *l)
{
	return tag_runs(l) && l->events > 0;
}

static char *tag_working(const struct tag_facts *l)
{
	if (*l->task != '\0')
		return xasprintf("working on %s", l->task);
	return xstrdup(field_is(l->run, "assign", "agent") ? "picking a bead" : "working");
}

static bool has_task(const json_t *slot)
{
	return *field_text(slot, "task") != '\0';
}

/* If agents pick their tasks, they start one after the other: the nearest earlier slot that has
 * picked, or the first that still has to. NULL: none. */
static const json_t *slot_before(const struct tag_facts *l, bool picked)
{
	const json_t *slots = field_array(l->run, "slots"), *found = NULL;

	for (size_t i = 0; field_is(l->run, "assign", "agent") && i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i);

		if (field_count(slot, "slot") == 0 || field_count(slot, "slot") >= field_count(l->slot, "slot"))
			continue;
		if (picked && has_task(slot))
			found = slot;
		else if (!picked && found == NULL && !has_task(slot) && !view_is_over(slot))
			found = slot;
	}
	return found;
}

/* The agent is about to start, or has just ended. */
static char *tag_spawning(const struct tag_facts *l)
{
	const json_t *before = slot_before(l, true);

	if (!has_task(l->slot) && before != NULL)
		return xasprintf("launching after A%lld picked %s", field_count(before, "slot"),
		    field_text(before, "task"));
	return xasprintf("launching%s%s", *l->task == '\0' ? "" : " for ", l->task);
}

static bool is_paused(const struct tag_facts *l)
{
	return field_is(l->run, "state", "paused") || field_true(l->run, "paused");
}

static char *tag_nothing(const struct tag_facts *l)
{
	(void)l;
	return xstrdup("");
}

/* Why the slot has no permit. */
static const char *tag_reason(const struct tag_facts *l)
{
	return *field_text(l->slot, "reason") != '\0' ? field_text(l->slot, "reason") : field_text(l->run, "reason");
}

static bool is_queued(const struct tag_facts *l)
{
	enum wait_kind kind = field_wait_kind(*field_text(l->slot, "reason") != '\0' ? l->slot : l->run);

	return field_is(l->run, "state", "queued") || kind == WAIT_PERMIT || kind == WAIT_GROUP ||
	    kind == WAIT_WORKSPACE;
}

static char *for_what(const struct tag_facts *l)
{
	return xstrdup(tag_reason(l));
}

static char *tag_waiting(const struct tag_facts *l)
{
	const json_t *before = slot_before(l, false);

	if (!has_task(l->slot) && before != NULL)
		return xasprintf("waiting to spawn until A%lld picked a bead", field_count(before, "slot"));
	if (*field_text(l->slot, "reason") != '\0')
		return xstrdup(field_text(l->slot, "reason"));
	/* it has an answer: it waits after its work, not before it */
	if (field_int(l->slot, "answer") != FIELD_NONE)
		return xasprintf("implemented %s, waiting for the review of the whole run", l->task);
	return *l->task == '\0' ? xstrdup(field_text(l->run, "reason")) : xasprintf("preparing %s", l->task);
}

/* The first row whose phase matches and whose condition holds is used. */
static const struct {
	const char *word;
	enum paint paint;
	const char *phase;			/* NULL: any */
	bool (*holds)(const struct tag_facts *l);	/* NULL: always */
	char *(*text)(const struct tag_facts *l);
	bool counts;
} tags[] = {
	{ "REVIEW", PAINT_CYAN, "reviewing", is_reviewed, tag_reviewing, false },
	{ "FIX", PAINT_YELLOW, "fixing", NULL, tag_fixing, false },
	{ "CHECK", PAINT_CYAN, "checking", NULL, tag_checking, false },
	{ "SETUP", PAINT_CYAN, "setting-up", NULL, tag_setting_up, false },
	{ "MERGE", PAINT_CYAN, "committing", is_merged, tag_merging, false },
	{ "COMMIT", PAINT_CYAN, "committing", NULL, tag_committing, false },
	{ "COMMIT", PAINT_CYAN, "reviewing", NULL, tag_committing, false },
	{ "HELD", PAINT_YELLOW, "held", NULL, tag_why, false },
	{ "COOLING", PAINT_YELLOW, "cooling", NULL, tag_why, false },
	{ "STOPPED", PAINT_YELLOW, "passed", has_stopped, tag_why, false },
	{ "PASSED", PAINT_GREEN, "passed", NULL, tag_why, false },
	{ "FAILED", PAINT_RED, "failed", NULL, tag_why, false },
	{ "CANCELLED", PAINT_DIM, "cancelled", NULL, tag_why, false },
	{ "EVENTS", PAINT_CYAN, "implementing", has_said_something, tag_working, true },
	{ "RUN", PAINT_CYAN, "implementing", tag_runs, tag_working, false },
	{ "SPAWN", PAINT_CYAN, "implementing", NULL, tag_spawning, false },
	{ "PAUSED", PAINT_YELLOW, "waiting", is_paused, tag_nothing, false },
	{ "QUEUED", PAINT_DIM, "waiting", is_queued, for_what, false },
	{ "WAIT", PAINT_DIM, NULL, NULL, tag_waiting, false },
};

void status_tag_of(const json_t *run, const json_t *slot, const json_t *attempt, int64_t events, struct status_tag *tag)
{
	struct tag_facts facts = { run, slot, attempt,
		field_count(slot, "slot") == 0 ? "the whole run" :
		    field_count(slot, "slot") == SLOT_BASELINE ? "the base" : field_text(slot, "task"),
		events };
	size_t i = 0;

	while ((tags[i].phase != NULL && !field_is(slot, "phase", tags[i].phase)) ||
	    (tags[i].holds != NULL && !tags[i].holds(&facts)))
		i++;	/* the last row always matches */
	*tag = (struct status_tag){ tags[i].word, tags[i].counts ? events : FIELD_NONE,
		tags[i].paint, tags[i].text(&facts) };
}

void status_tag_release(struct status_tag *tag)
{
	free(tag->text);
	tag->text = NULL;
}
