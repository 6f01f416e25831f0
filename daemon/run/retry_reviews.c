/* SPDX-License-Identifier: MIT */
#include "run/retry_reviews.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/chain.h"
#include "core/row.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "run/submission.h"

static bool is_taken(const struct pending_submit *p, const char *task)
{
	/* those of the whole run */
	if (strcmp(task, SLOT_WHOLE_RUN) == 0)
		return true;
	for (size_t i = 0; i < p->ntasks; i++)
		if (strcmp(p->tasks[i]->id, task) == 0)
			return p->tasks[i]->start != NULL || p->ntasks == 1;
	return false;
}

/* They become the first reviews of the new run. */
static void number_reviews(struct pending_submit *p)
{
	struct run_rows *numbered = run_rows_new();

	for (size_t i = 0; i < p->taken_over->nreviews; i++) {
		struct review_row *review = row_copy(ROW_REVIEW, p->taken_over->reviews[i]);
		const struct finding_row **findings;
		char hex[DIGEST_HEX];
		size_t count;

		findings = run_rows_findings(p->taken_over, review->number, &count);
		for (size_t f = 0; f < count; f++) {
			struct finding_row *finding = row_copy(ROW_FINDING, findings[f]);

			finding->run = p->row->id;
			run_rows_put(numbered, ROW_FINDING, finding);
		}
		findings = run_rows_findings(numbered, review->number, &count);
		review->run = p->row->id;
		text_set(&review->previous_hash, p->row->review_head);
		review_hash(review, findings, count, hex);
		text_set(&review->hash, hex);
		text_set(&p->row->review_head, hex);
		p->row->review_count = review->number;
		run_rows_put(numbered, ROW_REVIEW, review);
	}
	run_rows_free(p->taken_over);
	p->taken_over = numbered;
}

/* Of a decision of a panel; its votes were taken over before it. numbers: that each review of rows
 * has now, 0: it was not taken over. */
static void renumber_votes(const struct run_rows *rows, const int64_t *numbers, struct review_row *decision)
{
	json_t *votes = decision->votes != NULL ? json_loads(decision->votes, 0, NULL) : NULL, *vote;
	json_t *list = json_array();
	size_t i;

	json_array_foreach(votes, i, vote) {
		for (size_t k = 0; k < rows->nreviews; k++)
			if (rows->reviews[k]->number == json_integer_value(vote) && numbers[k] > 0)
				json_array_append_new(list, json_integer(numbers[k]));
	}
	free(decision->votes);
	decision->votes = votes != NULL ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	json_decref(votes);
}

void retry_reviews_take(struct pending_submit *p, const struct run_rows *rows)
{
	int64_t *numbers;

	if (p->start == NULL)
		return;
	numbers = xcalloc(rows->nreviews, sizeof(*numbers));
	p->disputed = xstrdup(rows->run.disputed);
	p->taken_over = run_rows_new();
	p->numbers = number_reviews;
	for (size_t i = 0; i < rows->nreviews; i++) {
		const struct review_row *old = rows->reviews[i];
		const struct finding_row **findings;
		struct review_row *review;
		size_t count;

		if (!is_taken(p, old->task_id))
			continue;
		review = row_copy(ROW_REVIEW, old);
		review->number = (int64_t)p->taken_over->nreviews + 1;
		if (old->from_run == ROW_NONE) {
			review->from_run = old->run;
			review->from_review = old->number;
		}
		review->attempt = ROW_NONE;
		numbers[i] = review->number;
		renumber_votes(rows, numbers, review);
		findings = run_rows_findings(rows, old->number, &count);
		for (size_t f = 0; f < count; f++) {
			struct finding_row *finding = row_copy(ROW_FINDING, findings[f]);

			finding->review = review->number;
			run_rows_put(p->taken_over, ROW_FINDING, finding);
		}
		run_rows_put(p->taken_over, ROW_REVIEW, review);
	}
	free(numbers);
}
