/* SPDX-License-Identifier: MIT */
#include "git/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "git/artifact.h"

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

/* Pairs of ":mode mode id id letter" and a path. */
bool changes_read(struct changes *changes, const char *data, size_t size, char *const *artifacts)
{
	const char *end = data + size;
	size_t room = changes->count;

	if (size > 0 && end[-1] != '\0')
		return false;
	for (const char *p = data; p < end; ) {
		const char *path = p + strlen(p) + 1;
		struct change c = { 0 };

		if (path >= end || sscanf(p, ":%*o %o %*64s %64s", &c.mode, c.id) != 2)
			return false;
		p = path + strlen(path) + 1;
		if (artifact_has(artifacts, path))
			continue;
		if (changes->count == room) {
			room = room ? room * 2 : 64;
			changes->list = xreallocarray(changes->list, room, sizeof(*changes->list));
		}
		c.path = xstrdup(path);
		changes->list[changes->count++] = c;
	}
	return true;
}

void changes_release(struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++)
		free(changes->list[i].path);
	free(changes->list);
	*changes = (struct changes){ 0 };
}

const struct change *changes_find(const struct changes *changes, const char *path)
{
	struct change key = { .path = (char *)path };

	return changes->count == 0 ? NULL : bsearch(&key, changes->list, changes->count, sizeof(key), by_path);
}

void changes_paths(const struct changes *changes, bool removed, struct buf *out)
{
	for (size_t i = 0; i < changes->count; i++) {
		if ((changes->list[i].mode == 0) == removed)
			buf_add(out, changes->list[i].path, strlen(changes->list[i].path) + 1);
	}
}

static void add_lines(const struct changes *changes, bool removed, struct buf *out)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *c = &changes->list[i];

		if ((c->mode == 0) != removed)
			continue;
		buf_addf(out, "%06o %s\t%s", c->mode, c->id, c->path);
		buf_add(out, "", 1);
	}
}

void changes_index(const struct changes *changes, bool removed, struct buf *out)
{
	if (removed)
		add_lines(changes, true, out);
	add_lines(changes, false, out);
}
