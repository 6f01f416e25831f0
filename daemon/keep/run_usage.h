/* SPDX-License-Identifier: MIT */
/* Measures what is kept of ended runs. */
#ifndef KEEP_RUN_USAGE_H
#define KEEP_RUN_USAGE_H

struct keeper;

/* Measures the runs in keeper->ended, some at a time; calls keeper_next() when these are
 * recorded. */
void run_usage_begin(struct keeper *keeper);

#endif
