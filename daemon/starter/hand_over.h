/* SPDX-License-Identifier: MIT */
/* What belonged to the user of rld while agents had that user, too, becomes that of the agents. As
 * root, before rld starts; done once for a state directory. */
#ifndef STARTER_HAND_OVER_H
#define STARTER_HAND_OVER_H

#include "starter/requests.h"

/* Hand over the state directory, after the end of all attempts of that time. One that does not
 * exist, or was handed over to that user, is left as it is. Returns 0, or -1 with a sentence on
 * stderr. */
int hand_over(const struct start_setup *setup, const char *state_dir);

#endif
