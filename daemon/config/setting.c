/* SPDX-License-Identifier: MIT */
#include "config/setting.h"

#include <stdlib.h>
#include <string.h>

#include "core/plan_json.h"
#include "proto/memory.h"
#include "config/setting_rules.h"
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

static const struct schema section_members[] = {
	{ "file", SCHEMA_TEXT, .required = true, .min = 1, .rule = &rule_below },
	{ "section", SCHEMA_TEXT, .required = true, .min = 1 },
	{ .name = NULL },
};

static const struct schema_rule rule_section = {
	"a table { file = \"...\", section = \"...\" }", "tables { file = \"...\", section = \"...\" }", NULL,
};

const struct setting settings[] = {
	{ { "parallel", SCHEMA_INT, .min = 1, .max = 64,
	    .help = "attempts that may run at one time, over all runs" }, .layers = LAYER_FILE, .fallback = "4" },
	{ { "default_agent", SCHEMA_TEXT, .rule = &rule_agent,
	    .help = "agent of runs that name none" }, .layers = BOTH, .fallback = "\"claude\"" },

	{ { "agent.*.command", SCHEMA_ARGV, .min = 1,
	    .help = "program and arguments; {model}, {prompt_file} and {session} are filled in" },
	    .layers = LAYER_FILE },
	{ { "agent.*.review", SCHEMA_ARGV,
	    .help = "the same for a reviewer that need not write a file; none: "
	    "it is started like everybody else" }, .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.prompt", SCHEMA_CHOICE, .choices = &prompt_via_names,
	    .help = "how the prompt reaches the program" }, .layers = LAYER_FILE, .fallback = "\"stdin\"" },
	{ { "agent.*.reader", SCHEMA_CHOICE, .choices = &reader_names,
	    .help = "how the program's output is read" }, .layers = LAYER_FILE, .fallback = "\"text\"" },
	{ { "agent.*.model", SCHEMA_TEXT, .max = 256,
	    .help = "model, where a role names none; empty: the program's own default" },
	    .layers = LAYER_FILE, .fallback = "\"\"" },
	{ { "agent.*.env", SCHEMA_TEXTS, .rule = &rule_variable,
	    .help = "variables that pass from the submitter's environment, beside PATH, HOME, "
	    "LANG and the like" }, .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.set", SCHEMA_MAP, .rule = &rule_variable,
	    .help = "variables with fixed values, added to those of a preset" },
	    .layers = LAYER_FILE, .fallback = "{}" },
	{ { "agent.*.resume", SCHEMA_ARGV,
	    .help = "words behind the command when a conversation goes on, {session} among them; "
	    "none: it cannot" }, .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.writable", SCHEMA_TEXTS, .rule = &rule_path,
	    .help = "files and folders of the program's own state, which a confined reviewer may write" },
	    .layers = LAYER_FILE, .fallback = "[]" },
	{ { "agent.*.account", SCHEMA_TEXT, .rule = &rule_account,
	    .help = "who pays: all agents of an account wait while it is exhausted; unset: "
	    "named like the agent" }, .layers = LAYER_FILE },
	{ { "agent.*.fallback", SCHEMA_TEXTS, .rule = &rule_agent,
	    .help = "agents that take over while its account is exhausted, the first that can" },
	    .layers = LAYER_FILE, .fallback = "[]" },

	{ { "run.iterations", SCHEMA_INT, .min = 1, .max = 1000000,
	    .help = "passes over the slots at most; unset: until no task remains" }, .layers = WORK },
	{ { "run.parallel", SCHEMA_INT, .min = 1, .max = 64,
	    .help = "slots of one iteration, each with a task of its own" }, .layers = WORK, .fallback = "1" },
	{ { "run.pause_ms", SCHEMA_INT, .min = 0, .max = 30 * DAY,
	    .help = "milliseconds between two iterations" }, .layers = WORK, .fallback = "0" },
	{ { "run.isolation", SCHEMA_CHOICE, .choices = &isolation_names,
	    .help = "where tasks are worked on: in the directory itself, "
	    "or each in a git work tree of its own" }, .layers = WORK, .fallback = "\"auto\"" },
	{ { "run.base", SCHEMA_TEXT, .max = 256, .rule = &rule_revision,
	    .help = "branch or commit that the work is compared with" }, .layers = WORK },
	{ { "run.commit", SCHEMA_CHOICE, .choices = &commit_mode_names,
	    .help = "whether what changed is committed" }, .layers = KNOB, .fallback = "\"none\"",
	    .profile_field = FIELD(commit) },
	{ { "run.integrate", SCHEMA_CHOICE, .choices = &integrate_names,
	    .help = "whether the commits of work trees are put on one branch" }, .layers = WORK,
	    .fallback = "\"auto\"" },
	{ { "run.on_failure", SCHEMA_CHOICE, .choices = &on_failure_names,
	    .help = "whether there is a next iteration when a task has failed" }, .layers = WORK,
	    .fallback = "\"stop\"" },
	{ { "run.assign", SCHEMA_CHOICE, .choices = &assign_names,
	    .help = "who chooses the bead of a slot" }, .layers = WORK, .fallback = "\"daemon\"" },
	{ { "run.stop_markers", SCHEMA_TEXTS, .bytes = 256, .rule = &rule_line,
	    .help = "lines by which an agent says that there is nothing left to do" },
	    .layers = WORK, .fallback = "[\"no_beads_available\",\"no beads available\"]" },
	{ { "run.on_no_change", SCHEMA_CHOICE, .choices = &on_no_change_names,
	    .help = "what becomes of an implementer that changed nothing and did not say so" },
	    .layers = WORK, .fallback = "\"review\"" },
	{ { "run.no_change_markers", SCHEMA_TEXTS, .bytes = 256, .rule = &rule_line,
	    .help = "lines by which an implementer says that nothing is to be changed" },
	    .layers = WORK, .fallback = "[\"no_change_needed\",\"no change needed\"]" },
	{ { "run.max_cost", SCHEMA_MONEY, .min = 1, .max = 1000000000,
	    .help = "US dollars that all attempts of a run may cost; unset: no limit" }, .layers = CAP },
	{ { "run.max_tokens", SCHEMA_INT, .min = 1, .max = INT64_C(1000000000000000),
	    .help = "tokens that all attempts of a run may use; unset: no limit" }, .layers = CAP },
	{ { "run.max_wall", SCHEMA_DURATION, .min = SECOND, .max = 1000 * DAY,
	    .help = "time from the start of a run after which it ends; unset: no limit" }, .layers = CAP },
	{ { "run.on_lost", SCHEMA_CHOICE, .choices = &on_lost_names,
	    .help = "what becomes of a run whose attempt was lost" }, .layers = WORK, .fallback = "\"hold\"" },
	{ { "run.retries", SCHEMA_INT, .min = 0, .max = 100,
	    .help = "tries in a row at most after failures of a service that pass by themselves" },
	    .layers = WORK, .fallback = "5" },
	{ { "run.model", SCHEMA_TEXT, .max = 256,
	    .help = "model of the implementer" }, .layers = LAYER_SUBMIT },
	{ { "run.env", SCHEMA_MAP, .rule = &rule_variable,
	    .help = "variables for all agents of the run" }, .layers = LAYER_SUBMIT, .fallback = "{}" },
	{ { "run.report", SCHEMA_TEXT, .rule = &rule_file,
	    .help = "file that gets the report when the run ends or is held" }, .layers = LAYER_SUBMIT },

	{ { "review.enabled", SCHEMA_BOOL,
	    .help = "have results reviewed" }, .layers = WORK, .fallback = "false" },
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
	{ { "review.max_fixes", SCHEMA_INT, .min = 0, .max = 100,
	    .help = "fix rounds at most; 0: one review, no fix" }, .layers = KNOB, .profile_field = FIELD(max_fixes) },
	{ { "review.stall_limit", SCHEMA_INT, .min = 0, .max = 100,
	    .help = "rounds without progress in a row that end the loop; 0: never" },
	    .layers = KNOB, .profile_field = FIELD(stall_limit) },
	{ { "review.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "wall time of one review" }, .layers = KNOB, .profile_field = FIELD(review_timeout_ms) },
	{ { "review.on_malformed", SCHEMA_CHOICE, .choices = &bad_end_names,
	    .help = "when a review gives no evidence" }, .layers = KNOB, .profile_field = FIELD(on_malformed) },
	{ { "review.on_reviewer_error", SCHEMA_CHOICE, .choices = &bad_end_names,
	    .help = "when the reviewer fails" }, .layers = KNOB, .profile_field = FIELD(on_reviewer_error) },
	{ { "review.on_exhausted", SCHEMA_CHOICE, .choices = &bad_end_names,
	    .help = "when findings stay after the last round" }, .layers = KNOB, .profile_field = FIELD(on_exhausted) },
	{ { "review.fixer", SCHEMA_CHOICE, .choices = &fixer_names,
	    .help = "who settles the findings" }, .layers = KNOB, .profile_field = FIELD(fixer) },
	{ { "review.scope", SCHEMA_CHOICE, .choices = &scope_names,
	    .help = "review each task, or the run as a whole" }, .layers = KNOB, .profile_field = FIELD(scope) },
	{ { "review.strictness", SCHEMA_CHOICE, .choices = &strictness_names,
	    .help = "how strict later reviews are" }, .layers = KNOB, .profile_field = FIELD(strictness) },
	{ { "review.checks", SCHEMA_TEXTS, .bytes = 64 * KIB, .rule = &rule_not_blank,
	    .help = "shell commands that must succeed before each review" }, .layers = KNOB, .fallback = "[]" },
	{ { "review.guidelines", SCHEMA_OBJECTS, .members = section_members, .rule = &rule_section,
	    .help = "sections of files that say how work is judged, where the file exists" },
	    .layers = KNOB, .fallback = GUIDELINES_DEFAULT },
	{ { "review.conventions", SCHEMA_TEXTS, .rule = &rule_below,
	    .help = "files with the conventions of the project, where they exist" }, .layers = KNOB,
	    .fallback = CONVENTIONS_DEFAULT },
	{ { "review.reviewer", SCHEMA_TEXT, .rule = &rule_program,
	    .help = "program that reviews, in a profile that goes by its exit status" }, .layers = KNOB },
	{ { "review.env", SCHEMA_TEXTS, .rule = &rule_variable,
	    .help = "variables of the submitter that a program that reviews is given, beside those of the "
	    "implementer" }, .layers = LAYER_FILE | LAYER_SUBMIT | LAYER_PROFILE, .fallback = "[]" },
	{ { "review.review_file", SCHEMA_TEXT, .rule = &rule_file_name,
	    .help = "name of the file in which the reviewer says what it found" }, .layers = KNOB,
	    .profile_field = FIELD(carrier_file) },
	{ { "review.review_log", SCHEMA_TEXT, .rule = &rule_directory,
	    .help = "directory for a log of each task's reviews; empty: none" }, .layers = KNOB,
	    .profile_field = FIELD(review_log) },
	{ { "review.read_only", SCHEMA_BOOL,
	    .help = "confine the reviewer, so that it cannot write what it judges" },
	    .layers = GUARD, .profile_field = FIELD(read_only) },
	{ { "review.sandbox", SCHEMA_CHOICE, .choices = &sandbox_names,
	    .help = "what a read_only review does when the kernel cannot confine it" },
	    .layers = GUARD, .fallback = "\"try\"" },
	{ { "review.workspace", SCHEMA_CHOICE, .choices = &review_place_names,
	    .help = "where the reviewer works" }, .layers = GUARD, .fallback = "\"same\"" },
	{ { "review.developer_prompt", SCHEMA_TEXT, .rule = &rule_file,
	    .help = "template of the implementer's prompt" }, .layers = KNOB },
	{ { "review.reviewer_prompt", SCHEMA_TEXT, .rule = &rule_file_or_none,
	    .help = "template of the reviewer's prompt; none: no review" }, .layers = KNOB },
	{ { "review.skip", SCHEMA_BOOL,
	    .help = "no review, whatever else is set" }, .layers = LAYER_SUBMIT, .fallback = "false" },

	{ { "profile.*.extends", SCHEMA_TEXT, .rule = &rule_profile,
	    .help = "profile whose values hold where this one says nothing" }, .layers = LAYER_FILE },

	{ { "hook.on_hold", SCHEMA_ARGV,
	    .help = "program and arguments, started when a hold has been opened" },
	    .layers = LAYER_FILE, .fallback = "[]" },
	{ { "hook.on_end", SCHEMA_ARGV,
	    .help = "program and arguments, started when a run has ended" }, .layers = LAYER_FILE, .fallback = "[]" },

	{ { "limits.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "wall time of one attempt; of a review only when a submit sets it" },
	    .layers = BOTH, .fallback = "\"2h\"" },
	{ { "limits.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "time without progress after which an attempt is ended; 0: never" },
	    .layers = BOTH, .fallback = "\"20m\"" },
	{ { "limits.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "time without output after which an agent that has given its final result is "
	    "ended; 0: never" }, .layers = LAYER_FILE, .fallback = "\"30s\"" },
	{ { "limits.implement.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of implementers alone" }, .layers = LAYER_FILE },
	{ { "limits.implement.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of implementers alone" }, .layers = LAYER_FILE },
	{ { "limits.implement.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result of implementers alone" }, .layers = LAYER_FILE },
	{ { "limits.check.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of checks alone" }, .layers = LAYER_FILE },
	{ { "limits.check.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of checks alone" }, .layers = LAYER_FILE },
	{ { "limits.review.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of reviews alone" }, .layers = LAYER_FILE },
	{ { "limits.review.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of reviews alone" }, .layers = LAYER_FILE },
	{ { "limits.review.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result of reviews alone" }, .layers = LAYER_FILE },
	{ { "limits.fix.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of fixers alone" }, .layers = LAYER_FILE },
	{ { "limits.fix.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of fixers alone" }, .layers = LAYER_FILE },
	{ { "limits.fix.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result of fixers alone" }, .layers = LAYER_FILE },
	{ { "limits.commit.timeout", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of commit agents alone" }, .layers = LAYER_FILE },
	{ { "limits.commit.idle_timeout", SCHEMA_DURATION, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of commit agents alone" }, .layers = LAYER_FILE },
	{ { "limits.commit.post_result", SCHEMA_DURATION, .min = 0, .max = DAY,
	    .help = "limits.post_result of commit agents alone" }, .layers = LAYER_FILE },
	{ { "limits.grace", SCHEMA_DURATION, .min = SECOND, .max = 3600 * SECOND,
	    .help = "time between SIGTERM and SIGKILL" }, .layers = LAYER_FILE, .fallback = "\"10s\"" },
	{ { "limits.output", SCHEMA_SIZE, .min = 64 * KIB, .max = KIB * KIB * KIB * KIB,
	    .help = "kept of each output stream of an attempt; the middle is dropped" },
	    .layers = LAYER_FILE, .fallback = "\"64M\"" },
	{ { "limits.disk_floor", SCHEMA_SIZE, .min = 0, .max = KIB * KIB * KIB * KIB,
	    .help = "no attempt starts while less space is free; 0: never mind" },
	    .layers = LAYER_FILE, .fallback = "\"1G\"" },

	{ { "group.*.slots", SCHEMA_INT, .min = 1, .max = 1000,
	    .help = "attempts of all runs of the group that may run at one time" }, .layers = LAYER_FILE },

	{ { "account.*.cooldown_max", SCHEMA_DURATION, .min = SECOND, .max = 30 * DAY,
	    .help = "time at most that a notice of its service stops an account" },
	    .layers = LAYER_FILE, .fallback = "\"24h\"" },
	{ { "account.*.budget_day_usd", SCHEMA_MONEY, .max = 1000000000,
	    .help = "US dollars that an account may pay on a day of UTC; unset: no limit" }, .layers = LAYER_FILE },
	{ { "account.*.budget_day_tokens", SCHEMA_INT, .min = 1, .max = INT64_C(1000000000000000),
	    .help = "tokens that an account may use on a day of UTC; unset: no limit" }, .layers = LAYER_FILE },
	{ { "account.*.budget_day_wall", SCHEMA_DURATION, .min = SECOND, .max = 1000 * DAY,
	    .help = "wall time of all attempts of an account on a day of UTC; unset: no limit" },
	    .layers = LAYER_FILE },
};
const size_t settings_count = sizeof(settings) / sizeof(settings[0]);

/* Length of the stretch of path that pattern covers ("*": one segment), 0 when it does not. Ends at
 * a "." or the end. */
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

/* The row that "profile.NAME.KEY" fills for those who choose that profile; NULL: there is
 * none of that KEY. */
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

/* Letters to change, add or take away to make b out of a; more than limit counts as limit + 1. */
static size_t distance(const char *a, const char *b, size_t limit)
{
	size_t la = strlen(a), lb = strlen(b), row[128];

	if (la >= 128 || lb >= 128 || (la > lb ? la - lb : lb - la) > limit)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < change)
				change = row[j] + 1;
			if (row[j - 1] + 1 < change)
				change = row[j - 1] + 1;
			row[j] = change;
		}
	}
	return row[lb] < limit ? row[lb] : row[lb] == limit ? limit : limit + 1;
}

/* pattern with its "*" replaced by the second segment of path; NULL when path has none,
 * or a quoted one. */
static char *spelled(const char *pattern, const char *path)
{
	const char *star = strchr(pattern, '*'), *name = strchr(path, '.');

	if (star == NULL)
		return xstrdup(pattern);
	if (name == NULL || name[1] == '"' || strchr(name + 1, '.') == NULL)
		return NULL;
	return xasprintf("%.*s%.*s%s", (int)(star - pattern), pattern, (int)strcspn(name + 1, "."), name + 1, star + 1);
}

/* The better of two guesses: guess, which is taken, or *near, whose distance is *best. */
static void weigh(const char *path, char *guess, bool named, size_t limit, char **near, size_t *best)
{
	size_t d = guess == NULL ? limit + 1 : distance(path, guess, limit);

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
	size_t limit = strlen(path) < 6 ? 1 : 2, best = limit + 1, profile = cover("profile.*", path);
	/* but not as a key of the file: its namesake would mislead */
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
