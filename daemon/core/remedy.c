/* SPDX-License-Identifier: MIT */
#include "core/remedy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proto/escape.h"
#include "proto/memory.h"

/* Names that are listed; more are counted. */
#define LISTED_MAX 8

/* In the order of preference: a project may have several. */
static const struct {
	const char *path, *setup;
} manifests_known[] = {
	{ "pnpm-lock.yaml", "pnpm install --frozen-lockfile" },
	{ "yarn.lock", "yarn install --frozen-lockfile" },
	{ "package-lock.json", "npm ci" },
	{ "uv.lock", "uv sync --frozen" },
	{ "poetry.lock", "poetry install" },
	{ "Gemfile.lock", "bundle install" },
	{ "composer.lock", "composer install" },
	{ "mix.lock", "mix deps.get" },
};

#define KNOWN (sizeof(manifests_known) / sizeof(manifests_known[0]))

bool remedy_is_manifest(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

	for (size_t i = 0; i < KNOWN; i++)
		if (strcmp(manifests_known[i].path, name) == 0)
			return true;
	return false;
}

char **remedy_below(char *const *names, const char *subdir)
{
	size_t size = subdir != NULL ? strlen(subdir) : 0;
	char **below = NULL;

	for (; names != NULL && *names != NULL; names++)
		if (size == 0)
			strings_append(&below, *names);
		else if (strncmp(*names, subdir, size) == 0 && (*names)[size] == '/' && (*names)[size + 1] != '\0')
			strings_append(&below, *names + size + 1);
	return below;
}

static bool is_listed(char *const *list, const char *name)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* Those of one language exclude each other: the first one counts. */
static const char *setup_of(char *const *manifests)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (is_listed(manifests, manifests_known[i].path))
			return manifests_known[i].setup;
	return NULL;
}

/* A file that configures a program: such as .env, .env.test, config/local.json, settings.local. */
static bool is_configuration(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

	return strncmp(name, ".env", 4) == 0 || strncmp(name, "local.", 6) == 0 || strstr(name, ".local") != NULL;
}

/* It can stand in a TOML string, and matches itself only. */
static bool is_plain(const char *path)
{
	for (; *path != '\0'; path++)
		if ((unsigned char)*path < ' ' || *path == 0x7f || strchr("\"\\*?[", *path) != NULL)
			return false;
	return true;
}

static void add_those(struct buf *b, char *const *names, bool directories, size_t *count)
{
	for (; *names != NULL; names++) {
		size_t size = strlen(*names);
		char *safe;

		if (directories != (size > 0 && (*names)[size - 1] == '/') || (*count)++ >= LISTED_MAX)
			continue;
		safe = text_escape(*names, size, false);
		buf_addf(b, "%s%s", *count > 1 ? ", " : "", safe);
		free(safe);
	}
}

/* Directories first: what a set-up makes. */
static void add_names(struct buf *b, char *const *names)
{
	size_t count = 0;

	add_those(b, names, true, &count);
	add_those(b, names, false, &count);
	if (count > LISTED_MAX)
		buf_addf(b, " and %zu more", count - LISTED_MAX);
}

static void add_copies(struct buf *b, char *const *names, char *const *copies)
{
	size_t count = 0;

	for (size_t i = 0; names[i] != NULL && count < LISTED_MAX; i++)
		if (is_plain(names[i]) && is_configuration(names[i]) && !is_listed(copies, names[i]))
			buf_addf(b, "%s\"%s\"", count++ > 0 ? ", " : "copy = [", names[i]);
	if (count > 0)
		buf_adds(b, "], ");
}

char *remedy_text(char *const *ignored, char *const *manifests, bool sets_up, char *const *copies)
{
	const char *setup = sets_up ? NULL : setup_of(manifests);
	struct buf b = { 0 };

	if (ignored == NULL || ignored[0] == NULL)
		return NULL;
	buf_adds(&b, "ignored there: ");
	add_names(&b, ignored);
	buf_adds(&b, ". Add to .rld.toml: ");
	if (setup != NULL)
		buf_addf(&b, "setup = [\"%s\"], ", setup);
	add_copies(&b, ignored, copies);
	buf_adds(&b, b.data[b.size - 2] == ',' ? "or workspace = \"same\"" :
	    "setup, copy, or workspace = \"same\"");
	return b.data;
}
