/* SPDX-License-Identifier: MIT */
#include "job/prompt_preview.h"

#include <stdlib.h>
#include <string.h>

#include "core/nonce.h"
#include "core/profile.h"
#include "core/row.h"
#include "git/toplevel.h"
#include "job/build.h"
#include "job/build_int.h"
#include "job/filler.h"
#include "job/review_basis.h"
#include "job/template_search.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "task/task_op.h"

#define ANSWER "(the developer's answer)"
#define DIFF "(all differences from the tree before the task)"
#define FOLLOW_UP "(what the review asks for)"

/* As in a run; a reviewer's is among what judges. */
static char *read_template(struct prompt_preview *p, const struct judge_row *judge, const char *workspace,
    size_t *size)
{
	bool developer = p->role == ROLE_IMPLEMENT || (p->role == ROLE_FIX && p->plan->fixer == FIXER_IMPLEMENTER);

	if (p->role == ROLE_REVIEW) {
		*size = judge->reviewer != NULL ? strlen(judge->reviewer) : 0;
		return xstrdup(judge->reviewer);
	}
	return template_find(developer ? ROLE_IMPLEMENT : p->role, developer ? p->plan->developer_prompt : NULL,
	    workspace, p->config_dir, p->plan->read_as, size, &p->error);
}

static void write_prompt(struct prompt_preview *p, const struct judge_row *judge, struct sources *s)
{
	struct build_job w = {
		.plan = p->plan,
		.run = { .workdir = (char *)p->workdir, .source = (char *)sources[SOURCE_PROMPT].name },
		.attempt = { .role = (int)p->role },
		.task = { .id = (char *)"t1", .title = xmemdup0(p->task, strcspn(p->task, "\n")),
		    .state = TASK_S_OPEN },
		.says_no_change = ROW_NONE,
	};
	struct prompt_parts parts = {
		.template = { s->template, s->template_size },
		.round = 1,
		.max_reviews = p->plan->max_fixes + 1,
		.review_file = p->plan->review_file,
		.read_only = p->plan->read_only,
		.no_change_marker = p->plan->no_change_markers[0],
		.nonce = p->role == ROLE_REVIEW ? NONCE_NONE : NULL,
	};
	enum carrier carrier = p->plan->profile->carrier;

	if (p->role == ROLE_REVIEW && (carrier == CARRIER_VERDICT || carrier == CARRIER_DECISION))
		parts.verdict_file = "$RL_VERDICT_FILE";
	s->task = (char *)p->task;
	s->task_size = strlen(p->task);
	s->guidelines = judge->guidelines;
	s->guidelines_size = judge->guidelines != NULL ? strlen(judge->guidelines) : 0;
	s->conventions = judge->conventions;
	s->conventions_size = judge->conventions != NULL ? strlen(judge->conventions) : 0;
	if (p->role != ROLE_IMPLEMENT) {
		s->answer = (char *)ANSWER;
		s->answer_size = strlen(ANSWER);
	}
	if (p->role == ROLE_REVIEW)
		buf_adds(&s->diff, DIFF "\n");
	if (p->role == ROLE_FIX)
		buf_adds(&s->follow_up, FOLLOW_UP "\n");
	buf_addf(&s->stories, "## t1: %s\n", p->task);
	filler_fill(&parts, &w, s);
	p->prompt = prompt_build(p->plan->profile, p->role, &parts, &p->size);
	free(w.task.title);
}

void prompt_preview_make(struct prompt_preview *p)
{
	struct review_basis basis = { .plan = p->plan, .config_dir = p->config_dir, .workdir = p->workdir,
	    .retry_of = ROW_NONE, .read_as = p->plan->read_as };
	struct sources s = { .priority = "0" };
	struct judge_row *judge;
	char *top = NULL;
	int rv = git_toplevel(p->workdir, &top);

	if (rv != 0) {
		p->error = xasprintf("%s: %s", p->workdir, host_words(-rv));
		p->field = "workdir";
		return;
	}
	basis.workspace = top != NULL ? top : p->workdir;
	judge = review_basis_read(&basis);
	p->warnings = basis.warnings;
	p->error = basis.error;
	p->field = basis.field;
	if (p->error == NULL)
		s.template = read_template(p, judge, basis.workspace, &s.template_size);
	if (p->error == NULL)
		write_prompt(p, judge, &s);
	free(s.template);
	buf_release(&s.diff);
	buf_release(&s.follow_up);
	buf_release(&s.stories);
	row_free(ROW_JUDGE, judge);
	free(top);
}

void prompt_preview_release(struct prompt_preview *p)
{
	free(p->prompt);
	strings_free(p->warnings);
	free(p->error);
}
