/* SPDX-License-Identifier: MIT */
#include "core/continuation.h"

#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/rounds.h"
#include "core/slot.h"
#include "core/state.h"
#include "proto/memory.h"
#include "proto/state_names.h"

/* The members that are strings, and those that are numbers. */
#define TEXT(type, m)	{ #m, offsetof(struct type, m) }
static const struct member {
	const char *name;
	size_t offset;
} texts[] = {
	TEXT(continuation, tree), TEXT(continuation, base_commit), TEXT(continuation, base_tree),
	TEXT(continuation, commit), TEXT(continuation, beside), TEXT(continuation, conflict),
	TEXT(continuation, answer_hash), TEXT(continuation, previous_tree),
	TEXT(continuation, previous_answer_hash), TEXT(continuation, product_tree),
	TEXT(continuation, rounds), TEXT(continuation, question), TEXT(continuation, reply),
	TEXT(continuation, cut),
}, numbers[] = {
	TEXT(continuation, run), TEXT(continuation, answer), TEXT(continuation, round),
	TEXT(continuation, fix), TEXT(continuation, product),
}, run_texts[] = {
	TEXT(run_continuation, base_commit), TEXT(run_continuation, base_tree),
	TEXT(run_continuation, tip), TEXT(run_continuation, expected), TEXT(run_continuation, beside),
	TEXT(run_continuation, settings),
};

#define COUNT(list)	(sizeof(list) / sizeof((list)[0]))

static char **text_at(void *c, const struct member *m)
{
	return (char **)(void *)((char *)c + m->offset);
}

static int64_t *number_at(void *c, const struct member *m)
{
	return (int64_t *)(void *)((char *)c + m->offset);
}

static void texts_put(json_t *json, void *c, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (*text_at(c, &members[i]) != NULL)
			json_object_set_new(json, members[i].name, json_string(*text_at(c, &members[i])));
}

static void texts_get(const json_t *json, void *c, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*text_at(c, &members[i]) = xstrdup(json_string_value(json_object_get(json, members[i].name)));
}

static void texts_free(void *c, const struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(*text_at(c, &members[i]));
}

bool continuation_of(const struct slot_row *slot, const struct product_row *product, bool shared,
    struct continuation *c)
{
	bool own = slot_row_has_own(slot) && product != NULL;

	*c = (struct continuation){ .run = slot->run, .answer = ROW_NONE, .product = ROW_NONE };
	if (slot->tree == NULL)
		return false;
	c->tree = xstrdup(own ? product->tree : slot->tree);
	c->base_commit = xstrdup(own ? slot->own_base_commit : slot->base_commit);
	c->base_tree = xstrdup(own ? slot->own_base_tree : slot->base_tree);
	c->beside = xstrdup(slot->beside);
	c->answer_hash = xstrdup(slot->answer_hash);
	c->previous_tree = xstrdup(slot->previous_tree);
	c->previous_answer_hash = xstrdup(slot->previous_answer_hash);
	/* the next fixes are new ones, but what they lead to is compared with all before */
	c->rounds = rounds_restart(slot->rounds, slot->fix);
	c->question = xstrdup(slot->question);
	c->reply = xstrdup(slot->reply);
	c->answer = slot->answer != ROW_NONE ? slot->answer : slot->earlier_answer;
	c->round = slot->round;
	c->fix = slot->fix;
	c->kind = PRODUCT_WORK;
	/* the branch waits for the word on a merge that is being judged */
	c->merged = product != NULL && product->kind == PRODUCT_MERGED &&
	    !slot_merge_waits((enum slot_merge)slot->merge);
	if (product != NULL && product->kind != PRODUCT_BASE) {
		c->product = product->number;
		c->kind = product->kind != PRODUCT_MERGED || c->merged ? product->kind : PRODUCT_WORK;
		c->product_tree = xstrdup(product->tree);
	}
	/* after a conflict the tree is no product, and the commit is that from before */
	if (slot->obstacle != NULL && slot->commit_id != NULL && product != NULL && !c->merged &&
	    strcmp(product->tree, c->tree) != 0)
		c->conflict = xstrdup(slot->obstacle);
	else if (!shared && product != NULL)
		c->commit = xstrdup(own ? slot->own_commit : slot->commit_id);
	return true;
}

void continuation_release(struct continuation *c)
{
	texts_free(c, texts, COUNT(texts));
	*c = (struct continuation){ .answer = ROW_NONE, .product = ROW_NONE };
}

static json_t *to_json(const struct continuation *from)
{
	struct continuation c = *from;
	json_t *json = json_pack("{s:s, s:b, s:b}", "kind", state_name(&product_kind_names, c.kind),
	    "merged", c.merged, "again", c.again);

	texts_put(json, &c, texts, COUNT(texts));
	for (size_t i = 0; i < COUNT(numbers); i++)
		if (*number_at(&c, &numbers[i]) != ROW_NONE)
			json_object_set_new(json, numbers[i].name, json_integer(*number_at(&c, &numbers[i])));
	return json;
}

static int from_json(const json_t *json, struct continuation *c)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));

	*c = (struct continuation){ .kind = kind != NULL ? state_value(&product_kind_names, kind) : -1 };
	texts_get(json, c, texts, COUNT(texts));
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const json_t *number = json_object_get(json, numbers[i].name);

		*number_at(c, &numbers[i]) = json_is_integer(number) ? json_integer_value(number) : ROW_NONE;
	}
	c->merged = json_is_true(json_object_get(json, "merged"));
	c->again = json_is_true(json_object_get(json, "again"));
	if (c->kind >= 0 && c->tree != NULL && c->run != ROW_NONE && c->round != ROW_NONE && c->fix != ROW_NONE)
		return 0;
	continuation_release(c);
	return -1;
}

static char *take_text(json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	return text;
}

char *continuation_to_json(const struct continuation *c)
{
	return take_text(to_json(c));
}

int continuation_from_json(const char *text, struct continuation *c)
{
	json_t *json = text != NULL ? json_loads(text, 0, NULL) : NULL;
	int rv = json != NULL ? from_json(json, c) : -1;

	json_decref(json);
	return rv;
}

char *run_continuation_to_json(const struct run_continuation *from)
{
	struct run_continuation c = *from;
	json_t *json = json_pack("{s:I}", "run", (json_int_t)c.run);

	texts_put(json, &c, run_texts, COUNT(run_texts));
	if (c.whole != NULL)
		json_object_set_new(json, "whole", to_json(c.whole));
	return take_text(json);
}

int run_continuation_from_json(const char *text, struct run_continuation *c)
{
	json_t *json = text != NULL ? json_loads(text, 0, NULL) : NULL;
	const json_t *whole = json_object_get(json, "whole"), *run = json_object_get(json, "run");
	int rv = json_is_integer(run) ? 0 : -1;

	*c = (struct run_continuation){ .run = rv == 0 ? json_integer_value(run) : ROW_NONE };
	texts_get(json, c, run_texts, COUNT(run_texts));
	if (rv == 0 && whole != NULL) {
		c->whole = xcalloc(1, sizeof(*c->whole));
		rv = from_json(whole, c->whole);
	}
	if (rv == -1)
		run_continuation_release(c);
	json_decref(json);
	return rv;
}

void run_continuation_release(struct run_continuation *c)
{
	texts_free(c, run_texts, COUNT(run_texts));
	if (c->whole != NULL)
		continuation_release(c->whole);
	free(c->whole);
	*c = (struct run_continuation){ .run = ROW_NONE };
}
