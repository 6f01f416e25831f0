/* SPDX-License-Identifier: MIT */
#include "model/environments.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "model/model.h"
#include "proto/memory.h"

struct environment {
	RB_ENTRY(environment) entry;
	char *hash;
	size_t runs;
};

static int by_hash(struct environment *a, struct environment *b)
{
	return strcmp(a->hash, b->hash);
}

TREE(environment_tree, environment, entry, by_hash)

static struct environment *environment_find(const struct engine *engine, const char *hash)
{
	struct environment key = { .hash = (char *)(uintptr_t)hash };

	/* the generated function changes nothing, but requires a non-const tree */
	return RB_FIND(environment_tree, (struct environment_tree *)(uintptr_t)&engine->environments, &key);
}

void environment_use(struct engine *engine, const char *hash)
{
	struct environment *environment = hash != NULL ? environment_find(engine, hash) : NULL;

	if (hash == NULL)
		return;
	if (environment == NULL) {
		environment = xcalloc(1, sizeof(*environment));
		environment->hash = xstrdup(hash);
		RB_INSERT(environment_tree, &engine->environments, environment);
	}
	environment->runs++;
}

void environment_leave(struct engine *engine, const char *hash)
{
	struct environment *environment = hash != NULL ? environment_find(engine, hash) : NULL;

	if (environment == NULL || --environment->runs > 0)
		return;
	RB_REMOVE(environment_tree, &engine->environments, environment);
	free(environment->hash);
	free(environment);
}

bool environment_is_used(const struct engine *engine, const char *hash)
{
	return environment_find(engine, hash) != NULL;
}
