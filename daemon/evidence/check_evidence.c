/* SPDX-License-Identifier: MIT */
#include "evidence/check_evidence.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "core/plan.h"
#include "evidence/evidence.h"
#include "evidence/product.h"
#include "evidence/setup_key.h"
#include "job/kept_environment.h"
#include "model/evidence_read.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "txn/txn.h"

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_text(struct buf *b, const char *text)
{
	buf_addf(b, "%zu:%s,", text != NULL ? strlen(text) : 0, text != NULL ? text : "");
}

static void add_list(struct buf *b, char **list)
{
	size_t count = strings_count(list);

	if (count > 0)
		qsort(list, count, sizeof(*list), compare_text);
	for (size_t i = 0; i < count; i++)
		add_text(b, list[i]);
	add_text(b, NULL);
}

/* The environment of a check of the slot: what was sent, what the daemon has (parts of it pass, if
 * nothing was sent), and what the settings add. */
static void environment_hash(const struct slot *slot, const char *command, char hex[DIGEST_HEX])
{
	const struct run_row *run = &slot->run->rows->run;
	const struct task_row *task = slot_task(slot);
	char *error = NULL, **own = environment_load(slot->run->engine->state_dir, NULL, NULL, &error);
	char **set = strings_copy(slot_plan(slot)->env);
	struct buf b = { 0 };

	add_text(&b, run->environment);
	if (run->subdir != NULL && run->subdir[0] != '\0')
		add_text(&b, run->subdir);
	add_list(&b, own);
	add_list(&b, set);
	if (check_is_of_task(command)) {
		add_text(&b, slot_task_id(slot));
		add_text(&b, task != NULL ? task->title : NULL);
		buf_addf(&b, "%lld,", task != NULL ? (long long)task->size : -1);
		add_text(&b, slot->row->base_commit != NULL ? slot->row->base_commit : run->base_commit);
		add_text(&b, slot_base_tree(slot));
	}
	digest_hex(b.data, b.size, hex);
	buf_release(&b);
	strings_free(own);
	strings_free(set);
	free(error);
}

/* It is about the base: its product, if that is the run's. */
static void set_base(struct txn *txn, const struct slot *slot, struct evidence_row *row)
{
	const struct run_row *run = &slot->run->rows->run;
	bool of_run = object_is(slot_base_tree(slot), run->base_tree);

	row->product = of_run && slot_checks_room(slot) ? product_base(txn, slot->run) : ROW_NONE;
	text_set(&row->tree, slot_checks_room(slot) ? slot_base_tree(slot) : NULL);
}

void evidence_check(struct txn *txn, const struct slot *slot, const struct attempt_row *a, enum evidence_result result)
{
	struct evidence_row *row = evidence_new(slot, EVIDENCE_CHECK, a->agent, result);
	char hex[DIGEST_HEX];

	if (slot->row->base == BASE_CHECKING)
		set_base(txn, slot, row);
	environment_hash(slot, a->agent, hex);
	row->env_hash = xstrdup(hex);
	row->setup_hash = setup_hash(slot);
	row->room = judged_in(slot, slot_checks_room(slot));
	row->attempt = a->id;
	row->exit_code = a->exit_code;
	row->output_hash = xstrdup(a->output_hash);
	evidence_append(txn, slot->run, row);
}

/* What makes a check the same. */
struct check_key {
	const char *tree, *command;
	/* the only task whose room, if it is reused, is the one of the slot; NULL: none */
	const char *reuses;
	char *setup_hash;		/* owned */
	char env_hash[DIGEST_HEX];
};

/* In a clean room, or in the one that the slot has: what is known of other runs names no task. */
static bool fits_room(const struct evidence_row *e, const struct check_key *key)
{
	return e->room != JUDGED_IN_REUSED_ROOM || (key->reuses != NULL && text_equal(e->task_id, key->reuses));
}

/* It ran, here or in the row that it names. */
static bool fits(const struct evidence_row *e, const struct check_key *key)
{
	return e->kind == EVIDENCE_CHECK && (e->attempt != ROW_NONE || e->from_attempt != ROW_NONE) &&
	    object_is(e->tree, key->tree) && strcmp(e->subject, key->command) == 0 &&
	    fits_room(e, key) && text_equal(e->setup_hash, key->setup_hash) && text_equal(e->env_hash, key->env_hash);
}

/* Without that, nobody knows what the room of a check will have. */
static bool knows_copies(const struct slot *slot)
{
	return strings_count(slot_plan(slot)->copy) == 0 || slot->row->copied_hash != NULL;
}

/* The first row from *at on that is about the check, and in *at the place after it; NULL: none.
 * Rows of the run itself come before those of others, newer before older ones. */
static const struct evidence_row *next_row(const struct slot *slot, const struct check_key *key, size_t *at)
{
	const struct run_rows *rows = slot->run->rows;

	while (*at < rows->nevidence + slot->nknown) {
		const struct evidence_row *e = *at < rows->nevidence ? rows->evidence[rows->nevidence - 1 - *at] :
		    slot->known[*at - rows->nevidence];

		++*at;
		if (fits(e, key))
			return e;
	}
	return NULL;
}

/* The newest row about the command on tree, so that what was flaky since is run again; NULL: none.
 * *before: the one before it. */
static const struct evidence_row *newest(const struct slot *slot, const char *tree, const char *command,
    const struct evidence_row **before)
{
	struct check_key key = { .tree = tree, .command = command, .setup_hash = setup_hash(slot),
	    .reuses = slot_reuses_room(slot) ? slot_task_id(slot) : NULL };
	const struct evidence_row *found;
	size_t at = 0;

	*before = NULL;
	if (!knows_copies(slot)) {
		free(key.setup_hash);
		return NULL;
	}
	environment_hash(slot, command, key.env_hash);
	found = next_row(slot, &key, &at);
	*before = next_row(slot, &key, &at);
	free(key.setup_hash);
	return found;
}

/* The green run of the command on tree that stands for another; NULL: none. */
static const struct evidence_row *known(const struct slot *slot, const char *tree, const char *command)
{
	const struct evidence_row *before, *found = newest(slot, tree, command, &before);

	return found != NULL && found->result == EVIDENCE_GREEN ? found : NULL;
}

/* It is no evidence: nothing ran, or it was chance what another run saw. */
static bool is_vague(const struct slot *slot, const struct evidence_row *e)
{
	bool elsewhere = e->from_run != ROW_NONE && e->from_run != slot->run->rows->run.id;

	return e->result == EVIDENCE_VOID || (e->result == EVIDENCE_FLAKY && elsewhere);
}

/* A check has failed when it failed twice: a red row that reuses another stands for both. */
const struct evidence_row *check_on_base(const struct slot *slot, const char *command)
{
	const struct evidence_row *before, *found = newest(slot, slot_base_tree(slot), command, &before);

	if (found == NULL || is_vague(slot, found))
		return NULL;
	if (found->result != EVIDENCE_RED || found->attempt == ROW_NONE)
		return found;
	return before != NULL && before->result == EVIDENCE_RED && before->from_run == found->from_run ? found : NULL;
}

int64_t checks_count(const struct slot *slot)
{
	char **checks = slot_plan(slot)->checks;
	int64_t count = (int64_t)strings_count(checks);

	if (slot->row->base == BASE_CHECKING && slot_has_work(slot)) {
		const char *failed = run_attempt(slot->run, slot->row->failed_check)->agent;

		for (int64_t i = 0; i < count; i++)
			if (strcmp(checks[i], failed) == 0)
				return i + 1;
	}
	return count;
}

/* What is known of the next check in the slot's place, so that it need not run there. On the base,
 * a red one ends the run before the work, and is run for that; after it, its word is all that
 * counts. */
static const struct evidence_row *known_in_place(const struct slot *slot, const char *tree, const char *command)
{
	bool base = slot->row->base == BASE_CHECKING && (slot_has_work(slot) || slot_is_baseline(slot));

	return base ? check_on_base(slot, command) : known(slot, tree, command);
}

int64_t checks_known(const struct slot *slot, const char *tree, int64_t check)
{
	char **checks = slot_plan(slot)->checks;
	int64_t count = checks_count(slot);

	if (!slot_checks_room(slot))
		return check;
	while (check < count && !(slot_is_baseline(slot) && check_is_of_task(checks[check])) &&
	    known_in_place(slot, tree, checks[check]) != NULL)
		check++;
	/* the baseline knows no task, and what those behind this one need */
	return check < count && slot_is_baseline(slot) && check_is_of_task(checks[check]) ? count : check;
}

/* found: what stands for the check. */
static void reuse(struct txn *txn, struct slot *slot, int64_t check, bool base, const struct evidence_row *found)
{
	const char *command = slot_plan(slot)->checks[check];
	enum evidence_result result = (enum evidence_result)found->result;
	struct evidence_row *row = evidence_new(slot, EVIDENCE_CHECK, command, result);

	if (base)
		set_base(txn, slot, row);
	row->room = found->room;
	row->setup_hash = xstrdup(found->setup_hash);
	row->env_hash = xstrdup(found->env_hash);
	row->from_run = found->from_run != ROW_NONE ? found->from_run : found->run;
	row->from_attempt = found->from_run != ROW_NONE ? found->from_attempt :
	    run_attempt(slot->run, found->attempt)->number;
	txn_emit(txn, "check.reused", slot->row->run, json_pack("{s:I, s:s, s:I, s:s, s:s, s:I, s:I}",
	    "slot", (json_int_t)slot->row->slot, "task", slot_task_id(slot), "check", (json_int_t)check + 1,
	    "command", command, "result", state_name(&evidence_result_names, (int)result),
	    "from_run", (json_int_t)row->from_run, "from_attempt", (json_int_t)row->from_attempt));
	evidence_append(txn, slot->run, row);
}

void checks_reuse(struct txn *txn, struct slot *slot, int64_t first, int64_t last)
{
	if (last > first)
		txn_edit_slot(txn, slot)->gap = 1;
	/* the baseline only fills gaps */
	for (int64_t i = first; i < last && !slot_is_baseline(slot); i++)
		reuse(txn, slot, i, slot->row->base == BASE_CHECKING,
		    known_in_place(slot, slot_room_tree(slot), slot_plan(slot)->checks[i]));
}

void check_reuse_base(struct txn *txn, struct slot *slot, int64_t check)
{
	reuse(txn, slot, check, true, check_on_base(slot, slot_plan(slot)->checks[check]));
}

bool checks_ask(struct slot *slot, const char *tree, void (*done)(struct slot *slot))
{
	const struct plan *plan = slot_plan(slot);
	const struct run_row *run = &slot->run->rows->run;
	int64_t now = engine_now(slot->run->engine);

	if (!run_is_recorded(slot->run) || !slot_checks_room(slot) || !knows_copies(slot) ||
	    slot->row->check >= (int64_t)strings_count(plan->checks) ||
	    (plan->evidence_age_ms == 0 && run->retry_of == ROW_NONE))
		return false;
	evidence_read(slot, tree, plan->evidence_age_ms > 0 ? now - plan->evidence_age_ms : INT64_MAX, done);
	return true;
}
