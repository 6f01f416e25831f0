/* SPDX-License-Identifier: MIT */
/* Panels: every combination of votes and quorums of up to four reviewers, and what is no quorum. */
#include <string.h>

#include "core.h"
#include "core/next_stage.h"
#include "core/quorum.h"
#include "core/profile.h"
#include "proto/memory.h"

START_TEST(test_quorum)
{
	static const struct { const char *text; int64_t of1, of2, of3, of4, of9; } rows[] = {
		{ NULL, 1, 2, 3, 4, 9 }, { "all", 1, 2, 3, 4, 9 }, { "majority", 1, 2, 2, 3, 5 },
		{ "1", 1, 1, 1, 1, 1 }, { "2", 2, 2, 2, 2, 2 }, { "12", 12, 12, 12, 12, 12 },
		{ "", -1, -1, -1, -1, -1 }, { "0", -1, -1, -1, -1, -1 }, { "-1", -1, -1, -1, -1, -1 },
		{ "01", -1, -1, -1, -1, -1 }, { "2x", -1, -1, -1, -1, -1 }, { "most", -1, -1, -1, -1, -1 },
		{ " 2", -1, -1, -1, -1, -1 }, { "99999999999999999999", -1, -1, -1, -1, -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(panel_quorum(rows[i].text, 1), rows[i].of1);
		ck_assert_int_eq(panel_quorum(rows[i].text, 2), rows[i].of2);
		ck_assert_int_eq(panel_quorum(rows[i].text, 3), rows[i].of3);
		ck_assert_int_eq(panel_quorum(rows[i].text, 4), rows[i].of4);
		ck_assert_int_eq(panel_quorum(rows[i].text, PANEL_MAX), rows[i].of9);
	}
}
END_TEST

/* What the votes come to, said otherwise than in the daemon. */
static enum vote expected(const enum vote *votes, size_t count, int64_t quorum, const struct plan *plan)
{
	size_t seen[VOTES] = { 0 };
	bool violates = plan->on_malformed == BAD_END_ACCEPT, fails = plan->on_reviewer_error == BAD_END_ACCEPT;
	enum vote first[2] = { VOTES, VOTES };

	for (size_t i = 0; i < count; i++) {
		bool mild = (votes[i] == VOTE_VIOLATION && violates) || (votes[i] == VOTE_ERROR && fails);

		seen[votes[i]]++;
		if (votes[i] > VOTE_FINDINGS && first[mild] == VOTES)
			first[mild] = votes[i];
	}
	if (seen[VOTE_AWAITED] > 0)
		return VOTE_AWAITED;
	/* what ends the task precedes what holds it */
	for (size_t i = 0; i < count; i++)
		if (votes[i] == VOTE_FAILED || (votes[i] == VOTE_VIOLATION && plan->on_malformed == BAD_END_FAIL) ||
		    (votes[i] == VOTE_ERROR && plan->on_reviewer_error == BAD_END_FAIL))
			return votes[i];
	/* and what is accepted counts for a pass only as far as the quorum goes */
	if (first[0] == VOTES && first[1] != VOTES && (int64_t)(count - seen[VOTE_FINDINGS]) < quorum)
		return VOTE_FINDINGS;
	for (int mild = 0; mild < 2; mild++)
		if (first[mild] != VOTES)
			return first[mild];
	return (int64_t)seen[VOTE_PASS] >= quorum ? VOTE_PASS : VOTE_FINDINGS;
}

static void every_panel(enum bad_end malformed, enum bad_end failed)
{
	struct plan plan = { .review = true, .profile = profile_find("verdict"), .on_malformed = malformed,
	    .on_reviewer_error = failed };
	enum vote votes[4];

	for (size_t count = 1; count <= 4; count++) {
		size_t all = 1;

		for (size_t i = 0; i < count; i++)
			all *= VOTES;
		for (size_t n = 0; n < all; n++) {
			bool sound = true;
			int64_t passes = 0;

			for (size_t i = 0, rest = n; i < count; i++, rest /= VOTES) {
				votes[i] = (enum vote)(rest % VOTES);
				sound &= vote_is_verdict(votes[i]);
				passes += votes[i] == VOTE_PASS;
			}
			for (int64_t quorum = 1; quorum <= (int64_t)count + 1; quorum++) {
				enum vote decided = panel_decide(votes, count, quorum, &plan);

				ck_assert_int_eq(decided, expected(votes, count, quorum, &plan));
				ck_assert(decided != VOTE_PASS || (sound && passes >= quorum));
			}
			/* nothing passes for want of a quorum */
			ck_assert_int_ne(panel_decide(votes, count, 0, &plan), VOTE_PASS);
			ck_assert_int_ne(panel_decide(votes, count, -1, &plan), VOTE_PASS);
		}
	}
}

START_TEST(test_every_panel)
{
	static const enum bad_end policies[] = { BAD_END_FAIL, BAD_END_HOLD, BAD_END_ACCEPT };

	for (int i = 0; i < 9; i++)
		every_panel(policies[i / 3], policies[i % 3]);
}
END_TEST

START_TEST(test_policy)
{
	struct plan plan = { .review = true, .profile = profile_find("verdict"), .on_malformed = BAD_END_ASK,
	    .malformed_again = BAD_END_HOLD, .on_reviewer_error = BAD_END_KNOWN_ISSUES };

	ck_assert_int_eq(vote_policy(&plan, VOTE_VIOLATION, false), BAD_END_HOLD);
	ck_assert_int_eq(vote_policy(&plan, VOTE_ERROR, false), BAD_END_KNOWN_ISSUES);
	ck_assert_int_eq(vote_policy(&plan, VOTE_ERROR, true), BAD_END_HOLD);
	ck_assert_int_eq(vote_policy(&plan, VOTE_HELD, false), BAD_END_HOLD);
	ck_assert_int_eq(vote_policy(&plan, VOTE_FAILED, false), BAD_END_FAIL);
	ck_assert_int_eq(vote_policy(&plan, VOTE_PASS, true), BAD_ENDS);
	ck_assert_int_eq(vote_policy(&plan, VOTE_FINDINGS, false), BAD_ENDS);
	ck_assert_int_eq(vote_policy(&plan, VOTE_AWAITED, false), BAD_ENDS);
}
END_TEST

START_TEST(test_plan_of_a_reviewer)
{
	struct plan plan = { .review = true };
	static const char *const names[] = { "a", "b", "c" };

	plan.agents[ROLE_REVIEW].name = strdup("a");
	plan.reviewers = calloc(3, sizeof(*plan.reviewers));
	for (; plan.nreviewers < 3; plan.nreviewers++)
		plan.reviewers[plan.nreviewers].name = strdup(names[plan.nreviewers]);
	ck_assert(plan_has_panel(&plan));
	plan_take_reviewer(&plan, "b");
	ck_assert_str_eq(plan.agents[ROLE_REVIEW].name, "b");
	ck_assert(!plan_has_panel(&plan) && plan.reviewers == NULL);
	plan_take_reviewer(&plan, "c");
	ck_assert_str_eq(plan.agents[ROLE_REVIEW].name, "b");
	plan_release(&plan);
}
END_TEST

/* The panel has the place of the review, after the checks. */
START_TEST(test_stages)
{
	struct plan plan = { .review = true, .nreviewers = 2, .workspace = REVIEW_IN_ROOM, .checks_in_room = true };
	struct measure_facts measured = { .implement = true };

	ck_assert_int_eq(stage_after_measure(&plan, &measured), SLOT_S_PANEL);
	ck_assert_int_eq(stage_after_checkout(&plan, 0, false), SLOT_S_PANEL);
	strings_append(&plan.checks, "make test");
	ck_assert_int_eq(stage_after_measure(&plan, &measured), SLOT_S_CHECKOUT);
	ck_assert_int_eq(stage_after_checkout(&plan, 0, false), SLOT_S_CHECKING);
	measured.checked = true;
	ck_assert_int_eq(stage_after_measure(&plan, &measured), SLOT_S_PANEL);
	ck_assert_int_eq(stage_after_checkout(&plan, 1, false), SLOT_S_PANEL);
	ck_assert_int_eq(stage_after_checkout(&plan, 1, true), SLOT_S_MERGING);
	strings_append(&plan.setup, "make deps");
	ck_assert_int_eq(stage_after_checkout(&plan, 0, false), SLOT_S_PREPARING);
	ck_assert_int_eq(stage_after_checkout(&plan, 1, false), SLOT_S_PANEL);
	strings_free(plan.setup);
	plan.setup = NULL;
	plan.nreviewers = 0;
	ck_assert_int_eq(stage_after_measure(&plan, &measured), SLOT_S_CHECKOUT);
	strings_free(plan.checks);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { test_quorum, test_every_panel, test_policy, test_plan_of_a_reviewer,
	    test_stages };

	return RUN_SUITE("quorum", tests);
}
