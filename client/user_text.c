/* SPDX-License-Identifier: MIT */
#include "client/user_text.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "proto/memory.h"

#define BY " by uid "

static bool elsewhere;

void user_text_elsewhere(void)
{
	elsewhere = true;
}

char *user_text(int64_t uid)
{
	const struct passwd *user = elsewhere ? NULL : getpwuid((uid_t)uid);

	return user != NULL ? xstrdup(user->pw_name) : xasprintf("uid %lld", (long long)uid);
}

char *user_text_in(const char *text)
{
	const char *by = strstr(text, BY), *number = by != NULL ? by + strlen(BY) : "";
	size_t digits = strspn(number, "0123456789");
	char *name, *whole;

	if (digits == 0 || digits > 10 || number[digits] != '\0')
		return xstrdup(text);
	name = user_text(strtoll(number, NULL, 10));
	whole = xasprintf("%.*s by %s", (int)(by - text), text, name);
	free(name);
	return whole;
}
