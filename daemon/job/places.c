/* SPDX-License-Identifier: MIT */
/* Where an attempt works, and the paths of its files. */
#include "job/build_int.h"

#include <stdlib.h>

#include "core/plan.h"
#include "core/profile.h"
#include "model/dirs.h"
#include "proto/memory.h"
#include "record/layout.h"

/* Works in the directory of the user, to compare. */
static bool compares(const struct build_job *w)
{
	return w->attempt.role == ROLE_CHECK && w->slot.base == BASE_COMPARING;
}

/* Works where the reviewer does. */
bool build_judges(const struct build_job *w)
{
	if (compares(w))
		return false;
	return build_is_review(w) || (w->attempt.role == ROLE_CHECK && plan_checks_room(w->plan)) ||
	    (w->attempt.role == ROLE_SETUP && (w->slot.round > 0 || w->slot.base == BASE_CHECKING));
}

void build_places(struct places *p, const struct build_job *w, const struct agent_plan *agent)
{
	const char *state_dir = w->job.state_dir;
	enum carrier carrier = w->plan->profile->carrier;

	p->dir = dirs_attempt(state_dir, w->attempt.id);
	p->run_dir = dirs_run(state_dir, w->run.id);
	p->cwd = build_judges(w) ? dirs_review(state_dir, &w->run, w->plan, &w->slot) : compares(w) ?
	    xstrdup(w->run.workdir) : dirs_slot(&w->run, &w->slot);
	p->task_file = dirs_task_file(state_dir, &w->run, &w->slot);
	if (agent->copies && w->attempt.launcher != NULL) {
		p->top = build_judges(w) ? dirs_review_top(state_dir, &w->run, w->plan, &w->slot) :
		    xstrdup(w->slot.worktree != NULL ? w->slot.worktree : w->run.workspace);
		p->copied_task = xasprintf("%s/" RECORD_TASK, p->dir);
	}
	p->prompt_file = xasprintf("%s/" RECORD_PROMPT, p->dir);
	if (w->attempt.role == ROLE_FIX)
		p->findings_file = xasprintf("%s/" RECORD_FINDINGS, p->dir);
	if (!build_is_review(w))
		return;
	if (w->slot.diff != ROW_NONE)
		p->diff_file = xasprintf("%s/" RECORD_DIFF, p->dir);
	p->review_file = dirs_review_file(state_dir, &w->run, w->plan, &w->slot);
	if (carrier == CARRIER_COMMENTS)
		p->verdict_file = xstrdup(p->review_file);
	else if (carrier == CARRIER_VERDICT || carrier == CARRIER_DECISION)
		p->verdict_file = xasprintf("%s/" RECORD_VERDICT, p->dir);
	if (w->plan->read_only)
		p->scratch = xasprintf("%s/tmp-%lld", p->run_dir, (long long)w->attempt.id);
}

void build_places_release(struct places *p)
{
	free(p->dir);
	free(p->run_dir);
	free(p->cwd);
	free(p->top);
	free(p->task_file);
	free(p->copied_task);
	free(p->prompt_file);
	free(p->verdict_file);
	free(p->findings_file);
	free(p->diff_file);
	free(p->review_file);
	free(p->scratch);
}
