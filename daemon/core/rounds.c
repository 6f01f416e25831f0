/* SPDX-License-Identifier: MIT */
#include "core/rounds.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/memory.h"

static json_t *rounds_read(const char *list)
{
	json_t *rounds = list != NULL ? json_loads(list, 0, NULL) : NULL;

	return rounds != NULL ? rounds : json_array();
}

/* Takes the array. */
static char *rounds_write(json_t *rounds)
{
	char *list = json_dumps(rounds, JSON_COMPACT);

	json_decref(rounds);
	return list;
}

static struct judged_round rounds_at(const json_t *rounds, size_t i)
{
	const json_t *object = json_array_get(rounds, i), *review = json_object_get(object, "review");

	return (struct judged_round){
		.fix = json_integer_value(json_object_get(object, "fix")),
		.review = json_is_integer(review) ? json_integer_value(review) : ROW_NONE,
		.tree = json_string_value(json_object_get(object, "tree")),
		.findings = json_string_value(json_object_get(object, "findings")),
	};
}

static char *name(const struct judged_round *r)
{
	if (r->review != ROW_NONE)
		return xasprintf("round %lld", (long long)r->review);
	return r->fix > 0 ? xasprintf("fix %lld", (long long)r->fix) : xstrdup("the work before fix 1");
}

static bool same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Of an equal tree and equal findings. */
static const char *const likenesses[2][2] = {
	{ "git still objects", "the findings are the same" },
	{ "the tree is the same", "the tree and the findings are the same" },
};

static char *sentence(const struct judged_round *now, const struct judged_round *then)
{
	char *a = name(now), *b = name(then),
	    *text = xasprintf("%s repeats %s: %s", a, b,
	    likenesses[same(now->tree, then->tree)][same(now->findings, then->findings)]);

	free(a);
	free(b);
	return text;
}

static bool has_text(const json_t *array, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
		if (same(json_string_value(item), text))
			return true;
	return false;
}

/* Its reviewer was asked about a finding that no earlier one was asked about. */
static bool asks_anew(const json_t *rounds, const struct judged_round *now)
{
	const json_t *round, *id;
	size_t i, r;

	json_array_foreach(now->disputed, i, id) {
		bool before = false;

		json_array_foreach(rounds, r, round)
			before |= has_text(json_object_get(round, "disputed"), json_string_value(id));
		if (!before)
			return true;
	}
	return false;
}

/* The first round that it is like. The same work judged twice is no repetition. */
static bool find(const json_t *rounds, const struct judged_round *now, struct judged_round *then)
{
	size_t count = json_array_size(rounds);

	for (size_t i = 0; i < count; i++) {
		*then = rounds_at(rounds, i);
		if (then->fix < now->fix && (same(now->tree, then->tree) ||
		    same(now->findings, then->findings) || (now->same && i + 1 == count)))
			return true;
	}
	return false;
}

char *rounds_add(const char *list, const struct judged_round *now, int64_t wasted, struct repeat *repeat)
{
	json_t *rounds = rounds_read(list);
	struct judged_round then, last;

	*repeat = (struct repeat){ 0 };
	if (!asks_anew(rounds, now) && find(rounds, now, &then)) {
		last = rounds_at(rounds, json_array_size(rounds) - 1);
		repeat->wasted = wasted + now->fix - last.fix;
		if (repeat->wasted < now->fix - then.fix)
			repeat->wasted = now->fix - then.fix;
		repeat->text = sentence(now, &then);
	}
	json_array_append_new(rounds, json_pack("{s:I, s:o, s:s*, s:s*, s:O*}", "fix", (json_int_t)now->fix,
	    "review", now->review == ROW_NONE ? json_null() : json_integer(now->review),
	    "tree", now->tree, "findings", now->findings, "disputed", now->disputed));
	return rounds_write(rounds);
}

char *rounds_restart(const char *list, int64_t fix)
{
	json_t *rounds, *last;

	if (list == NULL)
		return NULL;
	rounds = rounds_read(list);
	while (json_array_size(rounds) > 1)
		json_array_remove(rounds, 0);
	last = json_array_get(rounds, 0);
	if (last != NULL)
		json_object_set_new(last, "fix", json_integer(fix));
	return rounds_write(rounds);
}
