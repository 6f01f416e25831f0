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

void changes_add(struct changes *changes, const char *path, unsigned mode, const char *id)
{
	struct change *c;

	if (changes->count == changes->room) {
		changes->room = changes->room ? changes->room * 2 : 64;
		changes->list = xreallocarray(changes->list, changes->room, sizeof(*changes->list));
	}
	c = &changes->list[changes->count++];
	*c = (struct change){ .path = xstrdup(path), .mode = mode };
	snprintf(c->id, sizeof(c->id), "%s", id);
}

void changes_order(struct changes *changes)
{
	size_t kept = 0;

	if (changes->count > 1)
		qsort(changes->list, changes->count, sizeof(*changes->list), by_path);
	for (size_t i = 0; i < changes->count; i++) {
		if (kept > 0 && by_path(&changes->list[kept - 1], &changes->list[i]) == 0)
			free(changes->list[i].path);
		else
			changes->list[kept++] = changes->list[i];
	}
	changes->count = kept;
}

/* Pairs of ":mode mode id id letter" and a path. */
bool changes_read(struct changes *changes, const char *data, size_t size, char *const *artifacts)
{
	const char *end = data + size;

	if (size > 0 && end[-1] != '\0')
		return false;
	for (const char *p = data; p < end; ) {
		const char *path = p + strlen(p) + 1;
		unsigned was, mode;
		char was_id[GIT_ID_MAX], id[GIT_ID_MAX];

		if (path >= end || sscanf(p, ":%o %o %64s %64s", &was, &mode, was_id, id) != 4)
			return false;
		p = path + strlen(path) + 1;
		if (artifact_has(artifacts, path))
			continue;
		changes_add(changes, path, mode, id);
		changes->list[changes->count - 1].was = was;
		memcpy(changes->list[changes->count - 1].was_id, was_id, sizeof(was_id));
	}
	return true;
}

bool changes_read_tree(struct changes *changes, const char *data, size_t size)
{
	if (size > 0 && data[size - 1] != '\0')
		return false;
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1) {
		const char *tab = strchr(p, '\t');
		unsigned mode;
		char id[GIT_ID_MAX];

		if (tab == NULL || sscanf(p, "%o %*s %64s", &mode, id) != 2)
			return false;
		changes_add(changes, tab + 1, mode, id);
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

bool changes_has_below(const struct changes *changes, const char *path)
{
	size_t low = 0, high = changes->count, size = strlen(path);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(changes->list[middle].path, path, size);

		if (order == 0 && changes->list[middle].path[size] == '/')
			return true;
		if (order < 0 || (order == 0 && (unsigned char)changes->list[middle].path[size] < '/'))
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

struct changes changes_in(const struct changes *changes, char *const *paths, bool in)
{
	struct changes some = { .list = xcalloc(changes->count + 1, sizeof(*some.list)) };

	for (size_t i = 0; i < changes->count; i++) {
		if (artifact_has(paths, changes->list[i].path) == in)
			some.list[some.count++] = changes->list[i];
	}
	return some;
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

void changes_index_before(const struct changes *changes, struct buf *out)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *c = &changes->list[i];

		if (c->was == 0)
			continue;
		buf_addf(out, "%06o %s\t%s", c->was, c->was_id, c->path);
		buf_add(out, "", 1);
	}
}

void changes_index(const struct changes *changes, bool removed, struct buf *out)
{
	if (removed)
		add_lines(changes, true, out);
	add_lines(changes, false, out);
}
