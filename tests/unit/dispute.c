/* SPDX-License-Identifier: MIT */
/* Disputed findings: what a fixer's answer says, what waits for a verdict, and what that makes of
 * it. */
#include "core.h"
#include "core/dispute.h"
#include "core/findings.h"
#include "proto/memory.h"

static void add(char **list, const char *task, const char *finding, const char *reason)
{
	char *longer = disputes_add(*list, &(struct dispute){ .task = task, .finding = finding, .text = "a.c:1: x",
	    .by = "claude", .reason = reason, .at = "2026-11-27T10:00:00.000Z", .run = 3, .attempt = 7 });

	free(*list);
	*list = longer;
}

static void answer(char **list, const char *task, const char *id)
{
	struct finding_row *row = row_new(ROW_FINDING);
	const struct finding_row *said[] = { row };
	char *next;

	row->id = xstrdup(id);
	next = disputes_answer(*list, task, said, id != NULL);
	if (next != NULL) {
		free(*list);
		*list = next;
	}
	row_free(ROW_FINDING, row);
}

START_TEST(what_is_written_is_read)
{
	struct disputes d = disputes_read(NULL);
	const struct dispute *one;
	char *list = NULL;

	ck_assert_uint_eq(d.count, 0);
	ck_assert_ptr_null(disputes_find(&d, "t1", "aa"));
	disputes_release(&d);
	d = disputes_read("no list");
	ck_assert_uint_eq(d.count, 0);
	disputes_release(&d);
	add(&list, "t1", "aa", "first");
	add(&list, "t1", "aa", "second");
	d = disputes_read(list);
	one = disputes_pending(&d, "t1", "aa");
	ck_assert(one == &d.list[1]);
	ck_assert_str_eq(one->reason, "second");
	ck_assert_str_eq(one->text, "a.c:1: x");
	ck_assert_str_eq(one->by, "claude");
	ck_assert_str_eq(one->at, "2026-11-27T10:00:00.000Z");
	ck_assert_ptr_null(one->answer);
	ck_assert_int_eq(one->run, 3);
	ck_assert_int_eq(one->attempt, 7);
	ck_assert_ptr_null(disputes_find(&d, "t2", "aa"));
	ck_assert_ptr_null(disputes_find(&d, "t1", "bb"));
	disputes_release(&d);
	free(list);
}
END_TEST

START_TEST(a_verdict_answers)
{
	struct disputes d;
	char *list = NULL;

	ck_assert_ptr_null(disputes_answer(NULL, "t1", NULL, 0));
	add(&list, "t1", "aa", "first");
	add(&list, "t1", "bb", "first");
	add(&list, "t2", "aa", "first");
	answer(&list, "t1", "aa");
	d = disputes_read(list);
	ck_assert_str_eq(d.list[0].answer, DISPUTE_REPEATED);
	ck_assert_str_eq(d.list[1].answer, DISPUTE_DROPPED);
	ck_assert_ptr_null(d.list[2].answer);
	ck_assert_ptr_null(disputes_pending(&d, "t1", "aa"));
	ck_assert_ptr_nonnull(disputes_find(&d, "t1", "aa"));
	ck_assert_ptr_nonnull(disputes_pending(&d, "t2", "aa"));
	disputes_release(&d);
	/* an answer stands */
	add(&list, "t1", "aa", "second");
	answer(&list, "t1", NULL);
	d = disputes_read(list);
	ck_assert_str_eq(d.list[0].answer, DISPUTE_REPEATED);
	ck_assert_str_eq(d.list[3].answer, DISPUTE_DROPPED);
	disputes_release(&d);
	free(list);
}
END_TEST

static const struct {
	const char *line, *finding, *reason;	/* NULL: it is no dispute */
} lines[] = {
	{ "Disputed aa: the test says so", "aa", "the test says so" },
	{ "  Disputed aa:it is\r", "aa", "it is" },
	{ "- Disputed `aa`: a: b", "aa", "a: b" },
	{ "* Disputed aa: b", "aa", "b" },
	{ "Disputed no-id: b", "no-id", "b" },
	{ "Disputed aa:", NULL, NULL },
	{ "Disputed aa:   ", NULL, NULL },
	{ "Disputed : b", NULL, NULL },
	{ "Disputed aa", NULL, NULL },
	{ "Disputed", NULL, NULL },
	{ "disputed aa: b", NULL, NULL },
	{ "I have Disputed aa: b", NULL, NULL },
	{ "Disputed that this is so: b", NULL, NULL },
	{ "> Disputed aa: b", NULL, NULL },
	{ "```\nDisputed aa: b\n```", NULL, NULL },
	{ "Disputed 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdefaaaa: b", NULL, NULL },
};

START_TEST(lines_of_an_answer)
{
	struct dispute_line *found;
	size_t count;
	bool more;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *text = xasprintf("Done.\n%s\nMore.\n", lines[i].line);

		found = dispute_lines(text, strlen(text), 5, &count, &more);
		ck_assert_msg(count == (lines[i].finding != NULL), "%s", lines[i].line);
		ck_assert(!more);
		if (count > 0) {
			ck_assert_str_eq(found[0].finding, lines[i].finding);
			ck_assert_str_eq(found[0].reason, lines[i].reason);
		}
		dispute_lines_free(found, count);
		free(text);
	}
	found = dispute_lines("Disputed a: 1\nDisputed b: 2\nDisputed c: 3", 41, 2, &count, &more);
	ck_assert_uint_eq(count, 2);
	ck_assert(more);
	ck_assert_str_eq(found[1].finding, "b");
	dispute_lines_free(found, count);
	found = dispute_lines("Disputed a: 1\nDisputed b: 2", 27, 2, &count, &more);
	ck_assert_uint_eq(count, 2);
	ck_assert(!more);
	dispute_lines_free(found, count);
	ck_assert_ptr_null(dispute_lines("", 0, 2, &count, &more));
	ck_assert_uint_eq(count, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { what_is_written_is_read, a_verdict_answers, lines_of_an_answer };

	return RUN_SUITE("dispute", tests);
}
