/* SPDX-License-Identifier: MIT */
/* The look before parsing: depth, values, NUL; the limits at their edges. */
#include "proto/scan.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

static const struct {
	const char *text;
	enum scan_result result;
} rows[] = {
	{ "{}", SCAN_OK }, { "[]", SCAN_OK }, { "1", SCAN_OK }, { "null", SCAN_OK },
	{ "\"\"", SCAN_OK }, { "", SCAN_EMPTY }, { " \t\r\n", SCAN_EMPTY },
	{ "{\"a\":[1,2,{\"b\":null}]}", SCAN_OK }, { "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"", SCAN_OK },
	{ "\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"", SCAN_OK },
	{ "nonsense ] ] } } :::", SCAN_OK }, { "\"never ends", SCAN_OK },
	{ "\"ends in \\", SCAN_OK },
};

START_TEST(plain)
{
	ck_assert_int_eq(scan_json(rows[_i].text, strlen(rows[_i].text)), rows[_i].result);
}
END_TEST

START_TEST(nul)
{
	ck_assert_int_eq(scan_json("1\0", 2), SCAN_NUL);
	ck_assert_int_eq(scan_json("\"\0\"", 3), SCAN_NUL);
	ck_assert_int_eq(scan_json("\"\\u0000\"", 8), SCAN_OK);
}
END_TEST

/* depth times "[", closed again */
static char *nested(int depth, const char *open, const char *close)
{
	struct buf b = { 0 };

	for (int i = 0; i < depth; i++)
		buf_adds(&b, open);
	buf_adds(&b, "1");
	for (int i = 0; i < depth; i++)
		buf_adds(&b, close);
	return buf_take(&b, NULL);
}

START_TEST(depth)
{
	static const char *const forms[][2] = { { "[", "]" }, { "{\"a\":", "}" } };

	for (int i = 0; i < 2; i++) {
		char *fits = nested(SCAN_DEPTH, forms[i][0], forms[i][1]),
		    *deep = nested(SCAN_DEPTH + 1, forms[i][0], forms[i][1]);

		ck_assert_int_eq(scan_json(fits, strlen(fits)), SCAN_OK);
		ck_assert_int_eq(scan_json(deep, strlen(deep)), SCAN_DEEP);
		free(fits);
		free(deep);
	}
}
END_TEST

/* An array or object with count members, itself a value too. */
static char *many(int count, const char *open, const char *member, const char *close)
{
	struct buf b = { 0 };

	buf_adds(&b, open);
	for (int i = 0; i < count; i++)
		buf_addf(&b, "%s%s", i > 0 ? "," : "", member);
	buf_adds(&b, close);
	return buf_take(&b, NULL);
}

START_TEST(values)
{
	static const char *const forms[][3] = {
		{ "[", "1", "]" }, { "[", "\"\"", "]" }, { "[", "[]", "]" },
		{ "{", "\"a\":1", "}" }, { "{", "\"a\" : \"b\"", "}" }, { "[", " true ", "]" },
	};

	for (int i = 0; i < 6; i++) {
		char *fits = many(SCAN_VALUES - 1, forms[i][0], forms[i][1], forms[i][2]);
		char *more = many(SCAN_VALUES, forms[i][0], forms[i][1], forms[i][2]);

		ck_assert_int_eq(scan_json(fits, strlen(fits)), SCAN_OK);
		ck_assert_int_eq(scan_json(more, strlen(more)), SCAN_MANY);
		free(fits);
		free(more);
	}
}
END_TEST

/* The count is taken as it grows: what follows cannot take values back. */
START_TEST(no_cheating)
{
	char *text = many(SCAN_VALUES * 2, "[", "1", ":::::::::::::::::::::::::::::::::::::::::::::::]");

	ck_assert_int_eq(scan_json(text, strlen(text)), SCAN_MANY);
	free(text);
}
END_TEST

START_TEST(messages)
{
	ck_assert_str_eq(scan_message(SCAN_OK), "");
	ck_assert_ptr_nonnull(strstr(scan_message(SCAN_DEEP), "32"));
	ck_assert_ptr_nonnull(strstr(scan_message(SCAN_MANY), "20000"));
	ck_assert_ptr_nonnull(strstr(scan_message(SCAN_NUL), "NUL"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scan");
	TCase *tc = tcase_create("scan");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, plain, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, nul);
	tcase_add_test(tc, depth);
	tcase_add_test(tc, values);
	tcase_add_test(tc, no_cheating);
	tcase_add_test(tc, messages);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
