/* SPDX-License-Identifier: MIT */
/* After the machine was started anew: are the last results still where they were told to be? A
 * power cut may have taken refs, or what they lead to, on disks that say "written" too early. */
#ifndef RESULTS_H
#define RESULTS_H

#include <uv.h>

#include "store/store.h"

struct results;

/* Which results are to be looked at. NULL: none, since the boot is that of the last look. Blocks:
 * before the first commit. */
struct results *results_load(struct store *store);

/* Look at them off the loop, then record that it was done in this boot. Refs that are gone or
 * broken are made again where what they kept is there. done is told of the rest, a sentence each,
 * malloc'd and its own; NULL: nothing is lost. Takes results; NULL: nothing happens. */
void results_look(struct results *results, uv_loop_t *loop, void (*done)(void *arg, char *lost), void *arg);

/* The daemon ends: no further one is looked at, and the next start looks at all
 * again. NULL: nothing. */
void results_stop(struct results *results);

#endif
