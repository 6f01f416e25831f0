/* SPDX-License-Identifier: MIT */
/* The name of a uid. Looking it up may ask a directory service, so it is done off the loop. */
#ifndef RPC_USER_H
#define RPC_USER_H

#include <sys/types.h>
#include <uv.h>

/* name: "uid N" when there is none; valid during the callback. */
typedef void user_cb(void *arg, const char *name);

/* Exactly one cb, on the loop, not from inside the call. */
void user_name(uv_loop_t *loop, uid_t uid, user_cb *cb, void *arg);

#endif
