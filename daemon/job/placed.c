/* SPDX-License-Identifier: MIT */
#include "job/placed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/launcher.h"
#include "job/copy_script.h"
#include "job/placed_scripts.h"
#include "proto/memory.h"
#include "record/far_status.h"
#include "record/layout.h"

static void add_file(struct launch *launch, const char *name, char *data, int shared)
{
	launch->files[launch->nfiles++] = (struct launch_file){ .name = name, .data = data,
	    .size = data != NULL ? strlen(data) : 0, .shared = shared, .durable = true };
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

/* A shell of another machine starts the agent, by a script. */
static void add_scripts(struct launch *launch, const struct places *p, const char *shim)
{
	struct shim_job *job = &launch->job;

	add_file(launch, RECORD_START, placed_start_script(job, launch->envp, p->dir, shim), 0640);
	add_file(launch, RECORD_AGAIN, placed_again_script(job, p->dir, shim), 0640);
	add_file(launch, RECORD_END, placed_end_script(job, p->dir), 0640);
	job->follows = xstrdup(p->dir);
}

/* "sh place/copy VERB" */
static char **copy_argv(const struct places *p, const char *verb)
{
	char *path = xasprintf("%s/" RECORD_COPY, p->dir), **argv = NULL;

	strings_append(&argv, "sh");
	strings_append(&argv, path);
	strings_append(&argv, verb);
	free(path);
	return argv;
}

/* Instead of the launcher: the script that executes it, again and again. */
static void add_copies(struct launch *launch, const struct build_job *w, const struct places *p,
    const struct sources *s, char *const *argv)
{
	enum role role = (enum role)w->attempt.role;
	bool writes = role == ROLE_IMPLEMENT || role == ROLE_FIX || role == ROLE_COMMIT;
	char *script;

	add_file(launch, RECORD_TASK, xstrdup(s->task != NULL ? s->task : ""), 0640);
	script = copy_script(launch, argv, p, w->job.shim, writes);
	add_file(launch, RECORD_COPY, script, 0640);
	add_file(launch, RECORD_SHELL, copy_shell(argv), 0640);
	launch->job.argv = copy_argv(p, "go");
	launch->job.cancel = copy_argv(p, "end");
	launch->job.copied = 1;
}

/* Of what the launcher's words name. */
static void fill(struct launch *launch, const struct agent_plan *agent, const struct build_job *w,
    const struct places *p, const struct sources *s, const struct launcher_fill *fill)
{
	struct shim_job *job = &launch->job;
	char **argv = launcher_argv(agent->launch, fill), **program = job->argv;

	add_file(launch, RECORD_FAR, xstrdup(""), 0660);
	add_file(launch, RECORD_PLACE, NULL, 0770);
	if (launcher_starts_script(agent->launch))
		add_scripts(launch, p, w->job.shim);
	else
		add_agent(&argv, job, p->dir);
	if (p->top != NULL) {
		add_copies(launch, w, p, s, argv);
		strings_free(argv);
	} else {
		job->argv = argv;
		job->cancel = launcher_argv(agent->cancel, fill);
	}
	strings_free(program);
	job->far = xstrdup(RECORD_FAR);
	/* it would confine the launcher, not the agent */
	job->sandbox = JOB_OPEN;
}

void placed_wrap(struct launch *launch, const struct agent_plan *agent, const struct build_job *w,
    const struct places *p, const struct sources *s)
{
	const struct attempt_row *attempt = &w->attempt;
	char *run, *number, *start, *end, *start_word, *end_word;

	if (attempt->launcher == NULL)
		return;
	run = xasprintf("%lld", (long long)attempt->run);
	number = xasprintf("%lld", (long long)attempt->id);
	start = xasprintf("%s/" RECORD_START, p->dir);
	end = xasprintf("%s/" RECORD_END, p->dir);
	start_word = shell_word(start);
	end_word = shell_word(end);
	fill(launch, agent, w, p, s, &(struct launcher_fill){ run, number, attempt->uuid, launch->job.cwd,
	    attempt->node, start_word, end_word });
	free(run);
	free(number);
	free(start);
	free(end);
	free(start_word);
	free(end_word);
}
