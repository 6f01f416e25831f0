/* SPDX-License-Identifier: MIT */
/* Submit a run. */
#ifndef CLIENT_SUBMIT_COMMAND_H
#define CLIENT_SUBMIT_COMMAND_H

#include "client/client.h"

/* The result of run.submit, to be decref'd by the caller; or NULL after a message, with the exit
 * code. */
json_t *submit_send(struct client *c, int *status);

/* Print the daemon's warnings about an accepted run to stderr. */
void submit_print_warnings(const json_t *result);

/* The content of the file that params names as SOURCE_path, as SOURCE; of another machine without
 * the path. 0, or after a message the exit code. */
int submit_put_file(const struct client *c, const char *source, json_t *params);

/* Unless params has a workdir, the current directory. Likewise. */
int submit_put_workdir(const struct client *c, json_t *params);

/* Whether this waits for what another run, or a human, has to do first. event: {wait_kind}. */
bool submit_is_blocked(const json_t *event);

#endif
