/* SPDX-License-Identifier: MIT */
/* A run's resolved settings: what it was submitted with, for good. */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"

struct profile;

enum prompt_via { PROMPT_STDIN, PROMPT_ARG, PROMPT_FILE, PROMPT_VIAS };
enum reader_kind { READER_TEXT, READER_CLAUDE, READER_KINDS };

extern const struct state_names prompt_via_names, reader_names;

/* One agent program as a role of this run uses it. */
struct agent_plan {
	char *name;
	char **command;		/* NULL-terminated argv template; {model} {prompt_file} {session} are filled in at start */
	enum prompt_via prompt;
	enum reader_kind reader;
	char *model;		/* NULL: the program's own default */
	char **set;		/* NULL-terminated "K=V" */
	char **env;		/* NULL-terminated names that may pass from the submitter's environment */
};

struct plan {
	struct agent_plan agents[ROLES];
	bool review;			/* review.enabled, after --skip-review and reviewer_prompt = "none" */
	char *skip_reason;		/* why review is false, NULL when it is true */
	const struct profile *profile;
	int64_t max_fixes;
	int64_t stall_limit;		/* 0: never */
	enum on_lost on_lost;
	char *developer_prompt;		/* absolute path or NULL: found as engine/template.h says */
	char *reviewer_prompt;
	int64_t timeout_ms;		/* one implement or fix attempt */
	int64_t review_timeout_ms;
	int64_t idle_timeout_ms;
	int64_t grace_ms;
	int64_t output_bytes;
	char **env;			/* NULL-terminated "K=V" of --env */
};

void plan_release(struct plan *plan);

#endif
