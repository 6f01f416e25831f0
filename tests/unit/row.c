/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <signal.h>

#include "core/decision.h"
#include "fill.h"

static size_t field_size(const struct field *f)
{
	switch (f->kind) {
	case FIELD_INT:
	case FIELD_TIME:
		return sizeof(int64_t);
	case FIELD_REAL:
		return sizeof(double);
	case FIELD_TEXT:
	case FIELD_JSON:
		return sizeof(char *);
	case FIELD_STATE:
		return sizeof(int);
	}
	abort();
}

/* No member without a field: fields follow each other as the compiler lays members
 * out, padding apart. */
START_TEST(test_table_is_total)
{
	const struct row_type *type = &row_types[_i];
	size_t end = 0;

	ck_assert_ptr_nonnull(type->name);
	for (size_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];
		size_t size = field_size(f);

		ck_assert_msg(f->offset == (end + size - 1) / size * size,
		    "%s: a member before %s has no field", type->name, f->name);
		ck_assert_msg((f->kind == FIELD_STATE) == (f->names != NULL), "%s.%s", type->name, f->name);
		end = f->offset + size;
	}
	ck_assert_msg(type->size == (end + 7) / 8 * 8, "%s: the last member has no field", type->name);
}
END_TEST

START_TEST(test_new_row_is_empty)
{
	enum row_kind kind = (enum row_kind)_i;
	const struct row_type *type = &row_types[kind];
	void *row = row_new(kind);

	for (size_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];
		void *at = field_at(row, f);

		switch (f->kind) {
		case FIELD_INT:
		case FIELD_TIME:
			ck_assert(*(int64_t *)at == ROW_NONE);
			break;
		case FIELD_REAL:
			ck_assert(isnan(*(double *)at));
			break;
		case FIELD_TEXT:
		case FIELD_JSON:
			ck_assert_ptr_null(*(char **)at);
			break;
		case FIELD_STATE:
			ck_assert_int_eq(*(int *)at, 0);
			break;
		}
	}
	row_free(kind, row);
	row_free(kind, NULL);
}
END_TEST

/* A copy shares nothing with its source: the sanitizer build sees a text that is freed twice. */
START_TEST(test_copy_and_assign)
{
	enum row_kind kind = (enum row_kind)_i;
	void *a = row_new(kind), *b = row_new(kind), *copy;
	char *zero = xcalloc(1, row_types[kind].size);

	fill_row(kind, a, 1);
	fill_row(kind, b, 2);
	copy = row_copy(kind, a);
	assert_rows_equal(kind, a, copy, NULL);
	fill_row(kind, a, 3);
	row_assign(kind, b, copy);
	assert_rows_equal(kind, b, copy, NULL);
	row_free(kind, copy);
	row_assign(kind, a, b);
	row_assign(kind, a, a);
	assert_rows_equal(kind, a, b, NULL);
	row_release(kind, b);
	ck_assert_int_eq(memcmp(b, zero, row_types[kind].size), 0);
	free(zero);
	free(b);
	row_free(kind, a);
}
END_TEST

START_TEST(test_decision)
{
	struct decision d = { 0 };
	struct setting_row *row = row_new(ROW_SETTING);
	const struct event_row *event;

	fill_row(ROW_SETTING, row, 1);
	for (int i = 0; i < 20; i++)
		decision_put(&d, ROW_SETTING, row);
	decision_tell(&d, 7, "run.state", ROW_NONE, "{\"a\":1}");
	ck_assert_uint_eq(d.count, 21);
	assert_rows_equal(ROW_SETTING, row, d.changes[19].row, NULL);
	ck_assert_ptr_ne(row, d.changes[19].row);
	ck_assert_int_eq(d.changes[20].kind, ROW_EVENT);
	event = d.changes[20].row;
	ck_assert(event->seq == ROW_NONE && event->time == 7 && event->run == ROW_NONE);
	ck_assert_str_eq(event->type, "run.state");
	ck_assert_str_eq(event->body, "{\"a\":1}");
	decision_release(&d);
	ck_assert(d.changes == NULL && d.count == 0 && d.room == 0);
	decision_release(&d);
	row_free(ROW_SETTING, row);
}
END_TEST

static const struct state_names *const all_names[] = {
	&run_state_names, &task_state_names, &iteration_state_names, &slot_stage_names, &slot_phase_names, &role_names,
	&attempt_state_names, &process_result_names, &provider_result_names, &task_result_names, &finding_state_names,
	&on_lost_names, &bad_end_names, &on_malformed_names, &fixer_names, &scope_names, &commit_mode_names,
	&review_place_names, &room_of_names, &sandbox_names,
	&strictness_names, &hold_kind_names, &hold_state_names, &slot_leaving_names, &isolation_names, &integrate_names,
	&on_failure_names, &assign_names, &claim_state_names, &product_kind_names, &evidence_kind_names,
	&evidence_result_names,
};

START_TEST(test_names)
{
	const struct state_names *names = all_names[_i];

	ck_assert_ptr_nonnull(names->what);
	for (size_t i = 0; i < names->count; i++) {
		ck_assert_msg(names->names[i] != NULL, "%s %zu has no name", names->what, i);
		ck_assert_int_eq(state_value(names, state_name(names, (int)i)), (int)i);
	}
	ck_assert_int_eq(state_value(names, ""), -1);
	ck_assert_int_eq(state_value(names, "Running"), -1);
}
END_TEST

START_TEST(test_value_outside_aborts)
{
	state_name(&role_names, ROLES);
}
END_TEST

START_TEST(test_ends)
{
	for (int state = 0; state < RUN_STATES; state++) {
		const char *name = state_name(&run_state_names, state);
		bool end = strcmp(name, "succeeded") == 0 || strcmp(name, "failed") == 0 ||
		    strcmp(name, "cancelled") == 0;

		ck_assert_int_eq(run_state_is_end((enum run_state)state), end);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("row");
	TCase *tcase = tcase_create("row");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, test_table_is_total, 0, ROW_KINDS);
	tcase_add_loop_test(tcase, test_new_row_is_empty, 0, ROW_KINDS);
	tcase_add_loop_test(tcase, test_copy_and_assign, 0, ROW_KINDS);
	tcase_add_test(tcase, test_decision);
	tcase_add_loop_test(tcase, test_names, 0, sizeof(all_names) / sizeof(all_names[0]));
	tcase_add_test_raise_signal(tcase, test_value_outside_aborts, SIGABRT);
	tcase_add_test(tcase, test_ends);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
