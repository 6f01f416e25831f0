/* SPDX-License-Identifier: MIT */
/* What ended attempts and read verdicts mean; findings from round to round; the chain of the review log. */
#include <string.h>

#include "base/memory.h"
#include "core.h"
#include "core/chain.h"
#include "core/findings.h"
#include "core/review.h"

static const struct attempt_facts good = {
	.role = ROLE_IMPLEMENT, .process = PROCESS_EXITED, .provider = PROVIDER_OK, .has_git = true, .review = true, .on_lost = ON_LOST_HOLD,
};

/* Over every combination of facts: only exit 0, no error of its own and a provider that is ok is a success. */
START_TEST(success_needs_positive_evidence)
{
	for (int process = 0; process < PROCESS_RESULTS; process++)
		for (int status = 0; status < 2; status++)
			for (int error = 0; error < 2; error++)
				for (int provider = 0; provider < PROVIDER_RESULTS; provider++)
					for (int role = 0; role < ROLES; role++) {
						struct attempt_facts f = good;
						bool ok = process == PROCESS_EXITED && status == 0 && !error && provider == PROVIDER_OK;
						enum slot_event event;

						f.process = (enum process_result)process;
						f.status = status;
						f.is_error = error;
						f.provider = (enum provider_result)provider;
						f.role = (enum role)role;
						event = attempt_classify(&f);
						ck_assert_int_eq(attempt_succeeded(&f), ok);
						if (process == PROCESS_LOST)
							ck_assert_int_eq(event, SLOT_E_LOST_HOLD);
						else if (!ok)
							ck_assert_int_eq(event, SLOT_E_FAILED);
						else
							ck_assert_int_eq(event, role == ROLE_REVIEW ? SLOT_E_ANSWERED : SLOT_E_DONE);
						ck_assert_int_eq(attempt_outcome(&f), ok ? TASK_R_DONE : TASK_R_FAILED);
					}
}
END_TEST

START_TEST(denied_without_a_tree_to_look_at_fails)
{
	struct attempt_facts f = good;

	f.review = false;
	ck_assert_int_eq(attempt_classify(&f), SLOT_E_DONE_UNREVIEWED);
	f.denied = true;
	ck_assert_int_eq(attempt_outcome(&f), TASK_R_DENIED);
	ck_assert_int_eq(attempt_classify(&f), SLOT_E_DONE);
	f.has_git = false;
	ck_assert_int_eq(attempt_classify(&f), SLOT_E_FAILED);
}
END_TEST

START_TEST(lost_follows_the_policy)
{
	struct attempt_facts f = good;

	f.process = PROCESS_LOST;
	f.on_lost = ON_LOST_RETRY;
	ck_assert_int_eq(attempt_classify(&f), SLOT_E_LOST_RETRY);
	f.losses = LOSSES_MAX - 1;
	ck_assert_int_eq(attempt_classify(&f), SLOT_E_LOST_RETRY);
	f.losses = LOSSES_MAX;
	ck_assert_int_eq(attempt_classify(&f), SLOT_E_LOST_HOLD);
	f.on_lost = ON_LOST_FAIL;
	ck_assert_int_eq(attempt_classify(&f), SLOT_E_LOST_FAIL);
}
END_TEST

static void expect_cause(struct attempt_facts f, int64_t limit, const char *error, const char *want)
{
	char *cause = attempt_cause(&f, limit, error);

	ck_assert_str_eq(cause, want);
	free(cause);
}

START_TEST(causes)
{
	struct attempt_facts f = good;

	f.role = ROLE_REVIEW;
	f.status = 3;
	expect_cause(f, 0, NULL, "reviewer process exited with status 3");
	expect_cause(f, 0, "no such model", "reviewer process exited with status 3: no such model");
	f.role = ROLE_FIX;
	expect_cause(f, 0, NULL, "fixer process exited with status 3");
	f.process = PROCESS_SIGNALLED;
	f.status = 9;
	expect_cause(f, 0, NULL, "fixer process killed by signal 9");
	f.process = PROCESS_TIMEOUT;
	expect_cause(f, 2 * 60 * 60 * 1000, NULL, "fixer process timed out after 2h 00m; limits.timeout in rld.toml sets the limit");
	f.process = PROCESS_IDLE;
	expect_cause(f, 20 * 60 * 1000, NULL, "fixer process printed nothing for 20m 00s; limits.idle_timeout in rld.toml sets the limit");
	f.process = PROCESS_LOST;
	expect_cause(f, 0, "why", "lost: fixer process is gone and its exit cannot be known: why");
	f = good;
	f.is_error = true;
	expect_cause(f, 0, "it says so", "implementer process exited with status 0 but reported an error: it says so");
	f = good;
	f.denied = true;
	expect_cause(f, 0, NULL, "implementer process was denied permissions and changed nothing");
}
END_TEST

/* Over every combination: a pass needs a valid verdict that says so and an unchanged tree. */
START_TEST(every_round_has_one_meaning)
{
	for (int verdict = 0; verdict < 2; verdict++)
		for (int pass = 0; pass < 2; pass++)
			for (int changed = 0; changed < 2; changed++)
				for (int fix = 0; fix < 4; fix++)
					for (int stalled = 0; stalled < 4; stalled++)
						for (int limit = 0; limit < 3; limit++) {
							struct review_facts f = { verdict, pass, changed, fix, 2, stalled, limit };
							enum slot_event event = review_classify(&f), want = SLOT_E_FINDINGS;

							if (!verdict || changed)
								want = SLOT_E_VIOLATION;
							else if (pass)
								want = SLOT_E_PASS;
							else if (fix >= 2)
								want = SLOT_E_EXHAUSTED;
							else if (limit > 0 && stalled >= limit)
								want = SLOT_E_STALLED;
							ck_assert_int_eq(event, want);
						}
}
END_TEST

START_TEST(rounds_that_stall)
{
	struct slot_row row;

	row_init(ROW_SLOT, &row);
	row.round = 1;
	ck_assert(!round_stalls(&row, 1, 1));
	row.round = 2;
	ck_assert(round_stalls(&row, 2, 2));
	ck_assert(!round_stalls(&row, 2, 1));
	ck_assert(!round_stalls(&row, 0, 0));
	row.tree = xstrdup("t");
	row.previous_tree = xstrdup("t");
	ck_assert(round_stalls(&row, 1, 0));	/* neither said anything */
	row.answer_hash = xstrdup("a");
	row.previous_answer_hash = xstrdup("b");
	ck_assert(!round_stalls(&row, 1, 0));
	row.previous_answer_hash[0] = 'a';
	ck_assert(round_stalls(&row, 1, 0));
	row_release(ROW_SLOT, &row);
}
END_TEST

static void expect_same_id(bool same, const char *file_a, const char *a, const char *file_b, const char *b)
{
	char x[FINDING_ID], y[FINDING_ID];

	finding_id(file_a, a, x);
	finding_id(file_b, b, y);
	ck_assert_msg((strcmp(x, y) == 0) == same, "\"%s\" and \"%s\"", a, b);
}

START_TEST(ids_are_stable)
{
	expect_same_id(true, NULL, "foo.c:12: x  is unset", NULL, "foo.c:14:\n x is unset ");
	expect_same_id(true, NULL, "on line 3 it fails", NULL, "on line 300 it fails");
	expect_same_id(false, NULL, "needs 3 arguments", NULL, "needs 4 arguments");
	expect_same_id(false, "a.c", "x", "b.c", "x");
	expect_same_id(false, NULL, "x", NULL, "y");
}
END_TEST

static struct finding_row *finding(int64_t review, int64_t number, const char *text)
{
	struct finding_row *row = row_new(ROW_FINDING);
	char id[FINDING_ID];

	finding_id(NULL, text, id);
	row->run = 1;
	row->review = review;
	row->number = number;
	row->id = xstrdup(id);
	row->text = xstrdup(text);
	return row;
}

START_TEST(new_repeated_resolved)
{
	struct finding_row *before[] = { finding(1, 1, "a"), finding(1, 2, "b") }, *now[] = { finding(2, 1, "b"), finding(2, 2, "c"), finding(2, 3, "d") };
	struct finding_counts counts = findings_compare(now, 3, before, 2);

	ck_assert_int_eq(counts.new, 2);
	ck_assert_int_eq(counts.repeated, 1);
	ck_assert_int_eq(counts.resolved, 1);
	ck_assert_int_eq(now[0]->state, FINDING_REPEATED);
	ck_assert_int_eq(now[1]->state, FINDING_NEW);
	for (size_t i = 0; i < 3; i++)
		row_free(ROW_FINDING, now[i]);
	for (size_t i = 0; i < 2; i++)
		row_free(ROW_FINDING, before[i]);
}
END_TEST

static struct review_row *log_rows[3];
static struct finding_row *log_findings[2];

static void make_log(void)
{
	char hex[DIGEST_HEX];

	log_findings[0] = finding(1, 1, "a");
	log_findings[1] = finding(1, 2, "b");
	for (int64_t i = 0; i < 3; i++) {
		struct review_row *row = row_new(ROW_REVIEW);

		row->run = 1;
		row->number = i + 1;
		row->decision = xstrdup(i == 2 ? "pass" : "drift");
		row->feedback = xasprintf("round %d", (int)i);
		row->timestamp = 1000 + i;
		row->previous_hash = i == 0 ? NULL : xstrdup(log_rows[i - 1]->hash);
		review_hash(row, log_findings, i == 0 ? 2 : 0, hex);
		row->hash = xstrdup(hex);
		log_rows[i] = row;
	}
}

static bool holds(struct review_row *const *reviews, size_t n, struct finding_row *const *findings, size_t nf, int64_t count, const char *head)
{
	char *broken = chain_verify(reviews, n, findings, nf, count, head);
	bool ok = broken == NULL;

	free(broken);
	return ok;
}

START_TEST(the_chain_shows_every_change)
{
	struct review_row *swapped[3];
	char *head;

	make_log();
	head = log_rows[2]->hash;
	swapped[0] = log_rows[1];
	swapped[1] = log_rows[0];
	swapped[2] = log_rows[2];
	ck_assert(holds(log_rows, 3, log_findings, 2, 3, head));
	ck_assert(!holds(log_rows, 2, log_findings, 2, 3, head));		/* cut off at the end */
	ck_assert(!holds(log_rows, 2, log_findings, 2, 2, head));
	ck_assert(!holds(log_rows + 1, 2, log_findings, 0, 2, head));	/* cut off at the start */
	ck_assert(!holds(swapped, 3, log_findings, 2, 3, head));
	ck_assert(!holds(log_rows, 3, log_findings, 1, 3, head));		/* a finding removed */
	log_rows[1]->feedback[0] = 'R';
	ck_assert(!holds(log_rows, 3, log_findings, 2, 3, head));
	log_rows[1]->feedback[0] = 'r';
	log_findings[1]->text[0] = 'B';
	ck_assert(!holds(log_rows, 3, log_findings, 2, 3, head));
	log_findings[1]->text[0] = 'b';
	ck_assert(holds(log_rows, 3, log_findings, 2, 3, head));
	ck_assert(!holds(log_rows, 3, log_findings, 2, 3, "0000"));
	ck_assert(holds(NULL, 0, NULL, 0, 0, NULL));
	for (size_t i = 0; i < 3; i++)
		row_free(ROW_REVIEW, log_rows[i]);
	for (size_t i = 0; i < 2; i++)
		row_free(ROW_FINDING, log_findings[i]);
}
END_TEST

/* Two different rows never make the same bytes: every field carries its length. */
START_TEST(fields_do_not_run_together)
{
	struct review_row *a = row_new(ROW_REVIEW), *b = row_new(ROW_REVIEW);
	char x[DIGEST_HEX], y[DIGEST_HEX];

	a->run = b->run = a->number = b->number = 1;
	a->decision = xstrdup("pass1:x,");
	a->feedback = xstrdup("");
	b->decision = xstrdup("pass");
	b->feedback = xstrdup("1:x,");
	review_hash(a, NULL, 0, x);
	review_hash(b, NULL, 0, y);
	ck_assert_str_ne(x, y);
	free(a->feedback);
	a->feedback = NULL;
	free(b->decision);
	b->decision = xstrdup("pass1:x,");
	free(b->feedback);
	b->feedback = xstrdup("");
	review_hash(a, NULL, 0, x);
	review_hash(b, NULL, 0, y);
	ck_assert_str_ne(x, y);
	row_free(ROW_REVIEW, a);
	row_free(ROW_REVIEW, b);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { success_needs_positive_evidence, denied_without_a_tree_to_look_at_fails, lost_follows_the_policy, causes,
	    every_round_has_one_meaning, rounds_that_stall, ids_are_stable, new_repeated_resolved, the_chain_shows_every_change,
	    fields_do_not_run_together };

	return RUN_SUITE("review", tests);
}
