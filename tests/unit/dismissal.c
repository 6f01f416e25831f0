/* SPDX-License-Identifier: MIT */
/* Dismissed findings: what is recognised, what stays open, and who dismissed it. */
#include "core.h"
#include "core/dismissal.h"
#include "core/findings.h"
#include "proto/memory.h"

static struct finding_row *finding(const char *text, const char *severity, enum finding_state state)
{
	struct finding_row *row = row_new(ROW_FINDING);
	char id[FINDING_ID];

	finding_id(NULL, text, id);
	row->id = xstrdup(id);
	row->text = xstrdup(text);
	row->severity = xstrdup(severity);
	row->state = (int)state;
	return row;
}

static void add(char **list, const char *task, const struct finding_row *row, const char *by)
{
	char *longer = dismissals_add(*list, &(struct dismissal){ .task = task, .finding = row->id, .text = row->text,
	    .by = by, .reason = "on purpose", .at = "2026-11-27T10:00:00.000Z", .by_uid = 1000, .by_pid = 7,
	    .run = 3, .review = 2 });

	free(*list);
	*list = longer;
}

START_TEST(what_is_written_is_read)
{
	struct finding_row *row = finding("a", NULL, FINDING_NEW);
	struct dismissals d = dismissals_read(NULL);
	const struct dismissal *one;
	char *list = NULL;

	ck_assert_uint_eq(d.count, 0);
	ck_assert_ptr_null(dismissals_find(&d, "t1", row->id));
	dismissals_release(&d);
	d = dismissals_read("no list");
	ck_assert_uint_eq(d.count, 0);
	dismissals_release(&d);
	add(&list, "t1", row, "human:ann");
	add(&list, "t2", row, "human:bob");
	d = dismissals_read(list);
	ck_assert_uint_eq(d.count, 2);
	one = dismissals_find(&d, "t2", row->id);
	ck_assert(one == &d.list[1]);
	ck_assert_str_eq(one->by, "human:bob");
	ck_assert_str_eq(one->text, "a");
	ck_assert_str_eq(one->reason, "on purpose");
	ck_assert_str_eq(one->at, "2026-11-27T10:00:00.000Z");
	ck_assert_int_eq(one->by_uid, 1000);
	ck_assert_int_eq(one->by_pid, 7);
	ck_assert_int_eq(one->run, 3);
	ck_assert_int_eq(one->review, 2);
	/* of that task and with that id alone */
	ck_assert_ptr_null(dismissals_find(&d, "t3", row->id));
	ck_assert_ptr_null(dismissals_find(&d, "t1", "0123456789abcdef"));
	dismissals_release(&d);
	free(list);
	row_free(ROW_FINDING, row);
}
END_TEST

START_TEST(a_dismissed_finding_is_not_open)
{
	struct finding_row *rows[] = { finding("a", NULL, FINDING_NEW), finding("b", NULL, FINDING_REPEATED),
	    finding("c", NULL, FINDING_NEW), finding("d", "suggestion", FINDING_NEW) };
	struct finding_row *again = finding("B.", NULL, FINDING_NEW);
	struct finding_counts counts = { .new = 3, .repeated = 1, .resolved = 2 };
	struct dismissals d;
	char *list = NULL, *users;

	add(&list, "t1", rows[0], "human:ann");
	/* worded in another way */
	add(&list, "t1", again, "human:bob");
	add(&list, "t2", rows[2], "human:eve");
	d = dismissals_read(list);
	dismissals_mark(&d, "t1", rows, 4, &counts);
	ck_assert_int_eq(rows[0]->state, FINDING_DISMISSED);
	ck_assert_int_eq(rows[1]->state, FINDING_DISMISSED);
	ck_assert_int_eq(rows[2]->state, FINDING_NEW);
	ck_assert_int_eq(counts.new, 2);
	ck_assert_int_eq(counts.repeated, 0);
	ck_assert_int_eq(counts.resolved, 2);
	ck_assert_int_eq(counts.dismissed, 2);
	ck_assert(!finding_is_open(rows[0]) && !finding_is_open(rows[1]));
	ck_assert(finding_is_open(rows[2]) && !finding_is_open(rows[3]));
	users = dismissals_users(&d, "t1", (const struct finding_row *const *)rows, 4);
	ck_assert_str_eq(users, "ann, bob");
	free(users);
	users = dismissals_users(&d, "t3", (const struct finding_row *const *)rows, 4);
	ck_assert_str_eq(users, "");
	free(users);
	dismissals_release(&d);
	free(list);
	/* each user once */
	list = NULL;
	add(&list, "t1", rows[0], "human:ann");
	add(&list, "t1", rows[1], "human:ann");
	d = dismissals_read(list);
	users = dismissals_users(&d, "t1", (const struct finding_row *const *)rows, 4);
	ck_assert_str_eq(users, "ann");
	free(users);
	dismissals_release(&d);
	free(list);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_free(ROW_FINDING, rows[i]);
	row_free(ROW_FINDING, again);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { what_is_written_is_read, a_dismissed_finding_is_not_open };

	return RUN_SUITE("dismissal", tests);
}
