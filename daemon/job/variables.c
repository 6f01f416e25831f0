/* SPDX-License-Identifier: MIT */
/* What an attempt sees in its environment beside what was captured at submit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/profile.h"
#include "core/state.h"
#include "job/build.h"
#include "job/build_int.h"
#include "job/kept_environment.h"
#include "model/dirs.h"
#include "task/task_op.h"

#define TASK_VARIABLE_MAX (64 * 1024)

static void set_number(char ***env, const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	environment_set(env, name, text);
}

/* A text as a variable, cut where the kernel would refuse it. */
static void set_long(char ***env, const char *name, const char *text, size_t size)
{
	size_t cut = TASK_VARIABLE_MAX;
	char *head;

	if (size <= TASK_VARIABLE_MAX) {
		environment_set(env, name, text);
		return;
	}
	while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
		cut--;
	head = xmemdup0(text, cut);
	environment_set(env, name, head);
	free(head);
}

static void set_task(const struct build_job *w, const struct places *p, const struct sources *s, char ***env)
{
	if (w->plan->profile->no_task && w->plan->review && (build_is_review(w) || w->attempt.role == ROLE_FIX))
		return;
	environment_set(env, "RL_TASK_ID", w->task.id);
	set_long(env, "RL_TASK", s->task, s->task_size);
	environment_set(env, "RL_TASK_FILE", p->task_file);
}

/* rlctl in an agent asks this daemon, and no other that happens to answer. Where reviewers and fixers must not see the task, it would show
 * them. */
static void set_socket(const struct build_job *w, char ***env)
{
	if (w->job.socket != NULL && !(w->plan->profile->no_task && w->plan->review))
		environment_set(env, "RLD_SOCKET", w->job.socket);
}

/* What scripts written for requirement 003 look at. */
static void set_swival(const struct build_job *w, const struct sources *s, char ***env)
{
	const char *model = w->plan->agents[ROLE_IMPLEMENT].model;

	if (!build_is_review(w) || w->plan->profile->carrier != CARRIER_EXIT)
		return;
	set_long(env, "SWIVAL_TASK", s->task, s->task_size);
	set_number(env, "SWIVAL_REVIEW_ROUND", w->attempt.round);
	if (model != NULL)
		environment_set(env, "SWIVAL_MODEL", model);
}

/* What an agent does with bd it does as the run: it may claim again what the run has, and what it picks the run can give back. */
static void set_actor(const struct build_job *w, char ***env)
{
	char *actor;

	if (strcmp(w->run.source, sources[SOURCE_BEADS].name) != 0)
		return;
	actor = work_actor(w->job.state_dir, &w->run);
	environment_set(env, "BEADS_ACTOR", actor);
	environment_set(env, "BD_ACTOR", actor);
	free(actor);
}

void variables_set(const struct build_job *w, const struct agent_plan *agent, const struct sources *s, const struct places *p, char ***env)
{
	set_actor(w, env);
	environment_set_all(env, (const char *const *)agent->set);
	environment_set_all(env, (const char *const *)w->plan->env);
	set_number(env, "RL_RUN", w->run.id);
	set_number(env, "RL_ATTEMPT", w->attempt.id);
	environment_set(env, "RL_ATTEMPT_UUID", w->attempt.uuid);
	environment_set(env, "RL_ROLE", state_name(&role_names, w->attempt.role));
	set_number(env, "RL_SLOT", w->attempt.slot);
	set_task(w, p, s, env);
	set_swival(w, s, env);
	set_number(env, "RL_ITERATION", w->attempt.iteration);
	set_number(env, "RL_REVIEW_ROUND", w->attempt.round);
	set_number(env, "RL_MAX_REVIEWS", w->slot.fixes + 1);
	environment_set(env, "RL_MODEL", agent->model != NULL ? agent->model : "");
	environment_set(env, "RL_WORKDIR", p->cwd);
	environment_set(env, "RL_BASE_REF", w->slot.base_commit != NULL ? w->slot.base_commit : w->run.base_commit != NULL ? w->run.base_commit :
	    w->run.base_tree != NULL ? w->run.base_tree : "");
	set_socket(w, env);
	if (p->verdict_file != NULL)
		environment_set(env, "RL_VERDICT_FILE", p->verdict_file);
	if (p->findings_file != NULL)
		environment_set(env, "RL_FINDINGS_FILE", p->findings_file);
	if (p->scratch != NULL)
		environment_set(env, "TMPDIR", p->scratch);
}
