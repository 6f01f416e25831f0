/* SPDX-License-Identifier: MIT */
/* What is on disk, for people who look into a history. */
#ifndef SIM_SHOW_H
#define SIM_SHOW_H

#include "world.h"

void show_runs(const struct world *w);

#endif
