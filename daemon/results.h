/* SPDX-License-Identifier: MIT */
/* After a restart of the machine: check that the last results still exist. A power cut may have
 * lost refs, or their objects, on disks that report "written" too early. */
#ifndef RESULTS_H
#define RESULTS_H

#include <uv.h>

#include "store/store.h"

struct results;

/* The results to check. NULL: none, because they were checked in this boot. Blocks: call it before
 * the first commit. */
struct results *results_load(struct store *store);

/* Check them off the loop, then record that it was done in this boot. Missing or damaged refs are
 * restored if their content exists. done gets one sentence for each of the rest, malloc'd, and owns
 * it; NULL: nothing is lost. Takes ownership of results; NULL: does nothing. */
void results_look(struct results *results, uv_loop_t *loop, void (*done)(void *arg, char *lost), void *arg);

/* The daemon is stopping: check no more; the next start checks all of them again. NULL is
 * allowed. */
void results_stop(struct results *results);

#endif
