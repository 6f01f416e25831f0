/* SPDX-License-Identifier: MIT */
#include "engine/work.h"

#include <stdlib.h>

#include "base/memory.h"

void work_run(struct work *work)
{
	switch (work->kind) {
	case WORK_INTAKE:
		intake_run((struct intake_work *)work);
		break;
	case WORK_OPEN:
		open_run((struct open_work *)work);
		break;
	case WORK_GIT:
		git_run((struct git_work *)work);
		break;
	case WORK_COMPOSE:
		compose_run((struct compose_work *)work);
		break;
	case WORK_COLLECT:
		collect_run((struct collect_work *)work);
		break;
	case WORK_JUDGE:
		judge_run((struct judge_work *)work);
		break;
	case WORK_FORGET:
		forget_run((struct forget_work *)work);
		break;
	}
}

static void intake_free(struct intake *item)
{
	free(item->message);
	free(item->hint);
	free(item->workspace);
	free(item->text);
	free(item->environment_hash);
	free(item);
}

void work_free(struct work *work)
{
	if (work == NULL)
		return;
	switch (work->kind) {
	case WORK_INTAKE: {
		struct intake_work *w = (struct intake_work *)work;

		for (size_t i = 0; i < w->count; i++)
			intake_free(w->items[i]);
		free(w->items);
		break;
	}
	case WORK_OPEN:
		free(((struct open_work *)work)->text);
		free(((struct open_work *)work)->error);
		break;
	case WORK_GIT: {
		struct git_work *w = (struct git_work *)work;

		free(w->environment);
		free(w->scratch);
		free(w->aside);
		strings_free(w->env);
		free(w->error);
		break;
	}
	case WORK_COMPOSE: {
		struct compose_work *w = (struct compose_work *)work;

		row_release(ROW_RUN, &w->run);
		row_release(ROW_SLOT, &w->slot);
		row_release(ROW_ATTEMPT, &w->attempt);
		row_release(ROW_TASK, &w->task);
		free(w->follow_up);
		free(w->findings);
		launch_free(w->launch);
		free(w->error);
		break;
	}
	case WORK_COLLECT:
		agent_result_release(&((struct collect_work *)work)->result);
		free(((struct collect_work *)work)->answer_hash);
		free(((struct collect_work *)work)->last_words);
		free(((struct collect_work *)work)->error);
		break;
	case WORK_JUDGE:
		verdict_release(&((struct judge_work *)work)->verdict);
		free(((struct judge_work *)work)->error);
		break;
	case WORK_FORGET:
		free(((struct forget_work *)work)->environment);
		free(((struct forget_work *)work)->blob);
		strings_free(((struct forget_work *)work)->keep);
		break;
	}
	free(work);
}

char *work_attempt_dir(const char *state_dir, int64_t id)
{
	return xasprintf("%s/attempts/%lld", state_dir, (long long)id);
}

char *work_run_dir(const char *state_dir, int64_t run)
{
	return xasprintf("%s/runs/%lld", state_dir, (long long)run);
}
