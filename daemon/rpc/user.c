/* SPDX-License-Identifier: MIT */
#include "rpc/user.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/offload.h"
#include "proto/memory.h"

struct user {
	uid_t uid;
	char name[256];
	user_cb *cb;
	void *arg;
};

static void user_run(void *arg)
{
	struct user *user = arg;
	struct passwd entry, *found = NULL;
	char text[4096];

	if (getpwuid_r(user->uid, &entry, text, sizeof(text), &found) == 0 && found != NULL &&
	    found->pw_name[0] != '\0')
		snprintf(user->name, sizeof(user->name), "%s", found->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "uid %u", (unsigned)user->uid);
}

static void user_done(void *arg)
{
	struct user *user = arg;

	user->cb(user->arg, user->name);
	free(user);
}

void user_name(uv_loop_t *loop, uid_t uid, user_cb *cb, void *arg)
{
	struct user *user = xcalloc(1, sizeof(*user));

	user->uid = uid;
	user->cb = cb;
	user->arg = arg;
	offload(loop, user_run, user_done, user);
}
