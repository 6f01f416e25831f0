/* SPDX-License-Identifier: MIT */
#include "config/setting.h"

#include <stdlib.h>
#include <string.h>

#include "agent/launcher.h"
#include "core/launcher_host.h"
#include "core/plan_json.h"
#include "proto/memory.h"
#include "proto/near.h"
#include "config/setting_rules.h"
#include "core/quorum.h"
#include "core/plan.h"
#include "core/profile.h"

#define SECOND INT64_C(1000)
#define DAY (INT64_C(86400) * SECOND)
#define KIB INT64_C(1024)
#define BOTH (LAYER_FILE | LAYER_SUBMIT)
#define WORK (BOTH | LAYER_PROJECT)
#define KNOB (WORK | LAYER_PROFILE)
#define GUARD (KNOB | LAYER_STRICTER)
#define CAP (WORK | LAYER_LOWER)
#define FIELD(name) offsetof(struct profile, name)

/* lock files: tools of a review rewrite them */
#define MAY_CHANGE_DEFAULT "[\"Cargo.lock\",\"Gemfile.lock\",\"composer.lock\",\"flake.lock\",\"go.sum\"," \
	"\"mix.lock\",\"package-lock.json\",\"pnpm-lock.yaml\",\"poetry.lock\",\"uv.lock\",\"yarn.lock\"]"

/* manifests and lock files of package managers */
#define SETUP_INPUTS_DEFAULT "[\"package.json\",\"package-lock.json\",\"npm-shrinkwrap.json\",\"yarn.lock\"," \
	"\"pnpm-lock.yaml\",\"pnpm-workspace.yaml\",\"bun.lock\",\"bun.lockb\",\".npmrc\",\".yarnrc.yml\"," \
	"\"deno.json\",\"deno.lock\",\"pyproject.toml\",\"setup.py\",\"setup.cfg\",\"requirements*.txt\"," \
	"\"Pipfile\",\"Pipfile.lock\",\"poetry.lock\",\"uv.lock\",\"environment.yml\",\"Cargo.toml\"," \
	"\"Cargo.lock\",\"go.mod\",\"go.sum\",\"Gemfile\",\"Gemfile.lock\",\"*.gemspec\",\"composer.json\"," \
	"\"composer.lock\",\"mix.exs\",\"mix.lock\",\"pom.xml\",\"build.gradle\",\"build.gradle.kts\"," \
	"\"settings.gradle\",\"settings.gradle.kts\",\"gradle.lockfile\",\"*.csproj\",\"packages.lock.json\"," \
	"\"Package.swift\",\"Package.resolved\",\"pubspec.yaml\",\"pubspec.lock\",\"flake.nix\",\"flake.lock\"," \
	"\"vcpkg.json\",\"conanfile.txt\",\"conanfile.py\",\"cpanfile\",\"cpanfile.snapshot\"," \
	"\".gitmodules\",\".tool-versions\",\".nvmrc\",\".python-version\",\"rust-toolchain.toml\"]"

static const struct schema section_members[] = {
	{ "file", SCHEMA_TEXT, .required = true, .min = 1, .rule = &rule_below },
	{ "section", SCHEMA_TEXT, .required = true, .min = 1 },
	{ .name = NULL },
};

static const struct schema host_members[] = {
	{ "name", SCHEMA_TEXT, .required = true, .min = 1, .max = LAUNCHER_NODE_MAX, .rule = &rule_host },
	{ "slots", SCHEMA_INT, .required = true, .min = 1, .max = 1000 },
	{ .name = NULL },
};

static const struct schema_rule rule_hosts = {
	"a table { name = \"...\", slots = 4 }", "tables { name = \"...\", slots = 4 }", NULL,
};

static const struct schema_rule rule_section = {
	"a table { file = \"...\", section = \"...\" }", "tables { file = \"...\", section = \"...\" }", NULL,
};

const struct setting settings[] = {
	{ { "parallel", SCHEMA_INT, .min = 1, .max = 1000,
	    .help = "maximum number of attempts at a time, over all runs" }, .layers = LAYER_FILE, .fallback = "4" },
	{ { "default_agent", SCHEMA_TEXT, .rule = &rule_agent,
	    .help = "agent of runs that name none" }, .layers = BOTH, .fallback = "\"claude\"" },
	{ { "attest_key", SCHEMA_TEXT, .rule = &rule_file,
	    .help = "key that signs attestations: a private key, or a public key whose other half is in an agent" },
	    .layers = LAYER_FILE },
	{ { "agent_user", SCHEMA_TEXT, .min = 1, .max = 256,
	    .help = "system service: the user as whom agents must work; another one is refused at the start" },
	    .layers = LAYER_FILE },

	{ { "agent.*.command", SCHEMA_ARGV, .min = 1,
	    .help = "program and arguments; {model}, {prompt_file} and {session} are replaced" },
	    .layers = LAYER_FILE },
	{ { "agent.*.review", SCHEMA_ARGV,
	    .help =
	    "command for a reviewer that writes no file; should make the program read-only; none: "
	    "use command" }, .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.prompt", SCHEMA_CHOICE, .choices = &prompt_via_names,
	    .help = "how to pass the prompt to the program" }, .layers = LAYER_FILE, .fallback = "\"stdin\"" },
	{ { "agent.*.reader", SCHEMA_CHOICE, .choices = &reader_names,
	    .help = "how to read the program's output" }, .layers = LAYER_FILE, .fallback = "\"text\"" },
	{ { "agent.*.model", SCHEMA_TEXT, .max = 256,
	    .help = "model if a role names none; empty: the program's default" },
	    .layers = LAYER_FILE, .fallback = "\"\"" },
	{ { "agent.*.env", SCHEMA_TEXTS, .rule = &rule_variable,
	    .help =
	    "variables to pass on from the submitter's environment, in addition to PATH, HOME, "
	    "LANG and the like" }, .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.set", SCHEMA_MAP, .rule = &rule_variable,
	    .help = "variables with fixed values, added to those of a preset" },
	    .layers = LAYER_FILE, .fallback = "{}" },
	{ { "agent.*.resume", SCHEMA_ARGV,
	    .help =
	    "arguments to append when a conversation is resumed, with {session}; none: it cannot "
	    "be resumed" }, .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.writable", SCHEMA_TEXTS, .rule = &rule_path,
	    .help = "files and folders of the program's state that a confined reviewer may write" },
	    .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.account", SCHEMA_TEXT, .rule = &rule_account,
	    .help =
	    "account that pays; its agents all wait while it is exhausted; unset: the agent's name" },
	    .layers = LAYER_FILE },
	{ { "agent.*.fallback", SCHEMA_TEXTS, .rule = &rule_agent,
	    .help = "agents to use while the account is exhausted, in order of preference" },
	    .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.launcher", SCHEMA_TEXT, .rule = &rule_launcher,
	    .help = "launcher of this agent; unset: that of the run" }, .layers = LAYER_FILE },

	{ { "run.iterations", SCHEMA_INT, .min = 1, .max = 1000000,
	    .help = "maximum number of iterations; unset: until no task remains" }, .layers = WORK },
	{ { "run.parallel", SCHEMA_INT, .min = 1, .max = 64,
	    .help = "slots: tasks at work at a time" }, .layers = WORK, .fallback = "1" },
	{ { "run.pause_ms", SCHEMA_INT, .min = 0, .max = 30 * DAY,
	    .help = "pause between iterations, in milliseconds" }, .layers = WORK, .fallback = "0" },
	{ { "run.isolation", SCHEMA_CHOICE, .choices = &isolation_names,
	    .help =
	    "where tasks are worked on: in the directory itself, or each in its own git work tree" },
	    .layers = WORK, .fallback = "\"auto\"" },
	{ { "run.base", SCHEMA_TEXT, .max = 256, .rule = &rule_revision,
	    .help = "branch or commit to compare the work with" }, .layers = WORK },
	{ { "run.commit", SCHEMA_CHOICE, .choices = &commit_mode_names,
	    .help = "whether to commit the result, and how" }, .layers = KNOB, .fallback = "\"none\"",
	    .profile_field = FIELD(commit) },
	{ { "run.integrate", SCHEMA_CHOICE, .choices = &integrate_names,
	    .help = "whether to merge the commits of the work trees into one branch" }, .layers = WORK,
	    .fallback = "\"auto\"" },
	{ { "run.on_failure", SCHEMA_CHOICE, .choices = &on_failure_names,
	    .help = "whether to start another iteration after a failed task" }, .layers = WORK,
	    .fallback = "\"stop\"" },
	{ { "run.assign", SCHEMA_CHOICE, .choices = &assign_names,
	    .help = "whether the daemon or the agent picks the bead of a slot" }, .layers = WORK,
	    .fallback = "\"daemon\"" },
	{ { "run.stop_markers", SCHEMA_TEXTS, .bytes = 256, .rule = &rule_line,
	    .help = "lines with which an agent declares that no work is left" },
	    .layers = WORK, .fallback = "[\"no_beads_available\",\"no beads available\"]" },
	{ { "run.on_no_change", SCHEMA_CHOICE, .choices = &on_no_change_names,
	    .help = "what to do when an implementer changed nothing and did not declare it" },
	    .layers = WORK, .fallback = "\"review\"" },
	{ { "run.no_change_markers", SCHEMA_TEXTS, .bytes = 256, .rule = &rule_line,
	    .help = "lines with which an implementer declares that no change is needed" },
	    .layers = WORK, .fallback = "[\"no_change_needed\",\"no change needed\"]" },
	{ { "run.evidence_age", SCHEMA_DURATION, .min = 0, .max = 1000 * DAY,
	    .help = "age up to which a check that was green in another run is not run again; 0: never" },
	    .layers = WORK, .fallback = "\"24h\"" },
	{ { "run.max_cost", SCHEMA_MONEY, .min = 1, .max = 1000000000,
	    .help = "cost limit of a run in US dollars, over all attempts; unset: no limit" }, .layers = CAP },
	{ { "run.max_tokens", SCHEMA_INT, .min = 1, .max = INT64_C(1000000000000000),
	    .help = "token limit of a run, over all attempts; unset: no limit" }, .layers = CAP },
	{ { "run.strict_budget", SCHEMA_BOOL,
	    .help = "whether an attempt starts only if what it is expected to use is left" },
	    .layers = WORK, .fallback = "false" },
	{ { "run.max_wall", SCHEMA_DURATION, .min = SECOND, .max = 1000 * DAY,
	    .help = "time limit of a run, counted from its start; unset: no limit" }, .layers = CAP },
	{ { "run.on_lost", SCHEMA_CHOICE, .choices = &on_lost_names,
	    .help = "what to do with a run whose attempt was lost" }, .layers = WORK, .fallback = "\"hold\"" },
	{ { "run.retries", SCHEMA_INT, .min = 0, .max = 100,
	    .help = "maximum number of consecutive tries after temporary failures of a service" },
	    .layers = WORK, .fallback = "5" },
	{ { "run.setup", SCHEMA_TEXTS, .bytes = 64 * KIB, .rule = &rule_not_blank,
	    .help = "shell commands that set up each new work tree and room" }, .layers = WORK, .fallback = "[]" },
	{ { "run.copy", SCHEMA_TEXTS, .rule = &rule_below,
	    .help = "patterns of ignored files to copy into each new work tree and room" }, .layers = WORK,
	    .fallback = "[]" },
	{ { "run.setup_inputs", SCHEMA_TEXTS, .rule = &rule_not_blank,
	    .help = "patterns of files on which the setup depends: it runs again where they are not as on the base" },
	    .layers = WORK, .fallback = SETUP_INPUTS_DEFAULT },
	{ { "run.check_on_base", SCHEMA_CHOICE, .choices = &check_on_base_names,
	    .help = "whether the checks also run on the base, and what to do when they fail there" },
	    .layers = WORK, .fallback = "\"warn\"" },
	{ { "run.model", SCHEMA_TEXT, .max = 256,
	    .help = "model of the implementer" }, .layers = LAYER_SUBMIT },
	{ { "run.env", SCHEMA_MAP, .rule = &rule_variable,
	    .help = "variables for all agents of the run" }, .layers = LAYER_SUBMIT, .fallback = "{}" },
	{ { "run.label", SCHEMA_MAP, .rule = &rule_label, .max = 32, .bytes = 256,
	    .help = "labels of the run: names and texts to find it by" }, .layers = WORK, .fallback = "{}" },
	{ { "run.launcher", SCHEMA_TEXT, .rule = &rule_launcher,
	    .help = "launcher that places the agents; local: they run on this host" }, .layers = BOTH,
	    .fallback = "\"local\"" },
	{ { "run.report", SCHEMA_TEXT, .rule = &rule_file,
	    .help = "file for the report, written when the run ends or is held" }, .layers = LAYER_SUBMIT },

	{ { "review.enabled", SCHEMA_BOOL,
	    .help = "whether to review results" }, .layers = WORK, .fallback = "false" },
	{ { "review.profile", SCHEMA_TEXT, .rule = &rule_profile,
	    .help = "review profile" }, .layers = WORK, .fallback = "\"verdict\"" },
	{ { "review.agent", SCHEMA_TEXT, .rule = &rule_agent,
	    .help = "agent that reviews; unset: the implementer's" }, .layers = WORK },
	{ { "review.model", SCHEMA_TEXT, .max = 256,
	    .help = "model of the reviewer" }, .layers = WORK },
	{ { "review.fixer_agent", SCHEMA_TEXT, .rule = &rule_agent,
	    .help = "agent that fixes; unset: the implementer's" }, .layers = WORK },
	{ { "review.fixer_model", SCHEMA_TEXT, .max = 256,
	    .help = "model of the fixer" }, .layers = WORK },
	{ { "review.escalate", SCHEMA_TEXTS, .max = 256, .rule = &rule_not_blank,
	    .help = "models of the implementer and then of each fixer, in place of their own" },
	    .layers = WORK, .fallback = "[]" },
	{ { "review.reviewers", SCHEMA_TEXTS, .max = PANEL_MAX, .rule = &rule_agent,
	    .help = "agents that review each work together, in place of agent" }, .layers = WORK, .fallback = "[]" },
	{ { "review.quorum", SCHEMA_TEXT_OR_INT, .min = 1, .max = PANEL_MAX, .rule = &rule_quorum,
	    .help = "how many of reviewers must pass the work: all, majority, or a number" },
	    .layers = WORK, .fallback = "\"all\"" },
	{ { "review.max_fixes", SCHEMA_INT, .min = 0, .max = 100,
	    .help = "maximum number of fix rounds; 0: one review, no fix" }, .layers = KNOB,
	    .profile_field = FIELD(max_fixes) },
	{ { "review.stall_limit", SCHEMA_INT, .min = 0, .max = 100,
	    .help =
	        "number of fixes in a row without progress that end the loop; 0: no limit" },
	    .layers = KNOB, .profile_field = FIELD(stall_limit) },
	{ { "review.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "time limit of one review" }, .layers = KNOB, .profile_field = FIELD(review_timeout_ms) },
	{ { "review.on_malformed", SCHEMA_CHOICE, .choices = &on_malformed_names,
	    .help = "what to do when a review gives no evidence" }, .layers = KNOB,
	    .profile_field = FIELD(on_malformed) },
	{ { "review.on_reviewer_error", SCHEMA_CHOICE, .choices = &bad_end_names,
	    .help = "what to do when the reviewer fails" }, .layers = KNOB, .profile_field = FIELD(on_reviewer_error) },
	{ { "review.on_exhausted", SCHEMA_CHOICE, .choices = &bad_end_names,
	    .help = "what to do when findings remain after the last round" }, .layers = KNOB,
	    .profile_field = FIELD(on_exhausted) },
	{ { "review.fixer", SCHEMA_CHOICE, .choices = &fixer_names,
	    .help = "which agent fixes the findings" }, .layers = KNOB, .profile_field = FIELD(fixer) },
	{ { "review.scope", SCHEMA_CHOICE, .choices = &scope_names,
	    .help = "review each task, or the run as a whole" }, .layers = KNOB, .profile_field = FIELD(scope) },
	{ { "review.strictness", SCHEMA_CHOICE, .choices = &strictness_names,
	    .help = "how strict later reviews are" }, .layers = KNOB, .profile_field = FIELD(strictness) },
	{ { "review.checks", SCHEMA_TEXTS, .bytes = 64 * KIB, .rule = &rule_not_blank,
	    .help = "shell commands that must succeed before each review" }, .layers = KNOB, .fallback = "[]" },
	{ { "review.checks_mode", SCHEMA_CHOICE, .choices = &checks_mode_names,
	    .help = "which checks that fail count: all, or only those that are green on the base" },
	    .layers = KNOB, .fallback = "\"all\"" },
	{ { "review.review_merged", SCHEMA_CHOICE, .choices = &review_merged_names,
	    .help = "when merged work is reviewed: on_conflict, or always when the merge changed it" },
	    .layers = KNOB, .fallback = "\"on_conflict\"" },
	{ { "review.guidelines", SCHEMA_OBJECTS, .members = section_members, .rule = &rule_section,
	    .help = "file sections with the review criteria, used where the file exists" },
	    .layers = KNOB, .fallback = GUIDELINES_DEFAULT },
	{ { "review.conventions", SCHEMA_TEXTS, .rule = &rule_below,
	    .help = "files with the project's conventions, used where they exist" }, .layers = KNOB,
	    .fallback = CONVENTIONS_DEFAULT },
	{ { "review.reviewer", SCHEMA_TEXT, .rule = &rule_program,
	    .help = "reviewing program, for profiles that use its exit status" }, .layers = KNOB },
	{ { "review.env", SCHEMA_TEXTS, .rule = &rule_variable,
	    .help =
	    "submitter's variables to pass to a reviewing program, in addition to the implementer's" },
	    .layers = LAYER_FILE | LAYER_SUBMIT | LAYER_PROFILE, .fallback = "[]" },
	{ { "review.review_file", SCHEMA_TEXT, .rule = &rule_file_name,
	    .help = "name of the file that the reviewer writes" }, .layers = KNOB,
	    .profile_field = FIELD(carrier_file) },
	{ { "review.review_log", SCHEMA_TEXT, .rule = &rule_directory,
	    .help = "directory for a review log per task; empty: none" }, .layers = KNOB,
	    .profile_field = FIELD(review_log) },
	{ { "review.read_only", SCHEMA_BOOL,
	    .help = "whether to confine the reviewer so that it cannot write what it judges" },
	    .layers = GUARD, .profile_field = FIELD(read_only) },
	{ { "review.sandbox", SCHEMA_CHOICE, .choices = &sandbox_names,
	    .help = "what to do when the kernel cannot confine a read_only review" },
	    .layers = GUARD, .fallback = "\"try\"" },
	{ { "review.workspace", SCHEMA_CHOICE, .choices = &review_place_names,
	    .help = "where reviewers and checks work" }, .layers = GUARD | LAYER_SAID,
	    .profile_field = FIELD(workspace) },
	{ { "review.room", SCHEMA_CHOICE, .choices = &room_of_names,
	    .help = "whether each tree gets a clean room, or all trees of a task share one" },
	    .layers = KNOB | LAYER_LOWER,	/* a clean room is the first value */
	    .fallback = "\"clone\"" },
	{ { "review.reviewer_may_change", SCHEMA_TEXTS, .rule = &rule_not_blank,
	    .help = "patterns of files that a reviewer may change in its room" }, .layers = KNOB,
	    .fallback = MAY_CHANGE_DEFAULT },
	{ { "review.on_cut", SCHEMA_CHOICE, .choices = &on_cut_names,
	    .help = "what to do with a pass when the prompt left out a part of the diff" },
	    .layers = GUARD, .fallback = "\"warn\"" },
	{ { "review.on_question", SCHEMA_CHOICE, .choices = &on_question_names,
	    .help = "what to do when an implementer or a fixer asks a question" },
	    .layers = KNOB, .fallback = "\"ignore\"" },
	{ { "review.silence", SCHEMA_CHOICE, .choices = &silence_names,
	    .help = "what a review without issues is if its text does not end with the line that its prompt asks for" },
	    .layers = GUARD, .fallback = "\"violation\"" },
	{ { "review.protect", SCHEMA_TEXTS, .rule = &rule_pattern,
	    .help = "patterns of paths: work that touches one is held for a human" },
	    .layers = KNOB | LAYER_ADDS, .fallback = "[]" },
	{ { "review.developer_prompt", SCHEMA_TEXT, .rule = &rule_file,
	    .help = "prompt template for the implementer" }, .layers = KNOB },
	{ { "review.reviewer_prompt", SCHEMA_TEXT, .rule = &rule_file_or_none,
	    .help = "prompt template for the reviewer; none: no review" }, .layers = KNOB },
	{ { "review.skip", SCHEMA_BOOL,
	    .help = "do not review, whatever other settings say" }, .layers = LAYER_SUBMIT, .fallback = "false" },

	{ { "profile.*.extends", SCHEMA_TEXT, .rule = &rule_profile,
	    .help = "profile that supplies the values not set here" }, .layers = LAYER_FILE },

	{ { "hook.on_hold", SCHEMA_ARGV,
	    .help = "program and arguments to start when a hold is opened" },
	    .layers = LAYER_FILE, .fallback = "[]" },
	{ { "hook.on_pass", SCHEMA_ARGV,
	    .help = "program and arguments to start when a task has passed" },
	    .layers = LAYER_FILE, .fallback = "[]" },
	{ { "hook.on_end", SCHEMA_ARGV,
	    .help = "program and arguments to start when a run has ended" }, .layers = LAYER_FILE, .fallback = "[]" },

	{ { "limits.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "time limit of one attempt; applies to reviews only if set by a submit" },
	    .layers = BOTH, .fallback = "\"2h\"" },
	{ { "limits.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "time limit without progress; 0: no limit" },
	    .layers = BOTH, .fallback = "\"20m\"" },
	{ { "limits.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help =
	    "time limit without output once an agent has given its final result; 0: no limit" },
	    .layers = LAYER_FILE, .fallback = "\"30s\"" },
	{ { "limits.implement.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout for implementers only" }, .layers = LAYER_FILE },
	{ { "limits.implement.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout for implementers only" }, .layers = LAYER_FILE },
	{ { "limits.implement.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result for implementers only" }, .layers = LAYER_FILE },
	{ { "limits.check.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout for checks only" }, .layers = LAYER_FILE },
	{ { "limits.check.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout for checks only" }, .layers = LAYER_FILE },
	{ { "limits.review.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout for reviews only" }, .layers = LAYER_FILE },
	{ { "limits.review.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout for reviews only" }, .layers = LAYER_FILE },
	{ { "limits.review.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result for reviews only" }, .layers = LAYER_FILE },
	{ { "limits.fix.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout for fixers only" }, .layers = LAYER_FILE },
	{ { "limits.fix.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout for fixers only" }, .layers = LAYER_FILE },
	{ { "limits.fix.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result for fixers only" }, .layers = LAYER_FILE },
	{ { "limits.commit.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout for commit agents only" }, .layers = LAYER_FILE },
	{ { "limits.commit.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout for commit agents only" }, .layers = LAYER_FILE },
	{ { "limits.commit.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result for commit agents only" }, .layers = LAYER_FILE },
	{ { "limits.grace", SCHEMA_DURATION, .min = SECOND, .max = 3600 * SECOND,
	    .help = "time between SIGTERM and SIGKILL" }, .layers = LAYER_FILE, .fallback = "\"10s\"" },
	{ { "limits.output", SCHEMA_SIZE, .min = 64 * KIB, .max = KIB * KIB * KIB * KIB,
	    .help = "size kept of each output stream of an attempt; the middle is dropped" },
	    .layers = LAYER_FILE, .fallback = "\"64M\"" },
	{ { "limits.disk_floor", SCHEMA_SIZE, .min = 0, .max = KIB * KIB * KIB * KIB,
	    .help = "free space below which no attempt starts; 0: no check" },
	    .layers = BOTH, .fallback = "\"1G\"" },

	{ { "limits.memory", SCHEMA_SIZE, .min = 64 * KIB * KIB, .max = KIB * KIB * KIB * KIB * KIB,
	    .help = "system service: memory of one attempt with all it starts; unset: no limit" },
	    .layers = LAYER_FILE },
	{ { "limits.processes", SCHEMA_INT, .min = 16, .max = 4194304,
	    .help = "system service: processes and threads of one attempt; unset: no limit" },
	    .layers = LAYER_FILE },

	{ { "keep.age", SCHEMA_DURATION, .min = SECOND, .max = 36500 * DAY,
	    .help = "age at which prune removes what is kept of a run that succeeded" },
	    .layers = LAYER_FILE, .fallback = "\"90d\"" },
	{ { "keep.failures", SCHEMA_DURATION, .min = SECOND, .max = 36500 * DAY,
	    .help = "the same of a run that failed or was cancelled" },
	    .layers = LAYER_FILE, .fallback = "\"180d\"" },
	{ { "keep.number", SCHEMA_INT, .min = 1, .max = 1000000000,
	    .help = "number of ended runs that prune keeps, the newest ones; unset: no limit" },
	    .layers = LAYER_FILE },
	{ { "keep.size", SCHEMA_SIZE, .min = 1, .max = KIB * KIB * KIB * KIB * KIB,
	    .help = "bytes that prune keeps of all runs; the oldest go first; unset: no limit" },
	    .layers = LAYER_FILE },
	{ { "keep.automatic", SCHEMA_BOOL, .help = "whether the daemon prunes once a day" },
	    .layers = LAYER_FILE, .fallback = "false" },

	{ { "group.*.slots", SCHEMA_INT, .min = 1, .max = 1000,
	    .help = "maximum number of attempts at a time, over all runs of the group" }, .layers = LAYER_FILE },

	{ { "account.*.cooldown_max", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "longest time that a notice of a service puts an account on cooldown" },
	    .layers = LAYER_FILE, .fallback = "\"24h\"" },
	{ { "account.*.budget_day_usd", SCHEMA_MONEY, .max = 1000000000,
	    .help = "cost limit of an account per UTC day, in US dollars; unset: no limit" }, .layers = LAYER_FILE },
	{ { "account.*.budget_day_tokens", SCHEMA_INT, .min = 1, .max = INT64_C(1000000000000000),
	    .help = "token limit of an account per UTC day; unset: no limit" }, .layers = LAYER_FILE },
	{ { "account.*.budget_day_wall", SCHEMA_DURATION, .min = SECOND, .max = 1000 * DAY,
	    .help = "limit of an account's total attempt time per UTC day; unset: no limit" },
	    .layers = LAYER_FILE },

	{ { "launcher.*.preset", SCHEMA_CHOICE, .choices = &launcher_preset_names,
	    .help = "launcher that rld knows, of which this is another one; unset: that of its name" },
	    .layers = LAYER_FILE },
	{ { "launcher.*.command", SCHEMA_ARGV, .min = 1,
	    .help = "words before the command of an agent; {run}, {attempt}, {uuid}, {workdir}, {node}, {start} "
	    "and {end} are replaced, and {options}" },
	    .layers = LAYER_FILE },
	{ { "launcher.*.options", SCHEMA_ARGV,
	    .help = "words to add to command, such as those for memory and processors" },
	    .layers = LAYER_FILE, .fallback = "[]" },
	{ { "launcher.*.cancel", SCHEMA_ARGV, .min = 1,
	    .help = "command that ends what was placed, and waits until nothing is left" },
	    .layers = LAYER_FILE },
	{ { "launcher.*.slots", SCHEMA_INT, .min = 1, .max = 1000,
	    .help = "maximum number of attempts at a time behind the launcher; unset: no limit" },
	    .layers = LAYER_FILE },

	{ { "launcher.*.hosts", SCHEMA_OBJECTS, .max = 1000, .members = host_members, .rule = &rule_hosts,
	    .help = "machines of which one takes the place of {node}, and how many attempts each has at a time" },
	    .layers = LAYER_FILE, .fallback = "[]" },

	{ { "launcher.*.files", SCHEMA_CHOICE, .choices = &launcher_files_names,
	    .help = "\"shared\": its machines see work tree and state directory under the same paths; \"copied\": "
	    "rsync takes them there, and the work back" },
	    .layers = LAYER_FILE, .fallback = "\"shared\"" },

	{ { "access.read", SCHEMA_TEXTS, .rule = &rule_user,
	    .help = "users and @groups that may see all runs" }, .layers = LAYER_FILE, .fallback = "[]" },
	{ { "access.submit", SCHEMA_TEXTS, .rule = &rule_user,
	    .help = "users and @groups that may also submit runs, and change their own; unset: @rld of the "
	    "system service, otherwise none" }, .layers = LAYER_FILE },
	{ { "access.admin", SCHEMA_TEXTS, .rule = &rule_user,
	    .help = "users and @groups that may do everything, as root and the daemon's user may" },
	    .layers = LAYER_FILE, .fallback = "[]" },
};
const size_t settings_count = sizeof(settings) / sizeof(settings[0]);

/* Length of the part of path that pattern covers ("*": one segment), 0: none. Ends at a "." or the
 * end. */
static size_t cover(const char *pattern, const char *path)
{
	const char *p = path;

	while (*pattern != '\0') {
		if (*pattern == '*') {
			size_t n = strcspn(p, ".");

			if (n == 0)
				return 0;
			p += n;
			pattern++;
		} else if (*pattern++ != *p++) {
			return 0;
		}
	}
	return *p == '\0' || *p == '.' ? (size_t)(p - path) : 0;
}

const char *setting_key(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot == NULL ? path : dot + 1;
}

/* The row that "profile.NAME.KEY" fills for runs with that profile; NULL: no such KEY. */
static const struct setting *find_knob(const char *path)
{
	size_t n = cover("profile.*", path);

	for (size_t i = 0; i < settings_count && n > 0 && path[n] == '.'; i++) {
		if ((settings[i].layers & LAYER_PROFILE) && strcmp(setting_key(settings[i].is.name), path + n + 1) == 0)
			return &settings[i];
	}
	return NULL;
}

const struct setting *setting_find(const char *path, const char **rest)
{
	if (rest != NULL)
		*rest = NULL;
	for (size_t i = 0; i < settings_count; i++) {
		size_t n = cover(settings[i].is.name, path);

		if (n == 0 || (path[n] != '\0' && settings[i].is.kind != SCHEMA_MAP))
			continue;
		if (rest != NULL && path[n] != '\0')
			*rest = path + n + 1;
		return &settings[i];
	}
	return find_knob(path);
}

const struct setting *setting_of_file(const char *path, enum setting_layer layer, const char **rest)
{
	const struct setting *setting = setting_find(path, rest);

	return setting != NULL && (setting->layers & layer) ? setting : NULL;
}

bool setting_is_table(const char *path, enum setting_layer layer)
{
	const struct setting *setting = setting_find(path, NULL);

	if (setting != NULL)
		return setting->is.kind == SCHEMA_MAP && (setting->layers & layer) &&
		    cover(setting->is.name, path) == strlen(path);
	for (size_t i = 0; i < settings_count; i++) {
		char *head = xstrdup(settings[i].is.name);
		char *dot;
		bool found = false;

		while (!found && (settings[i].layers & layer) && (dot = strrchr(head, '.')) != NULL) {
			*dot = '\0';
			found = cover(head, path) == strlen(path);
		}
		free(head);
		if (found)
			return true;
	}
	return false;
}

/* pattern with its "*" replaced by the second segment of path; NULL if path has none, or a quoted
 * one. */
static char *spelled(const char *pattern, const char *path)
{
	const char *star = strchr(pattern, '*'), *name = strchr(path, '.');

	if (star == NULL)
		return xstrdup(pattern);
	if (name == NULL || name[1] == '"' || strchr(name + 1, '.') == NULL)
		return NULL;
	return xasprintf("%.*s%.*s%s", (int)(star - pattern), pattern, (int)strcspn(name + 1, "."), name + 1, star + 1);
}

/* Keep the better guess: guess (takes ownership), or *near with distance *best. */
static void weigh(const char *path, char *guess, bool named, size_t limit, char **near, size_t *best)
{
	size_t d = guess == NULL ? limit + 1 : near_distance(path, guess, limit);

	if (guess != NULL && d > limit && named)
		d = limit;
	if (d >= *best) {
		free(guess);
		return;
	}
	*best = d;
	free(*near);
	*near = guess;
}

char *setting_near(const char *path, enum setting_layer layer)
{
	size_t limit = near_limit(path), best = limit + 1, profile = cover("profile.*", path);
	/* but not as a key of the file: suggesting its namesake would mislead */
	bool known = setting_find(path, NULL) != NULL;
	char *near = NULL;

	for (size_t i = 0; i < settings_count; i++) {
		const char *key = setting_key(settings[i].is.name);

		if (!(settings[i].layers & layer))
			continue;
		/* the right key in the wrong table, or in none */
		weigh(path, spelled(settings[i].is.name, path), !known &&
		    key != settings[i].is.name && strchr(settings[i].is.name, '*') == NULL &&
		    strcmp(key, setting_key(path)) == 0, limit, &near, &best);
		if (profile > 0 && layer == LAYER_FILE && (settings[i].layers & LAYER_PROFILE))
			weigh(path, xasprintf("%.*s.%s", (int)profile, path, key), false, limit, &near, &best);
	}
	return near;
}
