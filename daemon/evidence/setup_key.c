/* SPDX-License-Identifier: MIT */
#include "evidence/setup_key.h"

#include <string.h>

#include "base/digest.h"
#include "core/plan.h"
#include "core/row.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"

static void add_text(struct buf *b, const char *text)
{
	buf_addf(b, "%zu:%s,", text != NULL ? strlen(text) : 0, text != NULL ? text : "");
}

static void add_list(struct buf *b, char *const *list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		add_text(b, list[i]);
	add_text(b, NULL);
}

static char *hash(struct buf *b)
{
	char hex[DIGEST_HEX];

	digest_hex(b->data, b->size, hex);
	buf_release(b);
	return xstrdup(hex);
}

char *setup_hash(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);
	struct buf b = { 0 };

	if (!plan_prepares(plan))
		return NULL;
	add_list(&b, plan->setup);
	for (size_t i = 0; i < strings_count(plan->copy); i++)
		add_text(&b, plan->copy[i]);
	if (strings_count(plan->copy) > 0)
		add_text(&b, slot->row->copied_hash);
	return hash(&b);
}

char *setup_key(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);
	struct buf b = { 0 };

	if (strings_count(plan->setup) == 0)
		return NULL;
	add_list(&b, plan->setup);
	add_list(&b, plan->copy);
	add_list(&b, plan->env);
	add_text(&b, slot->run->rows->run.subdir);
	return hash(&b);
}
