/* SPDX-License-Identifier: MIT */
#include "job/filler.h"

#include <string.h>

/* For every prompt: a human or a check may send any role back, and any round may be the strict
 * one. */
#define ALWAYS (PART_FOLLOW_UP | PART_ROUND)

static const char *directory_name(const char *workdir)
{
	const char *slash = strrchr(workdir, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : workdir;
}

/* Name or description of the source's project; an implementer's task contains them already. */
static void fill_project(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	(void)s;
	if (w->attempt.role == ROLE_IMPLEMENT && w->run.feature == NULL)
		return;
	parts->project = w->run.project != NULL ? w->run.project : directory_name(w->run.workdir);
	parts->feature = w->run.feature != NULL ? w->run.feature : w->task.title;
}

/* The source has only tasks. */
static void fill_directory(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	(void)s;
	if (w->attempt.role == ROLE_IMPLEMENT)
		return;
	parts->project = directory_name(w->run.workdir);
	parts->feature = w->task.title;
}

static void fill_stories(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	(void)w;
	parts->stories = (struct span){ s->stories.data, s->stories.size };
}

static void fill_task(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	parts->task_id = w->task.id;
	parts->task_title = w->task.title;
	parts->task_status = w->task.status != NULL ? w->task.status : state_name(&task_state_names, w->task.state);
	parts->task_priority = s->priority;
	parts->task = (struct span){ s->task, s->task_size };
}

static void fill_round(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	(void)s;
	parts->strictness = w->plan->strictness;
}

static void fill_follow_up(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	parts->follow_up = (struct span){ s->follow_up.data, s->follow_up.size };
	parts->follow_up_from = w->follow_up_from;
}

static void fill_guidelines(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	(void)w;
	parts->guidelines = (struct span){ s->guidelines, s->guidelines_size };
}

static void fill_conventions(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	(void)w;
	parts->conventions = (struct span){ s->conventions, s->conventions_size };
}

static void fill_history(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	parts->history = s->history;
	parts->nhistory = w->nhistory;
}

/* A reviewer is told that there is no answer, or no change; the other roles get neither section
 * then. */
static const char *nothing_for(const struct build_job *w)
{
	return build_is_review(w) ? "" : NULL;
}

static void fill_answer(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	parts->answer = (struct span){ s->answer != NULL ? s->answer : nothing_for(w), s->answer_size };
}

static void fill_diff(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	parts->diff = (struct span){ s->diff.data != NULL ? s->diff.data : nothing_for(w), s->diff.size };
	parts->diff_dropped = s->diff_dropped;
	parts->unchanged = build_is_unchanged(w);
	parts->no_change = w->says_no_change == ROW_NONE ? NO_CHANGE_UNASKED :
	    w->says_no_change == 1 ? NO_CHANGE_SAID : NO_CHANGE_UNSAID;
}

#define EVERYWHERE(fill) \
	{ [SOURCE_PROMPT] = fill, [SOURCE_BEADS] = fill, [SOURCE_STORIES] = fill, [SOURCE_WORKFLOW] = fill }

static const struct {
	const char *name;	/* name of the section, "guidelines" */
	enum part part;
	void (*fill[SOURCES])(struct prompt_parts *parts, const struct build_job *w, const struct sources *s);
} fillers[PARTS] = {
	{ "project", PART_PROJECT, {
		[SOURCE_PROMPT] = fill_directory, [SOURCE_BEADS] = fill_directory,
		    [SOURCE_STORIES] = fill_project, [SOURCE_WORKFLOW] = fill_project } },
	{ "stories", PART_STORIES, EVERYWHERE(fill_stories) },
	{ "task", PART_TASK, EVERYWHERE(fill_task) },
	{ "round", PART_ROUND, EVERYWHERE(fill_round) },
	{ "follow_up", PART_FOLLOW_UP, EVERYWHERE(fill_follow_up) },
	{ "guidelines", PART_GUIDELINES, EVERYWHERE(fill_guidelines) },
	{ "conventions", PART_CONVENTIONS, EVERYWHERE(fill_conventions) },
	{ "history", PART_HISTORY, EVERYWHERE(fill_history) },
	{ "answer", PART_ANSWER, EVERYWHERE(fill_answer) },
	{ "diff", PART_DIFF, EVERYWHERE(fill_diff) },
};

void filler_fill(struct prompt_parts *parts, const struct build_job *w, const struct sources *s)
{
	const unsigned seen = prompt_sees(w->plan->profile, (enum role)w->attempt.role);
	const int source = source_find(w->run.source);

	for (size_t i = 0; i < PARTS; i++)
		if ((fillers[i].part & (seen | ALWAYS)) != 0)
			fillers[i].fill[source](parts, w, s);
}
