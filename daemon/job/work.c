/* SPDX-License-Identifier: MIT */
#include "job/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "proto/memory.h"
#include "record/host_fault.h"

static void run(struct work *work)
{
	switch (work->kind) {
	case WORK_INTAKE:
		intake_run((struct intake_work *)work);
		break;
	case WORK_OPEN:
		open_run((struct open_work *)work);
		break;
	case WORK_STEP:
		step_run((struct step_work *)work);
		break;
	case WORK_COMPOSE:
		compose_run((struct compose_work *)work);
		break;
	case WORK_PICK:
		pick_run((struct pick_work *)work);
		break;
	case WORK_RESULT:
		result_run((struct result_work *)work);
		break;
	case WORK_NOTICE:
		notice_run((struct notice_work *)work);
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

void work_run(struct work *work)
{
	host_noted();
	run(work);
	work->fault = host_noted();
}

static void notice_release_work(struct notice_work *w)
{
	free(w->zone);
	notice_release(&w->notice);
}

static void intake_release(struct intake_work *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct intake *item = w->items[i];

		plan_release(&item->task_plan);
		free(item->message);
		free(item->hint);
		free(item->workspace);
		free(item->subdir);
		free(item->text);
		free(item->environment_hash);
		free(item);
	}
	free(w->items);
}

static void open_release(struct open_work *w)
{
	plan_release(&w->task_plan);
	strings_free(w->artifacts);
	free(w->text);
	free(w->error);
	strings_free(w->warnings);
}

static void pick_release(struct pick_work *w)
{
	strings_free(w->ids);
	pick_free(w->pick[0]);
	pick_free(w->pick[1]);
	free(w->picked);
}

static void step_release(struct step_work *w)
{
	free(w->source.path);
	free(w->source.task);
	free(w->source.actor);
	free(w->source.reason);
	task_op_free(w->made);
	secrets_release(&w->secrets);
	free(w->scratch);
	free(w->input);
	strings_wipe(w->env);
	free(w->error);
}

static void compose_release(struct compose_work *w)
{
	row_release(ROW_RUN, &w->run);
	row_release(ROW_SLOT, &w->slot);
	row_release(ROW_ATTEMPT, &w->attempt);
	row_release(ROW_TASK, &w->task);
	free(w->follow_up);
	for (size_t i = 0; i < w->nhistory; i++)
		row_release(ROW_REVIEW, &w->history[i]);
	free(w->history);
	free(w->answers);
	free(w->session);
	free(w->interruption);
	free(w->findings);
	briefing_release(&w->briefing);
	free(w->offer);
	free(w->floor);
	launch_free(w->launch);
	free(w->error);
}

static void collect_release(struct collect_work *w)
{
	secrets_release(&w->secrets);
	agent_result_release(&w->result);
	free(w->answer_hash);
	free(w->last_words);
	free(w->zone);
	free(w->doubt);
	free(w->review_file);
	strings_free(w->markers);
	strings_free(w->no_change_markers);
	free(w->worktree);
	verdict_findings_free(w->marks, w->nmarks);
	free(w->error);
}

static void judge_release(struct judge_work *w)
{
	secrets_release(&w->secrets);
	verdict_release(&w->verdict);
	free(w->review_file);
	free(w->top);
	free(w->misnamed);
	free(w->copy_to);
	free(w->error);
}

static void forget_release(struct forget_work *w)
{
	free(w->environment);
	free(w->blob);
	strings_free(w->keep);
	free(w->leftover);
}

static void log_release(struct log_work *w)
{
	free(w->base);
	free(w->dir);
	free(w->name);
	free(w->text);
	free(w->error);
}

static void report_release(struct report_work *w)
{
	run_rows_free(w->rows);
	free(w->path);
	free(w->error);
}

void work_free(struct work *work)
{
	if (work == NULL)
		return;
	switch (work->kind) {
	case WORK_INTAKE:
		intake_release((struct intake_work *)work);
		break;
	case WORK_OPEN:
		open_release((struct open_work *)work);
		break;
	case WORK_STEP:
		step_release((struct step_work *)work);
		break;
	case WORK_COMPOSE:
		compose_release((struct compose_work *)work);
		break;
	case WORK_PICK:
		pick_release((struct pick_work *)work);
		break;
	case WORK_NOTICE:
		notice_release_work((struct notice_work *)work);
		break;
	case WORK_RESULT:
		progress_free(((struct result_work *)work)->progress);
		break;
	case WORK_COLLECT:
		collect_release((struct collect_work *)work);
		break;
	case WORK_JUDGE:
		judge_release((struct judge_work *)work);
		break;
	case WORK_FORGET:
		forget_release((struct forget_work *)work);
		break;
	case WORK_LOG:
		log_release((struct log_work *)work);
		break;
	case WORK_REPORT:
		report_release((struct report_work *)work);
		break;
	}
	free(work);
}
