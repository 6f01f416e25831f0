/* SPDX-License-Identifier: MIT */
#include "job/kept_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"
#include "core/plan.h"
#include "job/secrets.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define ENVIRONMENT_MAX (1024 * 1024)

/* Never passed on: they belong to the daemon's own session, to a session of the submitter, or to
 * another daemon. */
static const char *const removed[] = { "CLAUDECODE", "NOTIFY_SOCKET", "LISTEN_*", "RLD_SOCKET", NULL };

/* Set for every process started by rld. */
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
	if (strchr(entry, '=') == NULL || strncmp(entry, SECRETS_OURS, strlen(SECRETS_OURS)) == 0 ||
	    name_in(entry, removed))
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

static void append_own(char ***list)
{
	for (char **e = environ; *e != NULL; e++)
		strings_append(list, *e);
}

char **environment_kept(const char *state_dir, const char *hash, char **error)
{
	char **list = xcalloc(1, sizeof(*list)), *path, *data = NULL;
	size_t size = 0;
	int rv;

	if (hash == NULL) {
		append_own(&list);
		return list;
	}
	path = xasprintf("%s/env/%s", state_dir, hash);
	/* agents could write it, and what judges is started with it */
	rv = file_read_recorded(AT_FDCWD, path, ENVIRONMENT_MAX, hash, &data, &size);
	if (rv != 0) {
		*error = xasprintf("cannot read the submitter's environment: %s: %s", path,
		    rv == -ESTALE ? "it was changed since the submit; retry the run" : host_words(-rv));
		strings_free(list);
		list = NULL;
	} else {
		if (size > 0 && strcmp(data, SECRETS_OWN) == 0)
			append_own(&list);
		for (char *e = data; e < data + size; e += strlen(e) + 1)
			strings_append(&list, e);
		explicit_bzero(data, size);
	}
	free(data);
	free(path);
	return list;
}

const char *environment_get(char *const *list, const char *name)
{
	size_t length = strlen(name);

	if (list == NULL || (list[0] != NULL && strcmp(list[0], SECRETS_OWN) == 0))
		return getenv(name);
	for (size_t i = 0; list[i] != NULL; i++)
		if (strncmp(list[i], name, length) == 0 && list[i][length] == '=')
			return list[i] + length + 1;
	return NULL;
}

/* Add a value of [agent.NAME] whose plan contains only the name. word: "NAME:KEY". */
static bool set_hidden(char ***list, char *const *kept, const char *word)
{
	char *name = xasprintf(SECRETS_SET "%s", word);
	const char *value = environment_get(kept[0] != NULL && strcmp(kept[0], SECRETS_OWN) == 0 ?
	    kept + 1 : kept, name);

	free(name);
	if (value != NULL)
		environment_set(list, strchr(word, ':') + 1, value);
	return value != NULL;
}

char **environment_load(const char *state_dir, const char *hash, const struct agent_plan *agent, char **error)
{
	char **kept = environment_kept(state_dir, hash, error), **list = NULL;
	bool whole = true;

	if (kept == NULL)
		return NULL;
	for (size_t i = 0; kept[i] != NULL; i++)
		if (passes(kept[i], agent))
			strings_append(&list, kept[i]);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		environment_set(&list, fixed[i][0], fixed[i][1]);
	for (char **word = agent != NULL ? agent->set : NULL; whole && word != NULL && *word != NULL; word++) {
		if (strchr(*word, '=') == NULL && strchr(*word, ':') != NULL && !set_hidden(&list, kept, *word)) {
			*error = xasprintf("the variables set by agent '%s' are no longer saved "
			    "(%s); retry the run",
			    agent->name, *word);
			whole = false;
		}
	}
	strings_wipe(kept);
	if (!whole) {
		strings_wipe(list);
		return NULL;
	}
	return list;
}
