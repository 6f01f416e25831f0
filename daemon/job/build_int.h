/* SPDX-License-Identifier: MIT */
/* State while an attempt is built, shared by build.c, prompt_sources.c and variables.c. */
#ifndef JOB_BUILD_INT_H
#define JOB_BUILD_INT_H

#include <string.h>

#include "core/plan.h"
#include "core/state.h"
#include "job/build.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "task/task_op.h"

/* Texts for a prompt, as read from disk. */
struct sources {
	char *template, *task, *answer, *guidelines, *conventions, *dismissed, *disputed, *reply;
	size_t template_size, task_size, answer_size, guidelines_size, conventions_size;
	struct buf diff, follow_up, stories;
	bool diff_dropped;
	char priority[16];	/* of the task, otherwise of the run */
	struct prompt_review *history;
	char **answers;		/* one for each of history; NULL: none */
	size_t nanswers;
};

/* Where the attempt works, and the files it gets. Paths, NULL: none. */
struct places {
	char *dir;		/* attempt directory */
	char *run_dir;
	char *cwd;
	char *top;		/* the work tree whose copy the agent gets on a host */
	char *task_file;	/* the task's text */
	char *copied_task;	/* a copy of it, with top */
	char *prompt_file, *verdict_file, *findings_file;
	char *diff_file;	/* all of the diff under review */
	char *review_file;	/* carrier file */
	char *scratch;		/* for a reviewer that may write nowhere else */
};

/* places.c: agent is what the attempt is of. Call build_places_release() in any case. */
void build_places(struct places *p, const struct build_job *w, const struct agent_plan *agent);
void build_places_release(struct places *p);

/* places.c: whether it works where the reviewer does. */
bool build_judges(const struct build_job *w);

static inline bool build_is_review(const struct build_job *w)
{
	return w->attempt.role == ROLE_REVIEW;
}

/* The tree under review is that of before the task. */
static inline bool build_is_unchanged(const struct build_job *w)
{
	const char *base = w->slot.base_tree != NULL ? w->slot.base_tree : w->run.base_tree;

	return w->slot.tree != NULL && base != NULL && strcmp(w->slot.tree, base) == 0;
}

/* prompt_sources.c: 0, or -1 with error; call sources_release() in any case. */
int sources_read(const struct build_job *w, const struct places *p, struct sources *s, char **error);
void sources_release(struct sources *s);

/* variables.c: the variables of an attempt. The agent's set, then --env, then rld's own, which
 * override. */
void variables_set(const struct build_job *w, const struct agent_plan *agent,
    const struct sources *s, const struct places *p, char ***env);

#endif
