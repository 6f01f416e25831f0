/* SPDX-License-Identifier: MIT */
/* The caller's environment, as far as agents may see it. */
#ifndef CLIENT_ENVIRONMENT_CAPTURE_H
#define CLIENT_ENVIRONMENT_CAPTURE_H

#include <jansson.h>

/* An array of "NAME=value": the allowlist, and the names (an array, NULL: none) that the
 * daemon's agents ask for. */
json_t *environment_capture(const json_t *names);

#endif
