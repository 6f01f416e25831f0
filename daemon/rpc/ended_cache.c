/* SPDX-License-Identifier: MIT */
#include "rpc/ended_cache.h"

#include <stdlib.h>

#include "proto/memory.h"

struct ended_cache {
	struct {
		int64_t run;
		json_t *document;	/* NULL: empty */
	} kept[ENDED_KEPT];
	size_t next;			/* index of the oldest */
};

struct ended_cache *ended_cache_new(void)
{
	return xcalloc(1, sizeof(struct ended_cache));
}

void ended_cache_free(struct ended_cache *ended)
{
	for (size_t i = 0; i < ENDED_KEPT; i++)
		json_decref(ended->kept[i].document);
	free(ended);
}

json_t *ended_cache_find(const struct ended_cache *ended, int64_t run)
{
	for (size_t i = 0; i < ENDED_KEPT; i++) {
		if (ended->kept[i].document != NULL && ended->kept[i].run == run)
			return ended->kept[i].document;
	}
	return NULL;
}

void ended_cache_drop(struct ended_cache *ended, int64_t run)
{
	for (size_t i = 0; i < ENDED_KEPT; i++) {
		if (ended->kept[i].run != run)
			continue;
		json_decref(ended->kept[i].document);
		ended->kept[i].document = NULL;
	}
}

void ended_cache_keep(struct ended_cache *ended, int64_t run, json_t *document)
{
	ended_cache_drop(ended, run);
	json_decref(ended->kept[ended->next].document);
	ended->kept[ended->next].run = run;
	ended->kept[ended->next].document = json_incref(document);
	ended->next = (ended->next + 1) % ENDED_KEPT;
}
