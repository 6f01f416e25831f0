/* SPDX-License-Identifier: MIT */
/* The check of values against table rows: values that fit and values that do not for each kind of
 * row, and the sentences about the latter. */
#include "proto/schema.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "proto/memory.h"

static bool is_lower(const char *text, struct schema_error *error)
{
	for (const char *p = text; *p != '\0'; p++) {
		if (*p < 'a' || *p > 'z')
			return schema_refuse(error, "must be lower case, is %s", text);
	}
	return true;
}

static const char *const colour_names[] = { "red", "green" };
static const struct state_names colours = { "colour", colour_names, ARRAY_SIZE(colour_names), NULL };
static const struct schema_rule lower = { "a name", "names", is_lower };
static const struct schema_rule points = { "a point", "points", NULL };
static const struct schema inner[] = {
	{ "deep", SCHEMA_BOOL, .help = "" }, { "n", SCHEMA_INT, .clamp = true, .max = 9 }, { 0 }
};
static const struct schema members[] = {
	{ "must", SCHEMA_TEXT, .required = true }, { "in", SCHEMA_OBJECT, .members = inner },
	{ "list", SCHEMA_OBJECTS, .max = 5, .members = inner }, { 0 }
};

static const struct schema
	any = { .kind = SCHEMA_ANY },
	flag = { .kind = SCHEMA_BOOL },
	integer = { .kind = SCHEMA_INT, .min = 1, .max = 10 },
	large = { .kind = SCHEMA_INT, .min = 0, .max = INT64_MAX },
	money = { .kind = SCHEMA_MONEY, .min = 50, .max = 100 },
	duration = { .kind = SCHEMA_DURATION, .min = 1000, .max = 3600000 },
	from_zero = { .kind = SCHEMA_DURATION, .max = 3600000 },
	size = { .kind = SCHEMA_SIZE, .min = 1024, .max = 1048576 },
	text = { .kind = SCHEMA_TEXT, .min = 1, .max = 4 },
	named = { .kind = SCHEMA_TEXT, .max = 9, .rule = &lower },
	any_text = { .kind = SCHEMA_TEXT },
	or_true = { .kind = SCHEMA_TEXT_OR_TRUE, .min = 1, .max = 4 },
	choice = { .kind = SCHEMA_CHOICE, .choices = &colours },
	texts = { .kind = SCHEMA_TEXTS, .min = 1, .max = 2, .bytes = 3, .rule = &lower },
	argv = { .kind = SCHEMA_ARGV, .min = 1 },
	maybe_argv = { .kind = SCHEMA_ARGV },
	ids = { .kind = SCHEMA_IDS, .min = 0, .max = 2 },
	pairs = { .kind = SCHEMA_PAIRS, .max = 2 },
	map = { .kind = SCHEMA_MAP, .rule = &lower },
	object = { .kind = SCHEMA_OBJECT, .members = members },
	objects = { .kind = SCHEMA_OBJECTS, .max = 2, .members = inner,
	    .rule = &points };

#define MUST "{\"must\":\"x\","
#define HOUR_FORM "must be a duration like 90, \"90s\", \"2h\" or \"30d\""
#define SIZE_FORM "must be a size like 4096, \"64K\", \"64M\" or \"1G\""
#define HOUR "must be a duration from 1s to 1h 00m"
#define MEGABYTE "must be a size from 1 KiB to 1 MiB"
#define PAIR "must be an array of \"NAME=VALUE\" without NUL characters"

#define YES(row, value)	{ &row, value, NULL, "" }
#define NOT(row, value, said)	{ &row, value, said, "" }
#define IN(row, value, said, field)	{ &row, value, said, field }
#define READ(row, word, value)	{ &row, word, value, NULL }
#define BAD(row, word, said)	{ &row, word, NULL, said }

/* said NULL: the value fits. field "": the value itself. */
static const struct {
	const struct schema *schema;
	const char *value, *said, *field;
} checks[] = {
	YES(any, "[null,{}]"),
	YES(flag, "false"), NOT(flag, "\"true\"", "must be true or false, is a string"),
	NOT(flag, "null", "must be true or false, is null"),
	YES(integer, "1"), YES(integer, "10"), NOT(integer, "0", "must be from 1 to 10, is 0"),
	NOT(integer, "11", "must be from 1 to 10, is 11"),
	NOT(integer, "1.0", "must be an integer, is a fraction"),
	NOT(integer, "\"1\"", "must be an integer, is a string"),
	YES(large, "9223372036854775807"), NOT(large, "-1", "must be at least 0, is -1"),
	YES(money, "0.5"), YES(money, "100"),
	NOT(money, "0.49", "must be an amount from 0.5 to 100"),
	NOT(money, "100.01", "must be an amount from 0.5 to 100"),
	NOT(money, "\"5\"", "must be an amount like 5 or 2.50, is a string"),
	YES(duration, "1"), YES(duration, "3600"), YES(duration, "\"1h\""),
	YES(duration, "\"90\""), NOT(duration, "0", HOUR), NOT(duration, "3601", HOUR),
	NOT(duration, "\"2h\"", HOUR), NOT(duration, "1000000000000000000", HOUR),
	NOT(duration, "\"1000000000000000000\"", HOUR),
	NOT(duration, "\"99999999999999999999d\"", HOUR), NOT(duration, "-1", HOUR_FORM),
	NOT(duration, "\"soon\"", HOUR_FORM), NOT(duration, "\"1h\\u0000\"", HOUR_FORM),
	NOT(duration, "1.5", HOUR_FORM ", is a fraction"), YES(from_zero, "0"),
	NOT(from_zero, "3601", "must be a duration of at most 1h 00m"),
	YES(size, "1024"), YES(size, "\"1M\""), NOT(size, "1023", MEGABYTE),
	NOT(size, "\"1G\"", MEGABYTE), NOT(size, "\"99999999999999999999\"", MEGABYTE),
	NOT(size, "\"1k\"", SIZE_FORM), NOT(size, "{}", SIZE_FORM ", is an object"),
	YES(text, "\"abcd\""), NOT(text, "\"\"", "must not be empty"),
	NOT(text, "\"abcde\"", "must not be longer than 4 bytes, is 5"),
	NOT(text, "\"a\\u0000\"", "must not contain a NUL character"),
	NOT(text, "7", "must be a string, is an integer"), YES(any_text, "\"\""),
	YES(named, "\"abc\""), NOT(named, "\"Abc\"", "must be lower case, is Abc"),
	NOT(named, "[]", "must be a name, is an array"),
	YES(or_true, "true"), YES(or_true, "\"a\""),
	NOT(or_true, "false", "must be a string or true, is a boolean"),
	NOT(or_true, "\"\"", "must not be empty"),
	YES(choice, "\"red\""), NOT(choice, "\"blue\"", "must be one of \"red\", \"green\""),
	NOT(choice, "\"red\\u0000\"", "must be one of \"red\", \"green\""),
	NOT(choice, "1", "must be one of \"red\", \"green\""),
	YES(texts, "[\"a\",\"b\"]"), NOT(texts, "[]", "must have from 1 to 2 items, has 0"),
	NOT(texts, "[\"a\",\"b\",\"c\"]", "must have from 1 to 2 items, has 3"),
	NOT(texts, "\"a\"", "must be an array of names, is a string"),
	NOT(texts, "[\"a\",\"B\"]", "(item 2) must be lower case, is B"),
	NOT(texts, "[\"abcd\"]", "(item 1) must not be longer than 3 bytes, is 4"),
	YES(argv, "[\"a\",\"\"]"), NOT(argv, "[]", "must begin with the program to start"),
	NOT(argv, "[\"\",\"a\"]", "must begin with the program to start"),
	YES(maybe_argv, "[]"), NOT(maybe_argv, "[\"\"]", "must not begin with an empty word"),
	YES(ids, "[]"), YES(ids, "[1,2]"),
	NOT(ids, "[1,0]", "(item 2) must be an id, an integer from 1 up, is an integer"),
	NOT(ids, "[1,2,3]", "must have from 0 to 2 items, has 3"),
	NOT(ids, "1", "must be an array of ids, is an integer"),
	YES(pairs, "{\"A\":\"b=c\"}"), YES(pairs, "[\"_a=\"]"), NOT(pairs, "[\"A\"]", PAIR),
	NOT(pairs, "[\"A=\\u0000\"]", PAIR),
	NOT(pairs, "[\"=b\"]", "must have the form NAME=VALUE, with a name"),
	NOT(pairs, "{\"a=b\":\"\"}", "must have the form NAME=VALUE, with a name"),
	NOT(pairs, "[\"1=b\"]", "must have variable names that begin with a letter or '_'"),
	NOT(pairs, "{\"A\":1}", "must be an object of strings without NUL characters"),
	NOT(pairs, "[\"A=\",\"B=\",\"C=\"]", "must have at most 2 entries"),
	NOT(pairs, "true",
	    "must be an object of strings, or an array of \"NAME=VALUE\", is a boolean"),
	YES(map, "{\"a\":\"\"}"), NOT(map, "{\"A\":\"\"}", "must be lower case, is A"),
	NOT(map, "{\"a\":1}", "must contain strings, but 'a' is an integer"),
	NOT(map, "{\"a\":\"\\u0000\"}", "must not contain a NUL character, but 'a' does"),
	NOT(map, "[]", "must be an object of strings, is an array"),
	YES(object, "{\"must\":\"\"}"), YES(object, MUST "\"in\":null}"),
	YES(object, MUST "\"in\":{\"deep\":true}}"),
	IN(object, "{}", "is missing", "must"),
	IN(object, "{\"must\":null}", "is missing", "must"),
	IN(object, MUST "\"other\":1}", "is unknown", "other"),
	IN(object, MUST "\"in\":{\"deep\":1}}", "must be true or false, is an integer", "in.deep"),
	IN(object, MUST "\"in\":{\"x\":1}}", "is unknown", "in.x"),
	IN(object, MUST "\"list\":[{},{\"deep\":1}]}",
	    "(item 2) 'deep' must be true or false, is an integer",
	    "list"),
	NOT(object, "[]", "must be an object, is an array"),
	YES(objects, "[{}]"), NOT(objects, "[1]", "(item 1) must be a point, is an integer"),
	NOT(objects, "{}", "must be an array of points, is an object"),
};

START_TEST(value)
{
	struct schema_error error = { 0 };
	json_t *json = json_loads(checks[_i].value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	bool fits;

	ck_assert_ptr_nonnull(json);
	fits = schema_check(checks[_i].schema, json, &error);
	ck_assert_msg(fits == (checks[_i].said == NULL), "%s: %s", checks[_i].value, error.text);
	if (!fits) {
		ck_assert_str_eq(error.text, checks[_i].said);
		ck_assert_str_eq(error.field, checks[_i].field);
	}
	json_decref(json);
}
END_TEST

/* wanted NULL: said is the sentence. */
static const struct {
	const struct schema *schema;
	const char *word, *wanted, *said;
} reads[] = {
	READ(integer, "10", "10"), BAD(integer, "11", "must be from 1 to 10, is 11"),
	BAD(integer, "ten", "must be an integer"),
	BAD(integer, "", "must be an integer"), BAD(integer, "5x", "must be an integer"),
	BAD(large, "9223372036854775808", "must be an integer"),
	READ(money, "5", "5.0"), READ(money, "$2.50", "2.5"),
	BAD(money, "0.1", "must be an amount from 0.5 to 100"),
	BAD(money, "-5", "must be an amount in US dollars such as 5 or 2.50"),
	BAD(money, "2,50", "must be an amount in US dollars such as 5 or 2.50"),
	BAD(money, "1e1", "must be an amount in US dollars such as 5 or 2.50"),
	BAD(money, "2.", "must be an amount in US dollars such as 5 or 2.50"),
	BAD(money, "$", "must be an amount in US dollars such as 5 or 2.50"),
	READ(duration, "15m", "\"15m\""), BAD(duration, "2h", HOUR),
	BAD(duration, "soon", HOUR_FORM), READ(size, "64K", "\"64K\""),
	READ(text, "ab", "\"ab\""), BAD(text, "\xff", "must be UTF-8 text"),
	READ(choice, "red", "\"red\""), BAD(choice, "", "must be one of \"red\", \"green\""),
};

START_TEST(word)
{
	struct schema_error error = { 0 };
	json_t *json = schema_read(reads[_i].schema, reads[_i].word, &error);
	char *dump = json != NULL ? json_dumps(json, JSON_ENCODE_ANY) : NULL;

	ck_assert_msg((dump != NULL) == (reads[_i].wanted != NULL), "%s: %s", reads[_i].word, error.text);
	if (dump != NULL)
		ck_assert_str_eq(dump, reads[_i].wanted);
	else
		ck_assert_str_eq(error.text, reads[_i].said);
	free(dump);
	json_decref(json);
}
END_TEST

/* What the caller calls an object and an unknown member stands in the sentences. */
START_TEST(words_of_the_caller)
{
	struct schema_error error = { .object = "a table", .unknown = "is no setting" };
	json_t *json = json_pack("{s:s, s:s}", "must", "x", "more", ""), *item = json_pack("[{}]");

	ck_assert(!schema_check(&object, json, &error));
	ck_assert_str_eq(error.text, "is no setting");
	ck_assert(!schema_check(&any_text, json, &error));
	ck_assert_str_eq(error.text, "must be a string, is a table");
	ck_assert(!schema_check(&object, item, &error));
	ck_assert_str_eq(error.text, "must be a table, is an array");
	json_decref(json);
	json_decref(item);
}
END_TEST

/* What schema_check() changes: null members go, more than the most is the most. */
START_TEST(changes)
{
	struct schema_error error = { 0 };
	json_t *json = json_pack("{s:s, s:{s:n, s:i}}", "must", "x", "in", "deep", "n", 12);
	json_t *in = json_object_get(json, "in");

	ck_assert(schema_check(&object, json, &error));
	ck_assert_ptr_null(json_object_get(in, "deep"));
	ck_assert_int_eq(json_integer_value(json_object_get(in, "n")), 9);
	json_decref(json);
}
END_TEST

START_TEST(number)
{
	json_t *json = json_integer(INT64_MAX / 1000);
	int64_t ms = 0;

	ck_assert_int_eq(schema_number(&duration, json, &ms), 0);
	ck_assert_int_eq(ms, INT64_MAX / 1000 * 1000);
	json_integer_set(json, INT64_MAX / 1000 + 1);
	ck_assert_int_eq(schema_number(&duration, json, &ms), -ERANGE);
	ck_assert_int_eq(schema_number(&size, json, &ms), 0);
	json_integer_set(json, -1);
	ck_assert_int_eq(schema_number(&duration, json, &ms), -EINVAL);
	json_decref(json);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proto_schema");
	TCase *tc = tcase_create("proto_schema");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, value, 0, ARRAY_SIZE(checks));
	tcase_add_loop_test(tc, word, 0, ARRAY_SIZE(reads));
	tcase_add_test(tc, words_of_the_caller);
	tcase_add_test(tc, changes);
	tcase_add_test(tc, number);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
