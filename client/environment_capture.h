/* SPDX-License-Identifier: MIT */
/* The part of the caller's environment that agents may get. */
#ifndef CLIENT_ENVIRONMENT_CAPTURE_H
#define CLIENT_ENVIRONMENT_CAPTURE_H

#include <jansson.h>

/* Array of "NAME=value": the variables of the allowlist, and names (an array, NULL: none) requested
 * by the daemon's agents. */
json_t *environment_capture(const json_t *names);

#endif
