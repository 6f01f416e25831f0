/* SPDX-License-Identifier: MIT */
/* What a request must bring, the sessions, and the body of a form. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/web/form.h"
#include "client/web/guard.h"
#include "client/web/session.h"
#include "proto/memory.h"

#define FORM "application/x-www-form-urlencoded"
#define HERE "http://127.0.0.1:80"

static const struct {
	struct guard_head head;
	unsigned status;	/* 0: it may pass */
} heads[] = {
	{ { 80, false, "127.0.0.1:80", NULL, NULL, NULL, NULL }, 0 },
	{ { 80, false, "LocalHost:80", NULL, NULL, NULL, NULL }, 0 },
	{ { 80, false, "127.0.0.1:80", HERE, NULL, "0", NULL }, 0 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM, "65536", NULL }, 0 },
	{ { 80, true, "localhost:80", "http://localhost:80", FORM "; charset=utf-8", "0", NULL }, 0 },
	{ { 80, false, NULL, NULL, NULL, NULL, NULL }, 421 },
	{ { 80, false, "", NULL, NULL, NULL, NULL }, 421 },
	{ { 80, false, "127.0.0.1", NULL, NULL, NULL, NULL }, 421 },
	{ { 80, false, "127.0.0.1:8", NULL, NULL, NULL, NULL }, 421 },
	{ { 80, false, "127.0.0.1:800", NULL, NULL, NULL, NULL }, 421 },
	{ { 80, false, "rebound.example:80", NULL, NULL, NULL, NULL }, 421 },
	{ { 80, false, "127.0.0.1:80", "http://localhost:80", NULL, NULL, NULL }, 403 },
	{ { 80, false, "127.0.0.1:80", "null", NULL, NULL, NULL }, 403 },
	{ { 80, true, "127.0.0.1:80", NULL, FORM, "0", NULL }, 403 },
	{ { 80, true, "127.0.0.1:80", "https://127.0.0.1:80", FORM, "0", NULL }, 403 },
	{ { 80, true, "127.0.0.1:80", HERE "@evil.example", FORM, "0", NULL }, 403 },
	{ { 80, true, "127.0.0.1:80", HERE, NULL, "0", NULL }, 415 },
	{ { 80, true, "127.0.0.1:80", HERE, "text/plain", "0", NULL }, 415 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM "s", "0", NULL }, 415 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM, NULL, NULL }, 411 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM, "5", "chunked" }, 411 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM, "65537", NULL }, 413 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM, "18446744073709551616", NULL }, 413 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM, "-1", NULL }, 413 },
	{ { 80, true, "127.0.0.1:80", HERE, FORM, "", NULL }, 413 },
	{ { 80, false, "127.0.0.1:80", NULL, NULL, "5", NULL }, 400 },
};

START_TEST(each_head)
{
	const struct guard_reason *reason = guard_check(&heads[_i].head);

	ck_assert_uint_eq(reason == NULL ? 0 : reason->status, heads[_i].status);
}
END_TEST

static const struct {
	const char *body;
	const char *name, *value;	/* name NULL: malformed */
} forms[] = {
	{ "a=b", "a", "b" }, { "x=y&a=b", "a", "b" }, { "a=", "a", "" }, { "a", "a", "" }, { "a=b=c", "a", "b=c" },
	{ "a=1+2%2B3", "a", "1 2+3" }, { "a=%C3%A4", "a", "\xc3\xa4" }, { "a=x%0D%0Ay%0D%0A", "a", "x\ny\n" },
	{ "%61=b", "a", "b" }, { "a=b&", "a", "b" }, { "a=%26%3D", "a", "&=" },
	{ "a=%", NULL, NULL }, { "a=%4", NULL, NULL }, { "a=%4g", NULL, NULL }, { "a=%g4", NULL, NULL },
	{ "a=%00", NULL, NULL }, { "%00=a", NULL, NULL }, { "a=%ff", NULL, NULL }, { "a=b&a=c", NULL, NULL },
	{ "1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17", NULL, NULL }, { "&a=b&&", NULL, NULL },
};

START_TEST(each_form)
{
	json_t *form = form_read(forms[_i].body, strlen(forms[_i].body));

	if (forms[_i].name == NULL)
		ck_assert_ptr_null(form);
	else
		ck_assert_str_eq(json_string_value(json_object_get(form, forms[_i].name)), forms[_i].value);
	json_decref(form);
}
END_TEST

/* A byte behind the body is never read. */
START_TEST(a_form_that_is_cut_anywhere)
{
	static const char whole[] = "name=%C3%A4+x&other=%2B";

	for (size_t size = 0; size < strlen(whole); size++) {
		char *body = xcalloc(size + (size == 0), 1);

		memcpy(body, whole, size);
		json_decref(form_read(body, size));
		free(body);
	}
}
END_TEST

START_TEST(what_is_encoded_is_read_again)
{
	static const char text[] = "a b&c=d\n\"%+\xc3\xa4";
	char *code = form_encode(text), *body = xasprintf("text=%s", code);
	json_t *form = form_read(body, strlen(body));

	ck_assert_str_eq(json_string_value(json_object_get(form, "text")), text);
	json_decref(form);
	free(code);
	free(body);
}
END_TEST

START_TEST(a_token_is_spent)
{
	struct sessions s;
	struct session *first, *second;
	char token[SECRET_SIZE];

	sessions_init(&s);
	ck_assert_ptr_null(sessions_open(&s, NULL));
	ck_assert_ptr_null(sessions_open(&s, ""));
	memcpy(token, s.token, sizeof(token));
	first = sessions_open(&s, token);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(sessions_open(&s, token));
	ck_assert_ptr_null(sessions_open(&s, ""));
	sessions_renew(&s);
	ck_assert_str_ne(s.token, token);
	second = sessions_open(&s, s.token);
	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_eq(sessions_find(&s, first->id), first);
	ck_assert_ptr_eq(sessions_find(&s, second->id), second);
	ck_assert_ptr_null(sessions_find(&s, ""));
	ck_assert_ptr_null(sessions_find(&s, NULL));
	ck_assert_ptr_null(sessions_find(&s, first->form));
	ck_assert_str_ne(first->form, second->form);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("web");
	TCase *t = tcase_create("web");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(t, each_head, 0, (int)ARRAY_SIZE(heads));
	tcase_add_loop_test(t, each_form, 0, (int)ARRAY_SIZE(forms));
	tcase_add_test(t, a_form_that_is_cut_anywhere);
	tcase_add_test(t, what_is_encoded_is_read_again);
	tcase_add_test(t, a_token_is_spent);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
