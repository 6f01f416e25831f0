/* SPDX-License-Identifier: MIT */
/* Putting a run in the queue. */
#ifndef CLIENT_SUBMIT_COMMAND_H
#define CLIENT_SUBMIT_COMMAND_H

#include "client/client.h"

/* The result of run.submit, the caller's to decref; or NULL after telling, with the exit code. */
json_t *submit_send(struct client *c, int *status);

/* Say on stderr what the daemon remarked about a run it took. */
void submit_print_warnings(const json_t *result);

#endif
