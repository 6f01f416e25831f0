/* SPDX-License-Identifier: MIT */
#include "job/placed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/launcher.h"
#include "job/placed_scripts.h"
#include "proto/memory.h"
#include "record/far_status.h"
#include "record/layout.h"

static void add_file(struct launch *launch, const char *name, char *data, int shared)
{
	launch->files[launch->nfiles++] = (struct launch_file){ .name = name, .data = data,
	    .size = data != NULL ? strlen(data) : 0, .shared = shared };
}

/* Behind the prefix: the script around the agent, and its argv. */
static void add_agent(char ***argv, const struct shim_job *job, const char *dir)
{
	char *far = xasprintf("%s/" RECORD_FAR, dir);
	const char *const script[] = { "sh", "-c", far_script, "rl-far", far, job->uuid };

	for (size_t i = 0; i < sizeof(script) / sizeof(script[0]); i++)
		strings_append(argv, script[i]);
	for (char **word = job->argv; *word != NULL; word++)
		strings_append(argv, *word);
	free(far);
}

/* Of what the launcher's words name. */
static void fill(struct launch *launch, const struct agent_plan *agent, const struct launcher_fill *fill,
    const char *dir, const char *shim)
{
	struct shim_job *job = &launch->job;
	char **argv = launcher_argv(agent->launch, fill);

	add_file(launch, RECORD_FAR, xstrdup(""), 0660);
	add_file(launch, RECORD_PLACE, NULL, 0770);
	if (launcher_starts_script(agent->launch)) {
		add_file(launch, RECORD_START, placed_start_script(job, launch->envp, dir, shim), 0640);
		add_file(launch, RECORD_AGAIN, placed_again_script(job, dir, shim), 0640);
		add_file(launch, RECORD_END, placed_end_script(job, dir), 0640);
		job->follows = xstrdup(dir);
	} else {
		add_agent(&argv, job, dir);
	}
	strings_free(job->argv);
	job->argv = argv;
	job->cancel = launcher_argv(agent->cancel, fill);
	job->far = xstrdup(RECORD_FAR);
	/* it would confine the launcher, not the agent */
	job->sandbox = JOB_OPEN;
}

void placed_wrap(struct launch *launch, const struct agent_plan *agent, const struct attempt_row *attempt,
    const char *dir, const char *shim)
{
	char *run, *number, *start, *end, *start_word, *end_word;

	if (attempt->launcher == NULL)
		return;
	run = xasprintf("%lld", (long long)attempt->run);
	number = xasprintf("%lld", (long long)attempt->id);
	start = xasprintf("%s/" RECORD_START, dir);
	end = xasprintf("%s/" RECORD_END, dir);
	start_word = shell_word(start);
	end_word = shell_word(end);
	fill(launch, agent, &(struct launcher_fill){ run, number, attempt->uuid, launch->job.cwd, attempt->node,
	    start_word, end_word }, dir, shim);
	free(run);
	free(number);
	free(start);
	free(end);
	free(start_word);
	free(end_word);
}
