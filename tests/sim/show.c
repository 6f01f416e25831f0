/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <stdio.h>

static const char *text(const char *s)
{
	return s != NULL ? s : "-";
}

static void show_plan(const struct plan *p)
{
	printf("  review %d scope %s commit %s isolation %s integrate %s parallel %lld iterations "
	    "%lld assign %s on_failure %s on_lost %s fixes %lld checks %zu %s\n", p->review,
	    state_name(&scope_names, (int)p->scope), state_name(&commit_mode_names, (int)p->commit),
	    state_name(&isolation_names, (int)p->isolation),
	    state_name(&integrate_names, (int)p->integrate), (long long)p->parallel,
	    (long long)(p->iterations == ROW_NONE ? -1 : p->iterations),
	    state_name(&assign_names, (int)p->assign), state_name(&on_failure_names, (int)p->on_failure),
	    state_name(&on_lost_names, (int)p->on_lost),
	    (long long)p->max_fixes, p->checks != NULL && p->checks[0] != NULL ? (size_t)1 : 0,
	    state_name(&review_place_names, (int)p->workspace));
}

static void show_slot(const struct world *w, const struct run_rows *rows, const struct slot_row *slot)
{
	struct world_answer answers[128];
	int count = world_answers(w, slot->run, slot->iteration, slot->slot, answers, 128);

	printf("  slot %lld/%lld %s leaving %s task %s cause %s reason %s tree %s base %s commit "
	    "%s fix %lld worktree %s\n   ", (long long)slot->iteration, (long long)slot->slot,
	    state_name(&slot_stage_names, slot->stage), state_name(&slot_leaving_names, slot->leaving),
	    text(slot->task), text(slot->cause), text(slot->reason), text(slot->tree),
	    text(slot->base_tree), text(slot->commit_id), (long long)slot->fix, text(slot->worktree));
	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];

		if (a->iteration == slot->iteration && a->slot == slot->slot)
			printf(" %lld:%s/%lld:%s:%s", (long long)a->id, state_name(&role_names, a->role),
			    (long long)a->round, state_name(&attempt_state_names, a->state),
			    state_name(&process_result_names, a->process));
	}
	printf("\n    answers");
	for (int i = 0; i < count; i++)
		printf(" %c%lld", answers[i].what, (long long)answers[i].value);
	printf("\n");
}

void show_runs(const struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL) {
		const struct run_row *run = &rows->run;

		printf("run %lld %s %s cause %s reason %s iteration %lld paused %lld stopped %lld "
		    "after %lld %s group %s in %s git %lld\n", (long long)run->id, run->source,
		    state_name(&run_state_names, run->state), text(run->cause), text(run->reason),
		    (long long)run->iteration, (long long)run->paused,
		    (long long)run->stopped, (long long)run->after_run, text(run->source_path),
		    run->group, run->workspace, (long long)run->has_git);
		printf("  retry of %lld, starts with %s; result %s %s\n", (long long)run->retry_of, text(run->start),
		    text(run->result_branch), text(run->result_commit));
		show_plan(world_plan(w, run->id));
		for (size_t i = 0; i < rows->ntasks; i++)
			printf("  task %s %s reason %s after %s\n", rows->tasks[i]->id,
			    state_name(&task_state_names, rows->tasks[i]->state),
			    text(rows->tasks[i]->reason), text(rows->tasks[i]->depends_on));
		for (size_t i = 0; i < rows->nslots; i++)
			show_slot(w, rows, rows->slots[i]);
		for (size_t i = 0; i < rows->nholds; i++)
			printf("  hold %lld of %lld/%lld %s %s\n", (long long)rows->holds[i]->id,
			    (long long)rows->holds[i]->iteration, (long long)rows->holds[i]->slot,
			    state_name(&hold_kind_names, rows->holds[i]->kind),
			    state_name(&hold_state_names, rows->holds[i]->state));
	}
}
