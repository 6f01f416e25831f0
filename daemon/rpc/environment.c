/* SPDX-License-Identifier: MIT */
#include "rpc/environment.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "job/kept_environment.h"
#include "job/secrets.h"
#include "proto/memory.h"
#include "rpc/request.h"

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

/* What belongs to a user. value: of the agents' user, from its environment or else from passwd;
 * NULL: the variable is removed. A name that ends with _ stands for all that begin so. */
static struct own {
	const char *name;
	char *value;
} own[] = {
	{ "HOME", NULL }, { "USER", NULL }, { "LOGNAME", NULL }, { "SHELL", NULL }, { "PATH", NULL },
	{ "XDG_", NULL }, { "SSH_AUTH_SOCK", NULL }, { "TMPDIR", NULL },
};
enum { OWN_HOME, OWN_USER, OWN_LOGNAME, OWN_SHELL, OWN_PATH, OWN_LEARNT };

void environment_init(void)
{
	const struct passwd *user = getpwuid(agent_user()->is.uid);
	const char *passwd[OWN_LEARNT] = { [OWN_PATH] = PATH_DEFAULT };

	if (user != NULL) {
		passwd[OWN_HOME] = user->pw_dir;
		passwd[OWN_USER] = passwd[OWN_LOGNAME] = user->pw_name;
		passwd[OWN_SHELL] = user->pw_shell;
	}
	for (size_t i = 0; i < OWN_LEARNT; i++) {
		const char *value = getenv(own[i].name);

		free(own[i].value);
		own[i].value = NULL;
		if (value != NULL || passwd[i] != NULL)
			own[i].value = xstrdup(value != NULL ? value : passwd[i]);
	}
}

static bool is_own(const char *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		size_t n = strlen(own[i].name);

		if (strncmp(entry, own[i].name, n) == 0 && (own[i].name[n - 1] == '_' || entry[n] == '='))
			return true;
	}
	return false;
}

char **environment_sent(struct call *call)
{
	char **list = environment_strings(call_param(call, "environment"));
	size_t kept = 0;

	if (list == NULL || (!agent_user()->apart && call_uid(call) == geteuid()))
		return list;
	for (size_t i = 0; list[i] != NULL; i++) {
		if (is_own(list[i]))
			free(list[i]);
		else
			list[kept++] = list[i];
	}
	list[kept] = NULL;
	for (size_t i = 0; i < OWN_LEARNT; i++)
		if (own[i].value != NULL)
			environment_set(&list, own[i].name, own[i].value);
	return list;
}

/* Only job/secrets.h makes such entries. */
static bool is_ours(const char *name)
{
	return strncmp(name, SECRETS_OURS, strlen(SECRETS_OURS)) == 0;
}

char **environment_strings(const json_t *pairs)
{
	size_t n = json_array_size(pairs) + json_object_size(pairs), count = 0, i;
	const char *name;
	json_t *value;
	char **list;

	if (pairs == NULL)
		return NULL;
	list = xcalloc(n + 1, sizeof(*list));
	json_array_foreach(pairs, i, value)
		if (!is_ours(json_string_value(value)))
			list[count++] = xstrdup(json_string_value(value));
	json_object_foreach((json_t *)pairs, name, value)
		if (!is_ours(name))
			list[count++] = xasprintf("%s=%s", name, json_string_value(value));
	return list;
}
