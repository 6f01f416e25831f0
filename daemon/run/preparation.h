/* SPDX-License-Identifier: MIT */
/* The run's directory, and the base that its work is compared with. */
#ifndef RUN_PREPARATION_H
#define RUN_PREPARATION_H

struct run;

/* The run's directory, and the base that its work is compared with. */
void run_prepare(struct run *run);

#endif
