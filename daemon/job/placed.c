/* SPDX-License-Identifier: MIT */
#include "job/placed.h"

#include <stdlib.h>
#include <string.h>

#include "agent/launcher.h"
#include "proto/memory.h"
#include "record/far_status.h"
#include "record/layout.h"

void placed_wrap(struct launch *launch, const struct agent_plan *agent, const struct attempt_row *attempt,
    const char *dir)
{
	struct shim_job *job = &launch->job;
	char *run, *number, *path, **argv;

	if (attempt->launcher == NULL)
		return;
	run = xasprintf("%lld", (long long)attempt->run);
	number = xasprintf("%lld", (long long)attempt->id);
	path = xasprintf("%s/" RECORD_FAR, dir);
	const struct launcher_fill fill = { run, number, attempt->uuid, job->cwd, attempt->node };
	const char *const script[] = { "sh", "-c", far_script, "rl-far", path, attempt->uuid };

	argv = launcher_argv(agent->launch, &fill);
	for (size_t i = 0; i < sizeof(script) / sizeof(script[0]); i++)
		strings_append(&argv, script[i]);
	for (char **word = job->argv; *word != NULL; word++)
		strings_append(&argv, *word);
	strings_free(job->argv);
	job->argv = argv;
	job->cancel = launcher_argv(agent->cancel, &fill);
	job->far = xstrdup(RECORD_FAR);
	/* it would confine the launcher, not the agent */
	job->sandbox = JOB_OPEN;
	launch->files[launch->nfiles++] = (struct launch_file){ .name = RECORD_FAR, .data = xstrdup(""),
	    .shared = 0660 };
	launch->files[launch->nfiles++] = (struct launch_file){ .name = RECORD_PLACE, .shared = 0770 };
	free(run);
	free(number);
	free(path);
}
