/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "engine/work.h"

#define ENVIRONMENT_MAX (1024 * 1024)

/* Never passed on: they speak of the daemon's own session or of a session that the submitter sits in. */
static const char *const removed[] = { "CLAUDECODE", "NOTIFY_SOCKET", "LISTEN_*", NULL };

/* The same for every process that we start. */
static const char *const fixed[][2] = {
	{ "NO_COLOR", "1" },
	{ "TERM", "dumb" },
	{ "GIT_OPTIONAL_LOCKS", "0" },
};

/* A '*' at the end of a pattern matches any rest. */
static bool name_matches(const char *entry, size_t length, const char *pattern)
{
	size_t n = strlen(pattern);

	if (n > 0 && pattern[n - 1] == '*')
		return length >= n - 1 && strncmp(entry, pattern, n - 1) == 0;
	return length == n && strncmp(entry, pattern, n) == 0;
}

static bool name_in(const char *entry, const char *const *patterns)
{
	size_t length = strcspn(entry, "=");

	for (size_t i = 0; patterns != NULL && patterns[i] != NULL; i++)
		if (name_matches(entry, length, patterns[i]))
			return true;
	return false;
}

static bool passes(const char *entry, const struct agent_plan *agent)
{
	if (strchr(entry, '=') == NULL || name_in(entry, removed))
		return false;
	return name_in(entry, agent_environment) || (agent != NULL && name_in(entry, (const char *const *)agent->env));
}

void environment_set(char ***list, const char *name, const char *value)
{
	char *entry = xasprintf("%s=%s", name, value);
	size_t length = strlen(name);

	for (size_t i = 0; *list != NULL && (*list)[i] != NULL; i++) {
		if (strncmp((*list)[i], name, length) == 0 && (*list)[i][length] == '=') {
			free((*list)[i]);
			(*list)[i] = entry;
			return;
		}
	}
	strings_append(list, entry);
	free(entry);
}

void environment_set_all(char ***list, const char *const *pairs)
{
	for (size_t i = 0; pairs != NULL && pairs[i] != NULL; i++) {
		char *name = xstrdup(pairs[i]), *value = strchr(name, '=');

		if (value != NULL) {
			*value++ = '\0';
			environment_set(list, name, value);
		}
		free(name);
	}
}

char **environment_load(const char *state_dir, const char *hash, const struct agent_plan *agent, char **error)
{
	char **list = NULL;

	if (hash == NULL) {
		for (char **e = environ; *e != NULL; e++)
			if (passes(*e, agent))
				strings_append(&list, *e);
	} else {
		char *path = xasprintf("%s/env/%s", state_dir, hash), *data = NULL;
		size_t size = 0;
		int rv = file_read(AT_FDCWD, path, ENVIRONMENT_MAX, &data, &size);

		if (rv != 0)
			*error = xasprintf("the submitter's environment cannot be read: %s: %s", path, strerror(-rv));
		free(path);
		if (rv != 0)
			return NULL;
		for (char *e = data; e < data + size; e += strlen(e) + 1)
			if (passes(e, agent))
				strings_append(&list, e);
		free(data);
	}
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		environment_set(&list, fixed[i][0], fixed[i][1]);
	return list;
}
