/* SPDX-License-Identifier: MIT */
/* Collects what the page of a run shows. */
#ifndef CLIENT_PAGE_GATHER_H
#define CLIENT_PAGE_GATHER_H

#include <jansson.h>
#include <stdint.h>

#include "proto/call.h"

/* One document, which the caller decrefs; NULL with error. Members:
 *   run              as run.get answers
 *   attempts, reviews, products, evidence, holds
 *                    whole lists
 *   diffs            {task: {text, cut, tree, why}}, "" for the run as a whole; why there is none
 *   asked, answer    {text}: what the first implementer was given; the accepted answer
 *   now              the time */
json_t *gather_run(struct call_conn *conn, int64_t run, struct call_error *error);

#endif
