/* SPDX-License-Identifier: MIT */
/* File work off the event loop: the only use of uv_queue_work. */
#ifndef BASE_OFFLOAD_H
#define BASE_OFFLOAD_H

#include <uv.h>

/* Calls run(arg) on a worker thread, then done(arg) on the loop. Exactly once each. */
void offload(uv_loop_t *loop, void (*run)(void *arg), void (*done)(void *arg), void *arg);

#endif
