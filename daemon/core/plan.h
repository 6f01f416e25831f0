/* SPDX-License-Identifier: MIT */
/* A run's resolved settings: what it was submitted with, for good. */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clocks.h"
#include "core/state.h"
#include "proto/kinds.h"

struct profile;

/* The name of a project's own settings in the workdir of a run: [run] and [review], and nothing
 * that runs agents or grants. */
#define PROJECT_FILE ".rld.toml"

enum prompt_via { PROMPT_STDIN, PROMPT_ARG, PROMPT_FILE, PROMPT_VIAS };
enum reader_kind {
	READER_TEXT, READER_CLAUDE, READER_CODEX, READER_GEMINI, READER_OPENCODE, READER_COPILOT,
	READER_QWEN, READER_PI, READER_KINDS
};

extern const struct state_names prompt_via_names, reader_names;

/* One agent program as a role of this run uses it. */
struct agent_plan {
	char *name;
	char **command;		/* NULL-terminated argv template; {model} {prompt_file} {session}
				 * are filled in at start */
	char **resume;		/* words put behind the command when a conversation goes on, with
				 * {session}; empty: it cannot */
	enum prompt_via prompt;
	enum reader_kind reader;
	char *model;		/* NULL: the program's own default */
	char **set;		/* NULL-terminated "K=V" */
	char **env;		/* NULL-terminated names that may pass from the
				 * submitter's environment */
	char **writable;	/* NULL-terminated: files and folders of its own state, "~/" is HOME
				 * of its environment */
	char *account;		/* who pays for it */
	struct agent_plan *fallbacks;	/* that take over while its account is exhausted, in this
					 * order; they have none of their own */
	size_t nfallbacks;
};

/* agents[ROLE_CHECK] is empty: a check is a command of `checks`. agents[ROLE_REVIEW] of carrier
 * "exit" has name and command from `reviewer`, without the base directory, which is put behind it.
 * agents[ROLE_COMMIT] is the implementer's. */
struct plan {
	struct agent_plan agents[ROLES];
	bool review;			/* review.enabled, after --skip-review and
					 * reviewer_prompt = "none" */
	enum skip_kind skip_kind;	/* why review is false, SKIP_NOTHING when it is true */
	char *skip_reason;		/* the same as a sentence; NULL when it is true */
	bool skipped;			/* it is false only for --skip-review, which does not
					 * hold for a retry */
	const struct profile *profile;	/* the built-in one: carrier, words, parts */
	char *profile_name;		/* as chosen: a [profile.NAME] or the built-in's own */
	int64_t max_fixes;
	int64_t stall_limit;		/* 0: never */
	enum bad_end on_malformed, on_reviewer_error, on_exhausted;
	enum fixer fixer;
	enum scope scope;
	enum commit_mode commit;
	bool commit_said;		/* it was written down, and not by a profile, so isolation
					 * does not turn it on */
	enum isolation isolation;	/* AUTO until plan_settle() */
	enum integrate integrate;	/* the same */
	int64_t parallel;		/* slots of one iteration */
	int64_t iterations;		/* ROW_NONE: until no task remains */
	int64_t pause_ms;		/* between iterations */
	enum on_failure on_failure;
	enum assign assign;
	char **stop_markers;		/* NULL-terminated */
	enum on_no_change on_no_change;
	char **no_change_markers;	/* NULL-terminated */
	double max_cost_usd;		/* of all attempts of the run; NaN: no limit */
	int64_t max_tokens, max_wall_ms;	/* the same, ROW_NONE: no limit */
	char *base;			/* --base REF, NULL: none */
	int64_t disk_floor_bytes;	/* no attempt starts with less free space; 0: never mind */
	enum strictness strictness;
	bool read_only;			/* the reviewer is confined to its scratch, the carrier
					 * file and `writable` */
	enum sandbox sandbox;		/* what when the kernel cannot confine it */
	enum review_place workspace;	/* where the reviewer works */
	char **checks;			/* NULL-terminated shell commands, run in order
					 * before each review */
	char **guidelines;		/* NULL-terminated pairs: file, section;
					 * file, section; ... */
	char **conventions;		/* NULL-terminated names of files */
	char *review_file;		/* FILE and COMMENTS: name of the carrier file, plain and
					 * relative to the workdir; NULL: none */
	char *review_log;		/* directory, absolute or relative to the
					 * workdir; NULL: none */
	char *reviewer;			/* EXIT: the program; NULL: none */
	char *report;			/* absolute path to write a report to when the run ends or
					 * is held; NULL: none */
	char **on_hold, **on_end;	/* NULL-terminated argv of [hook]; empty: none */
	enum on_lost on_lost;
	int64_t retries;		/* tries in a row after failures of a service that
					 * pass by themselves */
	char *developer_prompt;		/* absolute path or NULL: found as prompt/template.h says */
	char *reviewer_prompt;
	struct clocks clocks[ROLES];
	int64_t grace_ms;
	int64_t output_bytes;
	char **env;			/* NULL-terminated "K=V" of --env */
};

/* The agent itself, then its fallbacks; NULL: no more. */
const struct agent_plan *plan_agent_at(const struct agent_plan *agent, size_t i);
/* Which of them has that name; the first, when none has. */
const struct agent_plan *plan_agent(const struct plan *plan, enum role role, const char *name);

/* Sets review, and why it is skipped, if it is. */
void plan_skip(struct plan *plan, enum skip_kind kind);

/* The plan of a retry: what only --skip-review left out is reviewed. True when
 * something has changed. */
bool plan_unskip(struct plan *plan);

/* What can be decided only when workdir and source are known, in place: isolation and integrate of
 * "auto", commit of a work tree, where reviews take place. many: the source may have more than one
 * task. A settled plan stays as it is. Returns NULL, or why the plan is impossible, a sentence with
 * the remedy, malloc'd, and in *field the parameter at fault. */
char *plan_settle(struct plan *plan, bool has_git, bool many, const char **field);

/* *from is zero after it; *to, which is not released, is as it was. */
void plan_move(struct plan *to, struct plan *from);

void plan_release(struct plan *plan);

#endif
