/* SPDX-License-Identifier: MIT */
/* An edit of any row of a run, with all chains rewritten, leaves an intact record, but not the one
 * that was attested. */
#include <stdio.h>

#include "core.h"
#include "core/chain.h"
#include "core/entries.h"
#include "core/state.h"
#include "fill.h"
#include "model/view.h"

#define RUN 7

static void put(struct run_rows *rows, enum row_kind kind, const char *key, int64_t number, int64_t state)
{
	void *row = row_new(kind);
	const struct row_type *type = &row_types[kind];

	fill_row(kind, row, (int)number);
	for (size_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];
		void *at = field_at(row, f);

		if (strcmp(f->name, "run") == 0)
			*(int64_t *)at = RUN;
		else if (strcmp(f->name, key) == 0 && f->kind == FIELD_INT)
			*(int64_t *)at = number;
		else if (strcmp(f->name, "state") == 0 && state != ROW_NONE)
			*(int *)at = (int)state;
	}
	if (kind == ROW_FINDING)
		((struct finding_row *)row)->number = 1;
	run_rows_put(rows, kind, row);
}

/* Rows belong to their list, which may only be read elsewhere. */
static void *own(const void *row)
{
	return (void *)(uintptr_t)row;
}

/* The attempts and the run have one judge. */
static void set_judge(struct run_rows *rows, const char *hash)
{
	char *copy = xstrdup(hash);

	text_set(&rows->run.judge_hash, copy);
	for (size_t i = 0; i < rows->nattempts; i++)
		text_set(&((struct attempt_row *)own(rows->attempts[i]))->judge_hash, copy);
	free(copy);
}

static struct run_rows *make_rows(void)
{
	struct run_rows *rows = run_rows_new();

	fill_row(ROW_RUN, &rows->run, 1);
	rows->run.id = RUN;
	rows->run.state = RUN_S_SUCCEEDED;
	for (int64_t number = 1; number <= 2; number++) {
		put(rows, ROW_TASK, "", number, TASK_S_PASSED);
		put(rows, ROW_ATTEMPT, "id", number, ATTEMPT_S_EXITED);
		put(rows, ROW_HOLD, "id", number, HOLD_S_APPROVED);
		put(rows, ROW_REVIEW, "number", number, ROW_NONE);
		put(rows, ROW_FINDING, "review", number, ROW_NONE);
		put(rows, ROW_PRODUCT, "number", number, ROW_NONE);
		put(rows, ROW_EVIDENCE, "number", number, ROW_NONE);
	}
	put(rows, ROW_PRUNED, "", 1, ROW_NONE);
	rows->run.pruned_at = rows->pruned[0]->pruned_at;
	set_judge(rows, "judge");
	return rows;
}

static void chain_reviews(struct run_rows *rows)
{
	const char *previous = NULL;
	char hex[DIGEST_HEX];

	for (size_t i = 0; i < rows->nreviews; i++) {
		struct review_row *row = own(rows->reviews[i]);
		size_t count;
		const struct finding_row **findings = run_rows_findings(rows, row->number, &count);

		text_set(&row->previous_hash, previous);
		review_hash(row, findings, count, hex);
		text_set(&row->hash, hex);
		previous = row->hash;
	}
	rows->run.review_count = (int64_t)rows->nreviews;
	text_set(&rows->run.review_head, previous);
}

static void chain_products(struct run_rows *rows)
{
	const char *previous = NULL;
	char hex[DIGEST_HEX];

	for (size_t i = 0; i < rows->nproducts; i++) {
		struct product_row *row = own(rows->products[i]);

		text_set(&row->previous_hash, previous);
		record_hash(ROW_PRODUCT, row, hex);
		text_set(&row->hash, hex);
		previous = row->hash;
	}
	rows->run.product_count = (int64_t)rows->nproducts;
	text_set(&rows->run.product_head, previous);
}

static void chain_evidence(struct run_rows *rows)
{
	const char *previous = NULL;
	char hex[DIGEST_HEX];

	for (size_t i = 0; i < rows->nevidence; i++) {
		struct evidence_row *row = own(rows->evidence[i]);

		text_set(&row->previous_hash, previous);
		record_hash(ROW_EVIDENCE, row, hex);
		text_set(&row->hash, hex);
		previous = row->hash;
	}
	rows->run.evidence_count = (int64_t)rows->nevidence;
	text_set(&rows->run.evidence_head, previous);
}

static void enter(struct run_rows *rows, enum row_kind kind, const void *row)
{
	char *key = entry_key(kind, row);
	const struct entry_row *newest = rows->nentries > 0 ? rows->entries[rows->nentries - 1] : NULL;
	struct entry_row *entry = entry_make(entry_newest(rows->entries, rows->nentries, row_types[kind].name, key),
	    kind, row, (int64_t)rows->nentries, newest != NULL ? newest->hash : NULL, 5);

	free(key);
	ck_assert_ptr_nonnull(entry);
	text_set(&rows->run.entry_head, entry->hash);
	rows->run.entry_count = entry->number;
	run_rows_put(rows, ROW_ENTRY, entry);
}

static void chain_all(struct run_rows *rows)
{
	while (rows->nentries > 0)
		run_rows_drop(rows, ROW_ENTRY, rows->entries[rows->nentries - 1]);
	chain_reviews(rows);
	chain_products(rows);
	chain_evidence(rows);
	for (size_t i = 0; i < rows->ntasks; i++)
		enter(rows, ROW_TASK, rows->tasks[i]);
	for (size_t i = 0; i < rows->nattempts; i++)
		enter(rows, ROW_ATTEMPT, rows->attempts[i]);
	for (size_t i = 0; i < rows->nholds; i++)
		enter(rows, ROW_HOLD, rows->holds[i]);
	enter(rows, ROW_RUN, &rows->run);
	for (size_t i = 0; i < rows->npruned; i++)
		enter(rows, ROW_PRUNED, rows->pruned[i]);
}

/* Keys of rows, what chain_all() rewrites, and what has no place in the record. */
static bool is_edited(enum row_kind kind, const char *name)
{
	static const char *const kept[] = {
		"id", "run", "number", "state", "hash", "previous_hash", "text", "review_count", "review_head",
		"product_count", "product_head", "evidence_count", "evidence_head", "entry_count", "entry_head",
		"pruned_at", "done", NULL
	};

	if (kind == ROW_RUN && strcmp(name, "bytes") == 0)
		return false;

	if (kind == ROW_FINDING && (strcmp(name, "text") == 0 || strcmp(name, "id") == 0 || strcmp(name, "state") == 0))
		return true;
	return !(kind == ROW_FINDING && strcmp(name, "review") == 0) && !strings_contain((char *const *)kept, name);
}

static void edit(void *row, const struct field *f)
{
	void *at = field_at(row, f);
	char *text;

	switch (f->kind) {
	case FIELD_INT:
	case FIELD_TIME:
		++*(int64_t *)at;
		break;
	case FIELD_REAL:
		*(double *)at += 1;
		break;
	case FIELD_TEXT:
	case FIELD_JSON:
		text = xasprintf("%s ", *(char **)at);
		free(*(char **)at);
		*(char **)at = text;
		break;
	case FIELD_STATE:
		*(int *)at = (*(int *)at + 1) % (int)f->names->count;
		break;
	}
}

/* NULL: a kind that is not part of the record. */
static void *first_of(struct run_rows *rows, enum row_kind kind)
{
	switch ((int)kind) {
	case ROW_RUN:
		return &rows->run;
	case ROW_TASK:
		return own(rows->tasks[0]);
	case ROW_ATTEMPT:
		return own(rows->attempts[0]);
	case ROW_HOLD:
		return own(rows->holds[0]);
	case ROW_REVIEW:
		return own(rows->reviews[0]);
	case ROW_FINDING:
		return own(rows->findings[0]);
	case ROW_PRODUCT:
		return own(rows->products[0]);
	case ROW_EVIDENCE:
		return own(rows->evidence[0]);
	case ROW_PRUNED:
		return own(rows->pruned[0]);
	default:
		return NULL;
	}
}

START_TEST(each_edit_shows)
{
	struct run_rows *rows = make_rows(), *edited;
	const struct entry_row *last;
	size_t edits = 0, unseen = 0;
	char *fault;

	chain_all(rows);
	ck_assert_ptr_null(fault = run_rows_verify(rows));
	last = rows->entries[rows->nentries - 1];
	ck_assert_ptr_null(entries_attested(rows->entries, rows->nentries, last->number, last->hash));
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		for (size_t i = 0; i < row_types[kind].nfields; i++) {
			const struct field *f = &row_types[kind].fields[i];
			void *row;

			edited = run_rows_copy(rows);
			row = first_of(edited, (enum row_kind)kind);
			if (row == NULL || !is_edited((enum row_kind)kind, f->name)) {
				run_rows_free(edited);
				continue;
			}
			edits++;
			edit(row, f);
			if (strcmp(f->name, "judge_hash") == 0)
				set_judge(edited, *(char **)field_at(row, f));
			chain_all(edited);
			ck_assert_msg((fault = run_rows_verify(edited)) == NULL, "%s.%s: not rewritten: %s",
			    row_types[kind].name, f->name, fault);
			fault = entries_attested(edited->entries, edited->nentries, last->number, last->hash);
			if (fault == NULL)
				printf("unseen: %s.%s\n", row_types[kind].name, f->name);
			unseen += fault == NULL;
			free(fault);
			run_rows_free(edited);
		}
	}
	run_rows_free(rows);
	ck_assert_msg(edits >= 100, "only %zu edits", edits);
	ck_assert_uint_eq(unseen, 0);
}
END_TEST

/* A row that is left out, added, or entered in another order. */
START_TEST(a_record_of_other_rows)
{
	for (int way = 0; way < 3; way++) {
		struct run_rows *rows = make_rows();
		char *attested, *fault;
		int64_t number;

		chain_all(rows);
		attested = xstrdup(rows->run.entry_head);
		number = rows->run.entry_count;
		if (way == 0)
			run_rows_drop(rows, ROW_HOLD, rows->holds[1]);
		else if (way == 1)
			run_rows_drop(rows, ROW_EVIDENCE, rows->evidence[1]);
		else
			put(rows, ROW_PRODUCT, "number", 3, ROW_NONE);
		chain_all(rows);
		ck_assert_ptr_null(run_rows_verify(rows));
		fault = entries_attested(rows->entries, rows->nentries, number, attested);
		ck_assert_msg(fault != NULL && strstr(fault, "rewritten") != NULL, "%d: %s", way, fault);
		free(fault);
		free(attested);
		run_rows_free(rows);
	}
}
END_TEST

#define MANY 100000

/* A look at all entries for each row would take minutes. */
START_TEST(a_record_of_many_tasks)
{
	struct run_rows *rows = run_rows_new();
	char *fault;

	for (int i = 0; i < MANY; i++) {
		struct task_row *task = row_new(ROW_TASK);

		task->run = RUN;
		task->id = xasprintf("x-%06d", i);
		task->state = TASK_S_CANCELLED;
		run_rows_put(rows, ROW_TASK, task);
		run_rows_put(rows, ROW_ENTRY, entry_make(NULL, ROW_TASK, task, i, NULL, 5));
	}
#define COMPARE() entries_compare(rows->entries, rows->nentries, ROW_TASK, (const void *const *)rows->tasks, \
	rows->ntasks, true)
	ck_assert_ptr_null(fault = COMPARE());
	((struct task_row *)own(rows->tasks[17]))->state = TASK_S_DONE;
	fault = COMPARE();
	ck_assert_msg(fault != NULL && strstr(fault, "task x-000017 was changed: entry 18") != NULL, "%s", fault);
	free(fault);
	run_rows_put(rows, ROW_ENTRY, entry_make(rows->entries[17], ROW_TASK, rows->tasks[17], MANY, NULL, 5));
	ck_assert_ptr_null(fault = COMPARE());
	run_rows_drop(rows, ROW_TASK, rows->tasks[MANY - 1]);
	run_rows_drop(rows, ROW_TASK, rows->tasks[17]);
	fault = COMPARE();
	ck_assert_msg(fault != NULL && strstr(fault, "x-000017 was removed: entry 18") != NULL, "%s", fault);
	free(fault);
	run_rows_free(rows);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { each_edit_shows, a_record_of_other_rows, a_record_of_many_tasks };

	return RUN_SUITE("attested", tests);
}
