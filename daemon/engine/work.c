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
	case WORK_LOG:
		log_run((struct log_work *)work);
		break;
	case WORK_REPORT:
		report_run((struct report_work *)work);
		break;
	}
}

static void intake_free(struct intake *item)
{
	free(item->message);
	free(item->hint);
	free(item->workspace);
	free(item->subdir);
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
		free(((struct open_work *)work)->warning);
		strings_free(((struct open_work *)work)->artifacts);
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
		for (size_t i = 0; i < w->nhistory; i++)
			row_release(ROW_REVIEW, &w->history[i]);
		free(w->history);
		free(w->session);
		free(w->findings);
		launch_free(w->launch);
		free(w->error);
		break;
	}
	case WORK_COLLECT: {
		struct collect_work *w = (struct collect_work *)work;

		agent_result_release(&w->result);
		free(w->answer_hash);
		free(w->last_words);
		free(w->review_file);
		verdict_findings_free(w->marks, w->nmarks);
		free(w->error);
		break;
	}
	case WORK_JUDGE: {
		struct judge_work *w = (struct judge_work *)work;

		verdict_release(&w->verdict);
		free(w->review_file);
		free(w->copy_to);
		free(w->error);
		break;
	}
	case WORK_FORGET:
		free(((struct forget_work *)work)->environment);
		free(((struct forget_work *)work)->blob);
		strings_free(((struct forget_work *)work)->keep);
		free(((struct forget_work *)work)->leftover);
		break;
	case WORK_LOG:
		free(((struct log_work *)work)->base);
		free(((struct log_work *)work)->dir);
		free(((struct log_work *)work)->name);
		free(((struct log_work *)work)->text);
		free(((struct log_work *)work)->error);
		break;
	case WORK_REPORT:
		run_rows_free(((struct report_work *)work)->rows);
		free(((struct report_work *)work)->path);
		free(((struct report_work *)work)->error);
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

char *work_checkout_dir(const char *state_dir, int64_t run, int64_t slot)
{
	return xasprintf("%s/runs/%lld/tree-%lld", state_dir, (long long)run, (long long)slot);
}

char *work_review_dir(const char *state_dir, const struct run_row *run, const struct plan *plan, int64_t slot)
{
	char *tree, *dir;

	if (plan->workspace != PLACE_SNAPSHOT || run->has_git != 1)
		return xstrdup(run->workdir);
	tree = work_checkout_dir(state_dir, run->id, slot);
	if (run->subdir == NULL || run->subdir[0] == '\0')
		return tree;
	dir = xasprintf("%s/%s", tree, run->subdir);
	free(tree);
	return dir;
}

char *work_review_file(const char *state_dir, const struct run_row *run, const struct plan *plan, int64_t slot)
{
	char *dir, *path;

	if (plan->review_file == NULL)
		return NULL;
	dir = work_review_dir(state_dir, run, plan, slot);
	path = xasprintf("%s/%s", dir, plan->review_file);
	free(dir);
	return path;
}
