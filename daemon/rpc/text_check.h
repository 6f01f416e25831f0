/* SPDX-License-Identifier: MIT */
/* Compare what judges a run and the texts of its tasks, in the store, with the hashes in the rows
 * of the run and its tasks. */
#ifndef RPC_TEXT_CHECK_H
#define RPC_TEXT_CHECK_H

#include "model/view.h"
#include "rpc/context.h"

/* fault: the first difference, malloc'd and for the callee; NULL: none. */
typedef void text_check_cb(void *arg, char *fault);

/* Reads one after the other, and hashes it on a worker. Runs and tasks of earlier versions have no
 * hash, and are left out. rows stay the caller's, and valid until done is called, which may be
 * before the return. */
void text_check(struct rpc *rpc, const struct run_rows *rows, text_check_cb *done, void *arg);

#endif
