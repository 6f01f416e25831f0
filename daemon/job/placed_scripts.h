/* SPDX-License-Identifier: MIT */
/* Scripts for launchers that join their words for a shell of another machine, as ssh does: they are
 * files of the attempt's directory, which that machine sees, so nothing of the agent is in an
 * argv. */
#ifndef JOB_PLACED_SCRIPTS_H
#define JOB_PLACED_SCRIPTS_H

#include "record/shim_job.h"

/* The text as one word of a shell; malloc'd. */
char *shell_word(const char *text);

/* Starts the agent of the job in its directory, with that environment, and does what far_script
 * does; dir is the attempt's. malloc'd. */
char *placed_start_script(const struct shim_job *job, char *const *envp, const char *dir);

/* Ends what that has started, and succeeds only if nothing of it is left; malloc'd. */
char *placed_end_script(const struct shim_job *job, const char *dir);

#endif
