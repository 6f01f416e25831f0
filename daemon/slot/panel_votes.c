/* SPDX-License-Identifier: MIT */
#include "slot/panel_votes.h"

#include <string.h>

#include "core/profile.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "slot/review_rows.h"

const char *panel_word(const struct profile *profile, enum vote vote)
{
	switch (vote) {
	case VOTE_PASS:
		return profile->pass_word;
	case VOTE_FINDINGS:
		return profile->findings_word;
	case VOTE_VIOLATION:
		return REVIEW_VIOLATION;
	case VOTE_ERROR:
	case VOTE_AWAITED:
	case VOTE_HELD:
	case VOTE_FAILED:
	case VOTES:
		break;
	}
	return REVIEW_ERROR;
}

/* VOTES: it is none of these. */
static enum vote vote_of_word(const struct profile *profile, const char *word)
{
	static const enum vote votes[] = { VOTE_PASS, VOTE_FINDINGS, VOTE_VIOLATION, VOTE_ERROR };

	for (size_t i = 0; i < sizeof(votes) / sizeof(votes[0]); i++)
		if (strcmp(word, panel_word(profile, votes[i])) == 0)
			return votes[i];
	return VOTES;
}

static bool counts(const struct slot *slot, const struct review_row *row)
{
	const struct attempt_row *a = run_rows_reviewing(slot->run->rows, row);

	if (!object_is(row->tree, slot->row->tree))
		return false;
	/* what its prompt left out is known of attempts of this run only */
	return a != NULL ? slot_has_attempt(slot, a) : row->from_run != ROW_NONE && slot->row->again != 1 &&
	    slot_plan(slot)->on_cut != ON_CUT_HOLD;
}

const struct review_row *panel_vote_row(const struct slot *slot, const char *reviewer)
{
	const struct run_rows *rows = slot->run->rows;
	const struct profile *profile = slot_plan(slot)->profile;
	bool decided = false;

	for (size_t i = rows->nreviews; i > 0; i--) {
		const struct review_row *row = rows->reviews[i - 1];
		enum vote vote = vote_of_word(profile, row->decision);

		if (strcmp(row->task_id, slot_task_id(slot)) != 0)
			continue;
		/* a decision, or that of a human, used them up; one that there was no verdict did
		 * not */
		if (row->reviewer == NULL && (row->votes == NULL || vote_is_verdict(vote)))
			return NULL;
		decided |= row->reviewer == NULL;
		if (row->reviewer == NULL || strcmp(row->reviewer, reviewer) != 0)
			continue;
		return counts(slot, row) && (vote_is_verdict(vote) || (!decided && row->from_run == ROW_NONE)) ?
		    row : NULL;
	}
	return NULL;
}

const struct review_row *panel_verdict(const struct slot *slot, const char *reviewer)
{
	const struct review_row *row = panel_vote_row(slot, reviewer);

	return row != NULL && vote_is_verdict(vote_of_word(slot_plan(slot)->profile, row->decision)) ? row : NULL;
}

const struct slot_row *panel_voter(const struct slot *slot, const char *reviewer)
{
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->iteration == slot->row->iteration && rows->slots[i]->voter_of == slot->row->slot &&
		    strcmp(rows->slots[i]->reviewer, reviewer) == 0)
			return rows->slots[i];
	return NULL;
}

enum vote panel_vote_of(const struct slot *slot, const char *reviewer)
{
	const struct slot_row *voter = panel_voter(slot, reviewer);
	const struct review_row *row = panel_vote_row(slot, reviewer);

	if (row != NULL)
		return vote_of_word(slot_plan(slot)->profile, row->decision);
	if (voter != NULL && voter->stage == SLOT_S_HELD)
		return VOTE_HELD;
	return voter != NULL && voter->stage == SLOT_S_FAILED ? VOTE_FAILED : VOTE_AWAITED;
}

bool panel_was_lost(const struct slot *slot, const char *reviewer, enum role role)
{
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = rows->nattempts; i > 0; i--) {
		const struct attempt_row *a = rows->attempts[i - 1];

		if (slot_has_attempt(slot, a) && text_equal(a->reviewer, reviewer) &&
		    (a->role == ROLE_REVIEW || a->role == ROLE_SETUP))
			return a->role == (int64_t)role && a->state == ATTEMPT_S_LOST &&
			    (role == ROLE_SETUP || a->round == slot->row->round);
	}
	return false;
}
