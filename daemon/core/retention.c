/* SPDX-License-Identifier: MIT */
#include "core/retention.h"

#include "core/row.h"
#include "core/run.h"

static const char *const limits[] = {
	[RETENTION_NONE] = NULL, [RETENTION_AGE] = "age", [RETENTION_FAILURES] = "failures",
	[RETENTION_NUMBER] = "number", [RETENTION_SIZE] = "size",
};
static const char *const needs[] = {
	[RETENTION_FREE] = NULL, [RETENTION_RUNNING] = "running", [RETENTION_HELD] = "held",
	[RETENTION_HOOK] = "hook", [RETENTION_NEEDED] = "needed", [RETENTION_UNMERGED] = "unmerged",
	[RETENTION_UNREADABLE] = "unreadable", [RETENTION_SALVAGE] = "salvage",
};
const struct state_names retention_limit_names = { "limit of [keep]", limits, RETENTION_LIMITS, NULL };
const struct state_names retention_need_names = { "need", needs, RETENTION_NEEDS, NULL };

bool retention_goes(const struct retention_run *run)
{
	return run->limit != RETENTION_NONE && run->need == RETENTION_FREE;
}

static bool is_over(const struct retention_run *run)
{
	return run_state_is_end((enum run_state)run->state);
}

static bool is_older(const struct retention_run *run, int64_t now, int64_t age)
{
	return age != ROW_NONE && now - run->since >= age;
}

/* What the run itself says. Saved work is kept as long as failures are, whatever limit it is. */
static enum retention_need own_need(const struct retention_policy *policy, int64_t now,
    const struct retention_run *run)
{
	static const enum retention_need of_merged[] = {
		[RETENTION_NOT_ASKED] = RETENTION_FREE, [RETENTION_IS_MERGED] = RETENTION_FREE,
		[RETENTION_IS_UNMERGED] = RETENTION_UNMERGED, [RETENTION_IS_UNREADABLE] = RETENTION_UNREADABLE,
		[RETENTION_IS_SAVED] = RETENTION_SALVAGE,
	};

	if (run->state == RUN_S_HELD)
		return RETENTION_HELD;
	if (!is_over(run) || run->at_work)
		return RETENTION_RUNNING;
	if (!run->hook && run->merged == RETENTION_IS_SAVED && is_older(run, now, policy->failures))
		return RETENTION_FREE;
	return run->hook ? RETENTION_HOOK : of_merged[run->merged];
}

/* By its age. */
static enum retention_limit age_limit(const struct retention_policy *policy, int64_t now,
    const struct retention_run *run)
{
	bool failure = is_over(run) && run->state != RUN_S_SUCCEEDED;
	int64_t age = failure ? policy->failures : policy->age;

	if (!is_older(run, now, age))
		return RETENTION_NONE;
	return failure ? RETENTION_FAILURES : RETENTION_AGE;
}

/* The run of this id; NULL: it has been pruned. */
static struct retention_run *find(struct retention_run *runs, size_t count, int64_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && runs[low].id == id ? &runs[low] : NULL;
}

static void need(struct retention_run *runs, size_t count, int64_t id, int64_t by)
{
	struct retention_run *run = id != ROW_NONE ? find(runs, count, id) : NULL;

	if (run == NULL || run->need != RETENTION_FREE)
		return;
	run->need = RETENTION_NEEDED;
	run->by = by;
}

/* What a run that stays continues, stays: a retry of it begins with that. Newer runs come first. */
static void find_needs(const struct retention_policy *policy, int64_t now, struct retention_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		runs[i].need = own_need(policy, now, &runs[i]);
		runs[i].by = ROW_NONE;
	}
	for (size_t i = count; i > 0; i--) {
		if (!retention_goes(&runs[i - 1]))
			need(runs, count, runs[i - 1].retry_of, runs[i - 1].id);
		if (!is_over(&runs[i - 1]))
			need(runs, count, runs[i - 1].after, runs[i - 1].id);
	}
}

static int64_t kept_bytes(const struct retention_run *runs, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (!retention_goes(&runs[i]) && runs[i].bytes != ROW_NONE)
			sum += runs[i].bytes;
	return sum;
}

/* The oldest go until the rest fits. What goes may free what it continues, which is older. */
static void fit(const struct retention_policy *policy, int64_t now, int64_t others, struct retention_run *runs,
    size_t count)
{
	int64_t sum = kept_bytes(runs, count) + others;
	bool found = true;

	while (found && sum > policy->size) {
		found = false;
		for (size_t i = 0; i < count && sum > policy->size; i++) {
			if (runs[i].limit != RETENTION_NONE || runs[i].need != RETENTION_FREE ||
			    runs[i].bytes == ROW_NONE || runs[i].bytes == 0)
				continue;
			runs[i].limit = RETENTION_SIZE;
			sum -= runs[i].bytes;
			found = true;
		}
		find_needs(policy, now, runs, count);
		sum = kept_bytes(runs, count) + others;
	}
}

void retention_decide(const struct retention_policy *policy, int64_t now, int64_t others, struct retention_run *runs,
    size_t count)
{
	int64_t newer = 0;

	for (size_t i = count; i > 0; i--) {
		struct retention_run *run = &runs[i - 1];

		run->limit = age_limit(policy, now, run);
		if (run->limit == RETENTION_NONE && is_over(run) && policy->number != ROW_NONE &&
		    newer >= policy->number)
			run->limit = RETENTION_NUMBER;
		newer += is_over(run);
	}
	find_needs(policy, now, runs, count);
	if (policy->size != ROW_NONE)
		fit(policy, now, others, runs, count);
}
