/* SPDX-License-Identifier: MIT */
/* A run's resolved settings, fixed at submit. */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clocks.h"
#include "core/state.h"
#include "proto/kinds.h"

struct profile;

/* Name of a project's settings file in the workdir: [run] and [review], no agents and no
 * permissions. */
#define PROJECT_FILE ".rld.toml"

enum prompt_via { PROMPT_STDIN, PROMPT_ARG, PROMPT_FILE, PROMPT_VIAS };
enum reader_kind {
	READER_TEXT, READER_CLAUDE, READER_CODEX, READER_GEMINI, READER_OPENCODE, READER_COPILOT,
	READER_QWEN, READER_PI, READER_KINDS
};

extern const struct state_names prompt_via_names, reader_names;

/* One agent program as used for a role of this run. */
struct agent_plan {
	char *name;
	/* NULL-terminated argv template; {model} {prompt_file} {session} are replaced at start */
	char **command;
	/* arguments appended to resume a conversation, with {session}; empty: cannot resume */
	char **resume;
	enum prompt_via prompt;
	enum reader_kind reader;
	char *model;		/* NULL: the program's own default */
	char **set;		/* NULL-terminated "K=V" */
	/* NULL-terminated names of variables to pass on from the submitter's environment */
	char **env;
	/* NULL-terminated: files and folders of its state, "~/" is HOME in its environment */
	char **writable;
	char *account;		/* account billed for it */
	/* What places it: its name, the prefix of argv and the command that ends what the prefix
	 * has placed, NULL-terminated templates, see agent/launcher.h; and at how many attempts at
	 * a time, over all runs (0: no limit). NULL and empty: it runs here. */
	char *launcher;
	char **launch, **cancel;
	int64_t launcher_slots;
	/* NULL-terminated "NAME=SLOTS": the machines of which it is given one; empty: it finds one
	 * by itself */
	char **hosts;
	/* the machine does not see the work tree: it has a copy, see job/copy_script.h */
	bool copies;
	/* replacements while its account is exhausted, in this order; they have no fallbacks */
	struct agent_plan *fallbacks;
	size_t nfallbacks;
};

/* agents[ROLE_CHECK] is empty: a check is a command of `checks`. agents[ROLE_REVIEW] of carrier
 * "exit" has its name and command from `reviewer`, without the base directory, which is appended.
 * agents[ROLE_COMMIT] is the implementer's. */
struct plan {
	struct agent_plan agents[ROLES];
	bool review;			/* review.enabled, after --skip-review and
					 * reviewer_prompt = "none" */
	enum skip_kind skip_kind;	/* why review is false, SKIP_NOTHING when it is true */
	char *skip_reason;		/* the same as a sentence; NULL when it is true */
	/* review is false only because of --skip-review, which a retry ignores */
	bool skipped;
	const struct profile *profile;	/* the built-in profile: carrier, words, parts */
	char *profile_name;		/* as chosen: a [profile.NAME] or a built-in one */
	/* models of the implementer and then of each fixer, the last one for all further fixes;
	 * empty: those of their agents */
	char **escalate;
	/* a panel: each reviews in a separate room, and agents[ROLE_REVIEW] is the
	 * first; none: that one alone. How many of them must pass, see panel_quorum(); NULL:
	 * "all" */
	struct agent_plan *reviewers;
	size_t nreviewers;
	char *quorum;
	int64_t max_fixes;
	int64_t stall_limit;		/* 0: no limit */
	/* A round is compared with all before it, checks and objections of git included, and
	 * findings by finding_id(). false, in plans of older versions: a review with the one before
	 * it, and by finding_id_first(). */
	bool any_round;
	enum bad_end on_malformed, on_reviewer_error, on_exhausted;
	/* what a second malformed answer leads to when the first one is asked about: the profile's
	 * own on_malformed */
	enum bad_end malformed_again;
	enum fixer fixer;
	enum scope scope;
	enum commit_mode commit;
	/* commit was set explicitly, not by a profile, so isolation does not turn it on */
	bool commit_said;
	enum isolation isolation;	/* AUTO until plan_settle() */
	enum integrate integrate;	/* likewise */
	int64_t parallel;		/* slots at work at a time */
	int64_t iterations;		/* ROW_NONE: until no task remains */
	int64_t pause_ms;		/* between iterations */
	/* A free slot takes the next task at once: the run is one iteration. plan_settle() decides;
	 * false in plans of older versions. */
	bool rolls;
	enum on_failure on_failure;
	enum assign assign;
	char **stop_markers;		/* NULL-terminated */
	enum on_no_change on_no_change;
	char **no_change_markers;	/* NULL-terminated */
	double max_cost_usd;		/* over all attempts of the run; NaN: no limit */
	int64_t evidence_age_ms;	/* of checks of other runs that count; 0: none */
	int64_t max_tokens, max_wall_ms;	/* likewise, ROW_NONE: no limit */
	/* an attempt does not start if what it is expected to use is more than what is left */
	bool strict_budget;
	char *base;			/* --base REF, NULL: none */
	int64_t disk_floor_bytes;	/* free space below which no attempt starts; 0: no check */
	enum strictness strictness;
	/* the reviewer may write only to its scratch directory, the carrier file and `writable` */
	bool read_only;
	enum sandbox sandbox;		/* what to do if the kernel cannot confine it */
	enum review_place workspace;	/* where reviewers work, and checks by plan_checks_room() */
	enum room_of room;
	enum on_cut on_cut;
	enum on_question on_question;	/* what a question of implementer or fixer leads to */
	/* reviews have a nonce; false in plans of older versions, whose verdicts are read by their
	 * rules (verdict/verdict.h) */
	bool nonce;
	enum silence silence;		/* what a reviewer that reports nothing means, for FILE */
	char **checks;			/* NULL-terminated shell commands, run in order
					 * before each review */
	/* NULL-terminated patterns of files that a reviewer may change in its room */
	char **may_change;
	/* NULL-terminated patterns of paths: work that touches one is held */
	char **protect;
	bool checks_in_room;		/* false in plans of older versions */
	/* NULL-terminated shell commands, run in order in each new work tree and room */
	char **setup;
	/* NULL-terminated patterns of ignored files that are copied there before, relative to the
	 * workdir */
	char **copy;
	/* NULL-terminated patterns of files on which the set-up depends */
	char **setup_inputs;
	enum check_on_base check_on_base;
	/* the base is checked beside the first attempts; false in plans of older versions */
	bool base_beside;
	enum checks_mode checks_mode;
	bool checks_merged;		/* merges that give a new tree; false as above */
	enum review_merged review_merged;
	char **guidelines;		/* NULL-terminated pairs: file, section;
					 * file, section; ... */
	char **conventions;		/* NULL-terminated file names */
	/* FILE and COMMENTS: plain name of the carrier file in the workdir; NULL: none */
	char *review_file;
	char *review_log;		/* directory, absolute or relative to the
					 * workdir; NULL: none */
	char *reviewer;			/* EXIT: the program; NULL: none */
	/* ... and the SHA-256 of its file at submit; NULL: a run of an earlier version */
	char *reviewer_sha256;
	/* absolute path of the report, written when the run ends or is held; NULL: none */
	char *report;
	char **on_hold, **on_pass, **on_end;	/* NULL-terminated argv of [hook]; empty: none */
	enum on_lost on_lost;
	/* maximum number of consecutive tries after temporary failures of a service */
	int64_t retries;
	/* absolute path or NULL: searched for as prompt/template.h describes */
	char *developer_prompt;
	char *reviewer_prompt;
	struct clocks clocks[ROLES];
	int64_t grace_ms;
	int64_t output_bytes;
	char **env;			/* NULL-terminated "K=V" of --env */
	char **labels;			/* NULL-terminated "K=V" */
	/* for whom files that the run names are read, see base/peer_file.h; NULL: a submit by an
	 * administrator, or of an earlier version */
	char **read_as;
};

/* The command of a check names a variable RL_*, so what it says holds for one task. Others are not
 * given those that differ between tasks. */
bool check_is_of_task(const char *command);

/* The agent itself, then its fallbacks; NULL: no more. */
const struct agent_plan *plan_agent_at(const struct agent_plan *agent, size_t i);
/* Exchange what makes rooms: setup, copy, setup_inputs, and where reviewers work. */
void plan_swap_setup(struct plan *plan, struct plan *other);
/* Exchange the agents of a role. */
void plan_swap_agent(struct plan *plan, struct plan *other, enum role role);
/* The work is judged by more than one reviewer. */
bool plan_has_panel(const struct plan *plan);
/* The plan of one reviewer of the panel: it reviews alone. */
void plan_take_reviewer(struct plan *plan, const char *name);
/* Keep so many of the agent's fallbacks. */
void plan_drop_fallbacks(struct agent_plan *agent, size_t kept);
/* No panel: agents[ROLE_REVIEW] reviews. */
void plan_drop_panel(struct plan *plan);
/* The one with that name, else the first. */
const struct agent_plan *plan_agent(const struct plan *plan, enum role role, const char *name);
/* The model for an attempt of role by agent, which is one of the role's: that of escalate for the
 * first choice, the agent's own for a fallback and for other roles. fix: the slot's fix rounds,
 * with the one that begins. Borrowed; NULL: the program's default. */
const char *plan_model(const struct plan *plan, enum role role, const struct agent_plan *agent, int64_t fix);

/* With git, checks run on a tree that was measured, in the room; otherwise in the work tree, which
 * is measured after them, since they may change it. */
bool plan_checks_room(const struct plan *plan);

/* A merge that gives a new tree is judged before the branch moves: by the checks, or a reviewer. */
bool plan_judges_merges(const struct plan *plan);

/* New work trees and rooms are prepared before they are used. */
bool plan_prepares(const struct plan *plan);

/* Set review, and the reason if it is skipped. */
void plan_skip(struct plan *plan, enum skip_kind kind);

/* The plan of a retry: undo --skip-review. Returns whether anything changed. */
bool plan_unskip(struct plan *plan);

/* Resolve in place what depends on workdir and source: isolation and integrate of "auto", commit of
 * a work tree, the place of reviews. many: the source may have more than one task. A settled plan
 * is left alone. Returns NULL, or why the plan is impossible, as a sentence with the remedy
 * (malloc'd), and in *field the parameter at fault. */
char *plan_settle(struct plan *plan, bool has_git, bool many, const char **field);

/* Move a plan; *from is zeroed. *to must be empty. */
void plan_move(struct plan *to, struct plan *from);

void plan_release(struct plan *plan);

#endif
