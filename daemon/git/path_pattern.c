/* SPDX-License-Identifier: MIT */
#include "git/path_pattern.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

/* A pattern or a path, cut at its slashes. */
struct parts {
	char *text;
	char **list;
	size_t count;
};

/* any_directory: as if it began with a double star. */
static struct parts parts_of(const char *text, size_t size, bool any_directory)
{
	struct parts parts = { .text = xasprintf("%s%.*s", any_directory ? "**/" : "", (int)size, text) };

	for (char *part = parts.text; part != NULL && parts.text[0] != '\0'; ) {
		char *slash = strchr(part, '/');

		if (slash != NULL)
			*slash = '\0';
		parts.list = xreallocarray(parts.list, parts.count + 1, sizeof(*parts.list));
		parts.list[parts.count++] = part;
		part = slash != NULL ? slash + 1 : NULL;
	}
	return parts;
}

static void parts_release(struct parts *parts)
{
	free(parts->list);
	free(parts->text);
}

static bool is_double_star(const char *part)
{
	return strcmp(part, "**") == 0;
}

/* at[i]: the path so far is matched by the first i parts of the pattern. A double star stands for
 * any number of directories, and as the last part for all that is below. */
static void skip_stars(const struct parts *pattern, bool *at)
{
	for (size_t i = 0; i + 1 < pattern->count; i++)
		if (at[i] && is_double_star(pattern->list[i]))
			at[i + 1] = true;
}

struct match {
	bool whole;		/* the pattern matches the path */
	bool parent;		/* ... or a directory above it */
	bool below;		/* it may match what lies below the path, but not everywhere */
};

static struct match match_path(const struct parts *pattern, const struct parts *path)
{
	size_t n = pattern->count;
	bool *at = xcalloc(n + 1, sizeof(*at)), *next = xcalloc(n + 1, sizeof(*next)), *swap;
	struct match match = { 0 };

	at[0] = true;
	for (size_t k = 0; k < path->count; k++) {
		match.parent = match.parent || at[n];
		match.below = false;
		skip_stars(pattern, at);
		memset(next, 0, (n + 1) * sizeof(*next));
		for (size_t i = 0; i < n; i++) {
			if (!at[i])
				continue;
			if (is_double_star(pattern->list[i])) {
				next[i] = true;
				next[n] = next[n] || i + 1 == n;
			} else if (fnmatch(pattern->list[i], path->list[k], FNM_PATHNAME) == 0) {
				next[i + 1] = true;
				match.below = match.below || i + 1 < n;
			}
		}
		swap = at;
		at = next;
		next = swap;
	}
	match.whole = path->count > 0 && at[n];
	free(at);
	free(next);
	return match;
}

static struct match match_pattern(const char *text, size_t size, const struct parts *path)
{
	bool rooted = memchr(text, '/', size) != NULL;
	struct parts pattern = rooted && text[0] == '/' ? parts_of(text + 1, size - 1, false) :
	    parts_of(text, size, !rooted);
	struct match match = match_path(&pattern, path);

	parts_release(&pattern);
	return match;
}

bool path_matches(const char *path, char *const *patterns)
{
	struct parts parts = parts_of(path, strlen(path), false);
	bool found = false;

	for (char *const *p = patterns; p != NULL && *p != NULL && !found; p++)
		found = match_pattern(*p, strlen(*p), &parts).whole;
	parts_release(&parts);
	return found;
}

bool path_touches(const char *path, bool leads_elsewhere, char *const *patterns)
{
	struct parts parts = parts_of(path, strlen(path), false);
	bool found = false;

	for (char *const *p = patterns; p != NULL && *p != NULL && !found; p++) {
		size_t size = strlen(*p);
		struct match match;

		while (size > 1 && (*p)[size - 1] == '/')
			size--;
		match = match_pattern(*p, size, &parts);
		found = match.whole || match.parent || (leads_elsewhere && match.below);
	}
	parts_release(&parts);
	return found;
}
