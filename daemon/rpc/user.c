/* SPDX-License-Identifier: MIT */
#include "rpc/user.h"

#include <stdlib.h>

#include "base/credentials.h"
#include "base/offload.h"
#include "proto/memory.h"

struct user {
	uid_t uid;
	char *name;
	user_cb *cb;
	void *arg;
};

static void user_run(void *arg)
{
	struct user *user = arg;

	user->name = user_name_of(user->uid);
}

static void user_done(void *arg)
{
	struct user *user = arg;

	user->cb(user->arg, user->name);
	free(user->name);
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
