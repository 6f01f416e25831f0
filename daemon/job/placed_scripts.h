/* SPDX-License-Identifier: MIT */
/* Scripts for launchers that join their words for a shell of another machine, as ssh does: they are
 * files of the attempt's directory, which that machine sees, so nothing of the agent is in an
 * argv. */
#ifndef JOB_PLACED_SCRIPTS_H
#define JOB_PLACED_SCRIPTS_H

#include "record/shim_job.h"

/* The text as one word of a shell; malloc'd. */
char *shell_word(const char *text);

/* Starts the agent of the job in its directory, with that environment: by the rl-shim with that
 * path, if it is of this version there, or as far_script does. dir is the attempt's. malloc'd. */
char *placed_start_script(const struct shim_job *job, char *const *envp, const char *dir, const char *shim);

/* Takes its place when an rl-shim has begun: asks that how the agent is. malloc'd. */
char *placed_again_script(const struct shim_job *job, const char *dir, const char *shim);

/* Ends what that has started, and succeeds only if nothing of it is left; malloc'd. */
char *placed_end_script(const struct shim_job *job, const char *dir);

#endif
