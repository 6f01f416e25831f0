/* SPDX-License-Identifier: MIT */
/* The environments of runs. */
#ifndef JOB_KEPT_ENVIRONMENT_H
#define JOB_KEPT_ENVIRONMENT_H

#include "core/plan.h"

/* The submitter's environment saved in <state>/env/<hash>, filtered for an agent (NULL: for
 * operations): names of the allowlist and of agent->env. hash NULL: the daemon's own environment,
 * with the same filter. New NULL-terminated list. */
char **environment_load(const char *state_dir, const char *hash, const struct agent_plan *agent, char **error);

/* Everything saved, including entries of job/secrets.h, for strings_wipe(). NULL with error if it
 * cannot be read. */
char **environment_kept(const char *state_dir, const char *hash, char **error);

/* Value of a variable in the environment that was sent, or in the daemon's own if none was (NULL).
 * NULL: not set. */
const char *environment_get(char *const *list, const char *name);

/* Set K=V in a list, replacing an earlier K. */
void environment_set(char ***list, const char *name, const char *value);
/* Likewise for each "K=V" of pairs, which may be NULL. */
void environment_set_all(char ***list, const char *const *pairs);

#endif
