/* SPDX-License-Identifier: MIT */
/* Name of a user ID, looked up off the loop because it may involve a directory service. */
#ifndef RPC_USER_H
#define RPC_USER_H

#include <sys/types.h>
#include <uv.h>

/* name: "uid N" if there is none; valid during the callback. */
typedef void user_cb(void *arg, const char *name);

/* Calls cb exactly once, on the loop, not from within the call. */
void user_name(uv_loop_t *loop, uid_t uid, user_cb *cb, void *arg);

#endif
