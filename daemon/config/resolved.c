/* SPDX-License-Identifier: MIT */
#include "config/resolved.h"

#include <stdlib.h>
#include <string.h>

#include "core/plan_json.h"
#include "proto/memory.h"

#define KEPT 8

struct resolved {
	struct { struct resolved_key key; struct plan plan; } kept[KEPT];
	size_t next;			/* the oldest, which the next one replaces */
};

struct resolved *resolved_new(void)
{
	return xcalloc(1, sizeof(struct resolved));
}

void resolved_free(struct resolved *resolved)
{
	for (size_t i = 0; resolved != NULL && i < KEPT; i++) {
		resolved_key_release(&resolved->kept[i].key);
		plan_release(&resolved->kept[i].plan);
	}
	free(resolved);
}

/* With its NUL, so that no two lists give the same bytes. */
static void add(struct buf *out, const char *text)
{
	buf_add(out, text != NULL ? text : "", strlen(text != NULL ? text : "") + 1);
}

struct resolved_key resolved_key(const struct project *project, const struct config_override *overrides, size_t count)
{
	struct buf out = { 0 };
	struct resolved_key key;

	buf_addf(&out, "%zu ", count);
	for (size_t i = 0; i < count; i++) {
		add(&out, overrides[i].path);
		add(&out, overrides[i].value);
		add(&out, overrides[i].field);
	}
	add(&out, project != NULL ? project->path : NULL);
	for (size_t i = 0; project != NULL && i < project->values.count; i++) {
		const struct value *value = &project->values.list[i];
		char *text = json_dumps(value->json, JSON_ENCODE_ANY | JSON_COMPACT);

		add(&out, value->path);
		add(&out, text);
		free(text);
	}
	key.data = buf_take(&out, &key.size);
	return key;
}

void resolved_key_release(struct resolved_key *key)
{
	free(key->data);
	*key = (struct resolved_key){ 0 };
}

bool resolved_find(const struct resolved *resolved, const struct resolved_key *key, struct plan *plan)
{
	for (size_t i = 0; i < KEPT; i++)
		if (resolved->kept[i].key.size == key->size &&
		    memcmp(resolved->kept[i].key.data, key->data, key->size) == 0) {
			plan_copy(plan, &resolved->kept[i].plan);
			return true;
		}
	return false;
}

void resolved_keep(struct resolved *resolved, struct resolved_key *key, const struct plan *plan)
{
	size_t at = resolved->next;

	if (plan->developer_prompt != NULL || plan->reviewer_prompt != NULL)
		return;
	resolved_key_release(&resolved->kept[at].key);
	plan_release(&resolved->kept[at].plan);
	resolved->kept[at].key = *key;
	*key = (struct resolved_key){ 0 };
	plan_copy(&resolved->kept[at].plan, plan);
	resolved->next = (at + 1) % KEPT;
}
