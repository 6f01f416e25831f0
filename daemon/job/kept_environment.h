/* SPDX-License-Identifier: MIT */
/* The environments of runs. */
#ifndef JOB_KEPT_ENVIRONMENT_H
#define JOB_KEPT_ENVIRONMENT_H

#include "core/plan.h"

/* The submitter's environment as kept in <state>/env/<hash>, filtered for an agent (NULL: for git
 * steps): names of the allowlist and of agent->env. hash NULL: the daemon's own environment,
 * filtered the same. New NULL-terminated list. */
char **environment_load(const char *state_dir, const char *hash, const struct agent_plan *agent, char **error);

/* All that is kept, entries of job/secrets.h too, for strings_wipe(). NULL with error:
 * it cannot be read. */
char **environment_kept(const char *state_dir, const char *hash, char **error);

/* The value of a variable in an environment as it was sent, the daemon's own when none was (NULL).
 * NULL: it is not there. */
const char *environment_get(char *const *list, const char *name);

/* Set K=V in a list, replacing an earlier K. */
void environment_set(char ***list, const char *name, const char *value);
/* The same for each "K=V" of pairs, which may be NULL. */
void environment_set_all(char ***list, const char *const *pairs);

#endif
