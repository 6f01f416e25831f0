/* SPDX-License-Identifier: MIT */
#include "client/page/round_group.h"

#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "proto/memory.h"

static bool rounds_works(const json_t *attempt)
{
	return field_is(attempt, "role", "implement") || field_is(attempt, "role", "fix");
}

/* Whether the row is of the task, or of all tasks. */
static bool rounds_is_of(const json_t *row, const char *key, const char *task)
{
	const char *of = field_text(row, key);

	return task == NULL ? *of == '\0' : strcmp(of, task) == 0;
}

static struct round_group *rounds_add(struct rounds *r)
{
	r->all = xreallocarray(r->all, r->count + 1, sizeof(*r->all));
	r->all[r->count] = (struct round_group){ json_array(), json_array(), json_array(), false };
	return &r->all[r->count++];
}

/* A round begins with work that follows anything else. */
static void rounds_add_attempts(struct rounds *r, const json_t *attempts, const char *task, int64_t slot)
{
	bool judged = true;

	for (size_t i = 0; i < json_array_size(attempts); i++) {
		json_t *attempt = json_array_get(attempts, i);
		bool works = rounds_works(attempt);

		if (!rounds_is_of(attempt, "task", task) || (task == NULL && field_int(attempt, "slot") != slot))
			continue;
		if (r->count == 0 || r->all[r->count - 1].taken_over || (works && judged))
			rounds_add(r);
		judged = !works;
		json_array_append(r->all[r->count - 1].attempts, attempt);
	}
}

/* The round that has the attempt; NULL: none. */
static struct round_group *rounds_find(struct rounds *r, int64_t attempt)
{
	for (size_t i = 0; attempt != FIELD_NONE && i < r->count; i++)
		if (field_find(r->all[i].attempts, "id", attempt) != NULL)
			return &r->all[i];
	return NULL;
}

/* Reviews that a retry has taken over come first, in a round of their own. */
static void rounds_take_over(struct rounds *r, const json_t *reviews, const char *task)
{
	for (size_t i = 0; i < json_array_size(reviews); i++) {
		json_t *review = json_array_get(reviews, i);

		if (!rounds_is_of(review, "task_id", task) || field_int(review, "from_run") == FIELD_NONE)
			continue;
		if (r->count == 0)
			rounds_add(r)->taken_over = true;
		json_array_append(r->all[0].reviews, review);
	}
}

/* A decision without an attempt, of a panel or a human, follows what it decides about. */
static void rounds_add_reviews(struct rounds *r, const json_t *reviews, const char *task)
{
	struct round_group *at = NULL, *found;

	for (size_t i = 0; i < json_array_size(reviews); i++) {
		json_t *review = json_array_get(reviews, i);

		if (!rounds_is_of(review, "task_id", task) || field_int(review, "from_run") != FIELD_NONE)
			continue;
		found = rounds_find(r, field_int(review, "attempt"));
		if (found != NULL)
			at = found;
		if (at == NULL)
			at = r->count == 0 ? rounds_add(r) : &r->all[r->count - 1];
		json_array_append(at->reviews, review);
	}
}

static void rounds_add_checks(struct rounds *r, const json_t *d)
{
	const json_t *evidence = field_array(d, "evidence"), *products = field_array(d, "products");

	for (size_t i = 0; i < json_array_size(evidence); i++) {
		json_t *row = json_array_get(evidence, i);
		const json_t *product = field_find(products, "number", field_int(row, "product"));
		struct round_group *found = rounds_find(r, field_int(row, "attempt"));

		if (!field_is(row, "kind", "check"))
			continue;
		if (found == NULL && field_int(row, "from_attempt") != FIELD_NONE)
			found = rounds_find(r, field_int(product, "attempt"));
		if (found != NULL)
			json_array_append(found->checks, row);
	}
}

void rounds_read(struct rounds *r, const json_t *d, const char *task, int64_t slot)
{
	*r = (struct rounds){ 0 };
	rounds_take_over(r, field_array(d, "reviews"), task);
	rounds_add_attempts(r, field_array(d, "attempts"), task, slot);
	rounds_add_reviews(r, field_array(d, "reviews"), task);
	rounds_add_checks(r, d);
}

void rounds_release(struct rounds *r)
{
	for (size_t i = 0; i < r->count; i++) {
		json_decref(r->all[i].attempts);
		json_decref(r->all[i].reviews);
		json_decref(r->all[i].checks);
	}
	free(r->all);
	*r = (struct rounds){ 0 };
}

char *rounds_title(const struct rounds *r, size_t index)
{
	const struct round_group *round = &r->all[index];
	const json_t *first = json_array_get(round->attempts, 0);

	if (round->taken_over)
		return xasprintf("Taken over from run %lld",
		    field_count(json_array_get(round->reviews, 0), "from_run"));
	if (field_is(first, "role", "fix"))
		return xasprintf("Fix %lld", field_count(first, "round"));
	return xstrdup(field_is(first, "role", "implement") ? "Work" : "Checks and reviews");
}
