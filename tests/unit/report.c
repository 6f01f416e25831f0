/* SPDX-License-Identifier: MIT */
/* Reports and review logs, made of rows written by hand: exact texts. */
#include "job/run_report.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "proto/memory.h"
#include "proto/run_class.h"

#define NOON INT64_C(1772191800250)	/* 2026-02-27T11:30:00.250Z */

static struct run_rows *make_run(enum run_state state, enum task_state task)
{
	struct run_rows *rows = run_rows_new();
	struct task_row *t = row_new(ROW_TASK);

	rows->run.id = 7;
	rows->run.owner = 1000;
	rows->run.workdir = xstrdup("/w");
	rows->run.state = (int)state;
	rows->run.created_at = NOON - 1000;
	rows->run.started_at = NOON;
	t->run = 7;
	t->id = xstrdup("implement");
	t->title = xstrdup("do it");
	t->size = 5;
	t->state = (int)task;
	run_rows_put(rows, ROW_TASK, t);
	return rows;
}

static struct review_row *add_review(struct run_rows *rows, const char *task, int64_t round,
    const char *decision, const char *feedback, const char *source)
{
	struct review_row *review = row_new(ROW_REVIEW);

	review->run = 7;
	review->number = (int64_t)rows->nreviews + 1;
	review->task_id = xstrdup(task);
	review->reviewer_agent = xstrdup("reviewer");
	review->coder_agent = xstrdup("dev");
	review->iteration = round;
	review->decision = xstrdup(decision);
	review->feedback = xstrdup(feedback);
	review->source = xstrdup(source);
	review->timestamp = NOON + 60000 * (int64_t)rows->nreviews;
	run_rows_put(rows, ROW_REVIEW, review);
	return review;
}

static void add_finding(struct run_rows *rows, int64_t review, int64_t number, const char *id, enum finding_state state)
{
	struct finding_row *finding = row_new(ROW_FINDING);

	finding->run = 7;
	finding->review = review;
	finding->number = number;
	finding->id = xstrdup(id);
	finding->text = xasprintf("text of %s", id);
	finding->state = (int)state;
	run_rows_put(rows, ROW_FINDING, finding);
}

static struct attempt_row *add_attempt(struct run_rows *rows, enum role role, int64_t round,
    int64_t start_s, int64_t end_s)
{
	struct attempt_row *a = row_new(ROW_ATTEMPT);

	a->number = (int64_t)rows->nattempts + 1;
	a->id = 100 + 10 * a->number;
	a->run = 7;
	a->iteration = 1;
	a->slot = 1;
	a->task = xstrdup("implement");
	a->role = (int)role;
	a->round = round;
	a->agent = xstrdup(role == ROLE_REVIEW ? "reviewer" : "dev");
	a->state = ATTEMPT_S_EXITED;
	a->process = PROCESS_EXITED;
	a->exit_code = 0;
	a->started_at = NOON + 1000 * start_s;
	a->ended_at = NOON + 1000 * end_s;
	run_rows_put(rows, ROW_ATTEMPT, a);
	return a;
}

static void assert_json(json_t *json, const char *expected)
{
	char *text = json_dumps(json, JSON_COMPACT);

	ck_assert_str_eq(text, expected);
	free(text);
	json_decref(json);
}

static json_t *at(const json_t *json, const char *path)
{
	char *copy = xstrdup(path), *rest = copy, *key;

	while (json != NULL && (key = strsep(&rest, ".")) != NULL)
		json = key[0] >= '0' && key[0] <= '9' ? json_array_get(json,
		    (size_t)strtonum(key, 0, 1000, NULL)) : json_object_get(json, key);
	free(copy);
	ck_assert_msg(json != NULL, "there is no %s", path);
	return (json_t *)json;
}

static void assert_at(const json_t *json, const char *path, const char *expected)
{
	char *text = json_dumps(at(json, path), JSON_COMPACT | JSON_ENCODE_ANY);

	ck_assert_msg(strcmp(text, expected) == 0, "%s is %s, not %s", path, text, expected);
	free(text);
}

/* ---- the log of requirement 001 ---- */

START_TEST(test_log_has_the_form_of_the_requirement)
{
	struct run_rows *rows = make_run(RUN_S_SUCCEEDED, TASK_S_PASSED);

	add_review(rows, "implement", 1, "NO_GO", "missing error handling", "text");
	add_review(rows, "implement", 2, "GO", "All criteria met.", "text");
	assert_json(review_log_make(rows, "implement"),
	    "{\"task_id\":\"implement\",\"overlay\":\"agentic_review\",\"iterations\":["
	    "{\"iteration\":1,\"decision\":\"NO_GO\",\"feedback\":\"missing error "
	    "handling\",\"timestamp\":\"2026-02-27T11:30:00Z\"},"
	    "{\"iteration\":2,\"decision\":\"GO\",\"feedback\":\"All criteria "
	    "met.\",\"timestamp\":\"2026-02-27T11:31:00Z\"}],"
	    "\"final_decision\":\"GO\",\"completed_at\":\"2026-02-27T11:31:00Z\"}");
	run_rows_free(rows);
}
END_TEST

START_TEST(test_log_of_a_held_task_is_not_final)
{
	struct run_rows *rows = make_run(RUN_S_HELD, TASK_S_CLAIMED);

	add_review(rows, "implement", 1, "NO_GO", "no", "text");
	assert_json(review_log_make(rows, "implement"),
	    "{\"task_id\":\"implement\",\"overlay\":\"agentic_review\",\"iterations\":["
	    "{\"iteration\":1,\"decision\":\"NO_GO\",\"feedback\":\"no\",\"timestamp\":\"2026-02-27T11:30:00Z\"}],"
	    "\"final_decision\":null,\"completed_at\":null}");
	run_rows_free(rows);
}
END_TEST

START_TEST(test_log_ends_with_the_word_of_a_human)
{
	struct run_rows *rows = make_run(RUN_S_RUNNING, TASK_S_PASSED);
	struct review_row *review;

	add_review(rows, "implement", 1, "NO_GO", "no", "text");
	review = add_review(rows, "implement", 1, "accepted", NULL, "human");
	free(review->reviewer_agent);
	review->reviewer_agent = xstrdup("human:anna");
	assert_json(review_log_make(rows, "implement"),
	    "{\"task_id\":\"implement\",\"overlay\":\"agentic_review\",\"iterations\":["
	    "{\"iteration\":1,\"decision\":\"NO_GO\",\"feedback\":\"no\",\"timestamp\":\"2026-02-27T11:30:00Z\"},"
	    "{\"iteration\":1,\"decision\":\"accepted\",\"feedback\":\"\",\"timestamp\":\"2026-02-27T11:31:00Z\"}],"
	    "\"final_decision\":\"accepted\",\"completed_at\":\"2026-02-27T11:31:00Z\"}");
	run_rows_free(rows);
}
END_TEST

START_TEST(test_log_is_of_one_task)
{
	struct run_rows *rows = make_run(RUN_S_RUNNING, TASK_S_PASSED);
	json_t *log;

	add_review(rows, "implement", 1, "GO", "a", "text");
	add_review(rows, "whole", 1, "NO_GO", "b", "text");
	ck_assert_ptr_null(review_log_make(rows, "other"));
	log = review_log_make(rows, "implement");
	ck_assert_uint_eq(json_array_size(at(log, "iterations")), 1);
	json_decref(log);
	/* what is no task is the run as a whole: over when the run is */
	log = review_log_make(rows, "whole");
	assert_at(log, "final_decision", "null");
	json_decref(log);
	rows->run.state = RUN_S_FAILED;
	log = review_log_make(rows, "whole");
	assert_at(log, "final_decision", "\"NO_GO\"");
	json_decref(log);
	run_rows_free(rows);
}
END_TEST

#define TEN(text) text text text text text text text text text text
#define THIRTY(text) TEN(text) TEN(text) TEN(text)

static const struct {
	const char *task, *name;
} names[] = {
	{ "t1", "t1.json" },
	{ "Fix_the-thing.2", "Fix_the-thing.2.json" },
	{ ".", "%2E.json" },
	{ "..", "%2E%2E.json" },
	{ ".git", "%2Egit.json" },
	{ "a.", "a%2E.json" },
	{ "../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd.json" },
	{ "a b%\n", "a%20b%25%0A.json" },
	{ "\303\244", "%C3%A4.json" },
	{ "", ".json" },
	{ THIRTY("\303\244") "12345678901234567890", THIRTY("%C3%A4") "12345678901234567890.json" },
	{ THIRTY("\303\244") "\303\244\303\244\303\244\303\244", THIRTY("%C3%A4") "%C3-c6203e86f0a475b2.json" },
	{ THIRTY("\303\244") "\303\244\303\244\303\244\303\266", THIRTY("%C3%A4") "%C3-a454a0ae06a40f65.json" },
};

START_TEST(test_names_of_logs_stay_in_their_directory)
{
	char *name = review_log_name(names[_i].task);

	ck_assert_str_eq(name, names[_i].name);
	ck_assert_ptr_null(strchr(name, '/'));
	free(name);
}
END_TEST

/* ---- reviews ---- */

START_TEST(test_the_last_review_is_final_when_its_task_is_over)
{
	struct run_rows *rows = make_run(RUN_S_RUNNING, TASK_S_CLAIMED);
	json_t *first, *last;

	add_review(rows, "implement", 1, "drift", "x", "text");
	add_review(rows, "implement", 2, "pass", "x", "text");
	last = review_document(rows, 1);
	assert_at(last, "final", "false");
	json_decref(last);
	((struct task_row *)rows->tasks[0])->state = TASK_S_PASSED;
	first = review_document(rows, 0);
	last = review_document(rows, 1);
	assert_at(first, "final", "false");
	assert_at(last, "final", "true");
	json_decref(first);
	json_decref(last);
	run_rows_free(rows);
}
END_TEST

START_TEST(test_a_hold_has_the_whole_history_of_its_task)
{
	struct run_rows *rows = make_run(RUN_S_HELD, TASK_S_CLAIMED);
	struct hold_row *hold = row_new(ROW_HOLD);
	json_t *json;

	add_review(rows, "implement", 1, "NO_GO", "first", "text");
	add_review(rows, "other", 1, "GO", "fine", "text");
	add_review(rows, "implement", 2, "NO_GO", "second", "text");
	hold->id = 3;
	hold->run = 7;
	hold->task = xstrdup("implement");
	hold->kind = HOLD_EXHAUSTED;
	hold->state = HOLD_S_OPEN;
	hold->created_at = NOON;
	run_rows_put(rows, ROW_HOLD, hold);
	json = hold_document(rows, hold);
	assert_at(json, "id", "3");
	assert_at(json, "kind", "\"exhausted\"");
	assert_at(json, "state", "\"open\"");
	assert_at(json, "created_at", "\"2026-02-27T11:30:00.250Z\"");
	ck_assert_uint_eq(json_array_size(at(json, "reviews")), 2);
	assert_at(json, "reviews.0.feedback", "\"first\"");
	assert_at(json, "reviews.1.feedback", "\"second\"");
	json_decref(json);
	run_rows_free(rows);
}
END_TEST

/* ---- the report ---- */

static struct run_rows *make_story(void)
{
	struct run_rows *rows = make_run(RUN_S_SUCCEEDED, TASK_S_PASSED);
	struct slot_row *slot = row_new(ROW_SLOT);
	struct attempt_row *a;

	slot->run = 7;
	slot->iteration = slot->slot = 1;
	slot->stage = SLOT_S_PASSED;
	slot->task = xstrdup("implement");
	slot->round = 2;
	slot->fix = 1;
	run_rows_put(rows, ROW_SLOT, slot);
	a = add_attempt(rows, ROLE_IMPLEMENT, 0, 0, 10);
	a->tokens_input = 100;
	a->tokens_output = 20;
	a->cost_usd = 0.5;
	a->denials = 2;
	a->tool_errors = 3;
	a = add_attempt(rows, ROLE_CHECK, 1, 10, 11);
	a->exit_code = 1;
	a->outcome = TASK_R_FAILED;
	a = add_attempt(rows, ROLE_REVIEW, 1, 11, 20);
	a->tokens_input = 1;
	add_review(rows, "implement", 1, "drift", "mend it", "text")->attempt = a->id;
	add_finding(rows, 1, 1, "aa", FINDING_NEW);
	a = add_attempt(rows, ROLE_FIX, 1, 20, 30);
	a->cost_usd = 0.25;
	rows->run.result_attempt = a->id;
	a = add_attempt(rows, ROLE_REVIEW, 2, 30, 40);
	a->process = PROCESS_NOT_STARTED;
	a = add_attempt(rows, ROLE_REVIEW, 2, 40, 50);
	add_review(rows, "implement", 2, "pass", "fine", "text")->attempt = a->id;
	add_finding(rows, 2, 1, "aa", FINDING_RESOLVED);
	rows->run.result_tree = xstrdup("1234");
	rows->run.result_commit = xstrdup("5678");
	rows->run.warnings = xstrdup("[\"careful\"]");
	rows->run.known_issues = xstrdup("[\"a.c:1 must-fix: x\"]");
	rows->run.ended_at = NOON + 60000;
	return rows;
}

static struct plan make_plan(void)
{
	struct plan plan = { .review = true, .profile = profile_find("verdict"),
	    .profile_name = xstrdup("mine"), .max_fixes = 5 };

	plan.agents[ROLE_IMPLEMENT].name = xstrdup("dev");
	plan.agents[ROLE_IMPLEMENT].model = xstrdup("m1");
	plan.agents[ROLE_REVIEW].name = xstrdup("reviewer");
	return plan;
}

START_TEST(test_report_of_a_reviewed_run)
{
	static const char *const types[] = { "implement", "check", "review", "fix", "review", "review" };
	struct run_rows *rows = make_story();
	struct plan plan = make_plan();
	json_t *report = report_make(rows, &plan, "the \xff answer", 12);

	assert_at(report, "version", "1");
	assert_at(report, "run", "7");
	assert_at(report, "task", "\"do it\"");
	assert_at(report, "agent", "\"dev\"");
	assert_at(report, "model", "\"m1\"");
	assert_at(report, "reviewer", "\"reviewer\"");
	assert_at(report, "settings.profile", "\"mine\"");
	assert_at(report, "settings.base_profile", "\"verdict\"");
	assert_at(report, "settings.max_review_rounds", "6");
	assert_at(report, "result", "{\"outcome\":\"success\",\"exit_code\":0,\"answer\":\"the "
	    "\357\277\275 answer\",\"attempt\":140,"
	    "\"ref\":null,\"tree\":\"1234\",\"commit\":\"5678\"}");
	/* a reviewer that never ran was not invoked; of what was not priced, a check
	 * costs nothing */
	assert_at(report, "stats", "{\"review_rounds\":2,\"fix_rounds\":1,\"checks\":1,\"turns\":6,"
	    "\"attempts\":6,\"wall_ms\":60000,\"tokens\":"
	    "{\"input\":101,\"cached\":null,\"cache_write\":null,\"output\":20,\"reasoning\":null},"
	    "\"cost_usd\":0.75,\"unpriced_attempts\":2,"
	    "\"faults\":{\"process\":2,\"provider\":0,\"task\":0},\"denials\":2,\"tool_errors\":3}");
	ck_assert_uint_eq(json_array_size(at(report, "timeline")), 6);
	for (size_t i = 0; i < 6; i++) {
		const json_t *turn = json_array_get(at(report, "timeline"), i);

		ck_assert_int_eq(json_integer_value(at(turn, "turn")), (json_int_t)i + 1);
		ck_assert_str_eq(json_string_value(at(turn, "type")), types[i]);
		ck_assert_int_eq(json_integer_value(at(turn, "attempt")), (json_int_t)(110 + 10 * i));
	}
	assert_at(report, "timeline.0.denials", "2");
	assert_at(report, "timeline.0.fault", "null");
	assert_at(report, "timeline.1.fault", "\"process\"");
	assert_at(report, "timeline.2.decision", "\"drift\"");
	assert_at(report, "timeline.2.feedback", "\"mend it\"");
	assert_at(report, "timeline.2.findings", "[\"aa\"]");
	ck_assert_ptr_null(json_object_get(at(report, "timeline.4"), "decision"));
	assert_at(report, "timeline.5.decision", "\"pass\"");
	assert_at(report, "timeline.5.findings", "[]");
	assert_at(report, "reviews.0.findings.0.state", "\"new\"");
	assert_at(report, "reviews.1.findings.0.state", "\"resolved\"");
	assert_at(report, "timeline.0.started_at", "\"2026-02-27T11:30:00.250Z\"");
	ck_assert_uint_eq(json_array_size(at(report, "reviews")), 2);
	ck_assert_uint_eq(json_array_size(at(report, "findings")), 1);
	assert_at(report, "findings.0.state", "\"resolved\"");
	assert_at(report, "warnings", "[\"careful\"]");
	assert_at(report, "known_issues", "[\"a.c:1 must-fix: x\"]");
	json_decref(report);
	plan_release(&plan);
	run_rows_free(rows);
}
END_TEST

START_TEST(test_report_without_a_review)
{
	struct run_rows *rows = make_run(RUN_S_RUNNING, TASK_S_CLAIMED);
	struct plan plan = make_plan();
	json_t *report;

	plan.review = false;
	plan.skip_reason = xstrdup("no review was asked for");
	add_attempt(rows, ROLE_IMPLEMENT, 0, 0, 10);
	report = report_make(rows, &plan, NULL, 0);
	assert_at(report, "stats.review_rounds", "0");
	assert_at(report, "settings.max_review_rounds", "0");
	assert_at(report, "reviewer", "null");
	assert_at(report, "result.outcome", "null");
	assert_at(report, "result.exit_code", "null");
	assert_at(report, "result.answer", "null");
	assert_at(report, "stats.wall_ms", "10000");
	assert_at(report, "known_issues", "[]");
	json_decref(report);
	report = report_make(rows, NULL, NULL, 0);
	assert_at(report, "settings", "null");
	json_decref(report);
	plan_release(&plan);
	run_rows_free(rows);
}
END_TEST

START_TEST(test_report_of_a_run_that_never_started)
{
	struct run_rows *rows = make_run(RUN_S_CANCELLED, TASK_S_CANCELLED);
	json_t *report;

	rows->run.started_at = ROW_NONE;
	rows->run.ended_at = NOON;
	report = report_make(rows, NULL, NULL, 0);
	assert_at(report, "stats.wall_ms", "null");
	assert_at(report, "stats.cost_usd", "null");
	assert_at(report, "timeline", "[]");
	assert_at(report, "result.outcome", "\"cancelled\"");
	assert_at(report, "result.exit_code", "11");
	json_decref(report);
	run_rows_free(rows);
}
END_TEST

static const struct {
	enum run_state state;
	enum end_kind end;
	const char *outcome;
	int code;
} ends[] = {
	{ RUN_S_SUCCEEDED, END_NONE, "success", 0 },
	{ RUN_S_SUCCEEDED, END_WAIVED, "success", 0 },
	{ RUN_S_SUCCEEDED, END_STOP_MARKER, "success", 0 },
	{ RUN_S_HELD, END_NONE, "held", 13 },
	{ RUN_S_CANCELLED, END_CANCELLED, "cancelled", 11 },
	{ RUN_S_CANCELLED, END_LIMIT, "cancelled", 11 },
	{ RUN_S_FAILED, END_EXHAUSTED, "exhausted", 10 },
	{ RUN_S_FAILED, END_STALLED, "exhausted", 10 },
	{ RUN_S_FAILED, END_CHECK, "exhausted", 10 },
	{ RUN_S_FAILED, END_ERROR, "error", 10 },
	{ RUN_S_FAILED, END_REJECTED, "error", 10 },
	{ RUN_S_FAILED, END_LIMIT, "exhausted", 14 },
	{ RUN_S_FAILED, END_LOST, "error", 12 },
	{ RUN_S_FAILED, END_NONE, "error", 10 },
};

START_TEST(test_outcomes)
{
	const struct run_class *class = run_class_of(state_name(&run_state_names, ends[_i].state), ends[_i].end);

	ck_assert_ptr_nonnull(class);
	ck_assert_str_eq(class->outcome, ends[_i].outcome);
	ck_assert_int_eq(class->code, ends[_i].code);
}
END_TEST

START_TEST(test_a_run_that_goes_on_has_no_class)
{
	ck_assert_ptr_null(run_class_of("queued", END_NONE));
	ck_assert_ptr_null(run_class_of("running", END_CANCELLED));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tcase = tcase_create("report");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_log_has_the_form_of_the_requirement);
	tcase_add_test(tcase, test_log_of_a_held_task_is_not_final);
	tcase_add_test(tcase, test_log_ends_with_the_word_of_a_human);
	tcase_add_test(tcase, test_log_is_of_one_task);
	tcase_add_loop_test(tcase, test_names_of_logs_stay_in_their_directory, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_test(tcase, test_the_last_review_is_final_when_its_task_is_over);
	tcase_add_test(tcase, test_a_hold_has_the_whole_history_of_its_task);
	tcase_add_test(tcase, test_report_of_a_reviewed_run);
	tcase_add_test(tcase, test_report_without_a_review);
	tcase_add_test(tcase, test_report_of_a_run_that_never_started);
	tcase_add_loop_test(tcase, test_outcomes, 0, sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tcase, test_a_run_that_goes_on_has_no_class);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
