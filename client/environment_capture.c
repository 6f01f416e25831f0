/* SPDX-License-Identifier: MIT */
#include "client/environment_capture.h"
#include "client/message.h"

#include <stdbool.h>
#include <string.h>

#include "proto/memory.h"

extern char **environ;

/* A name that ends with * matches all names with that prefix. None of these is normally a secret;
 * an agent's settings name the others it needs. */
static const char *const allowed[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR",
	"XDG_*", "SSH_AUTH_SOCK", "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
	"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
};

static bool environment_matches(const char *pattern, const char *name, size_t length)
{
	size_t n = strlen(pattern);

	if (n > 0 && pattern[n - 1] == '*')
		return length >= n - 1 && strncmp(pattern, name, n - 1) == 0;
	return length == n && strncmp(pattern, name, n) == 0;
}

static bool is_wanted(const char *name, size_t length, const json_t *names)
{
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (environment_matches(allowed[i], name, length))
			return true;
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *wanted = json_string_value(json_array_get(names, i));

		if (wanted != NULL && environment_matches(wanted, name, length))
			return true;
	}
	return false;
}

json_t *environment_capture(const json_t *names)
{
	json_t *list = json_array(), *entry;

	for (char **variable = environ; *variable != NULL; variable++) {
		const char *equals = strchr(*variable, '=');
		size_t length = equals == NULL ? 0 : (size_t)(equals - *variable);

		if (length == 0 || !is_wanted(*variable, length, names))
			continue;
		entry = json_string(*variable);
		if (entry != NULL)
			json_array_append_new(list, entry);
		else
			message_note("the variable %.*s is not UTF-8; agents will not get it", (int)length, *variable);
	}
	return list;
}
