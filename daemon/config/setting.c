/* SPDX-License-Identifier: MIT */
#include "config/setting.h"

#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/profile.h"
#include "proto/memory.h"

#define SECOND INT64_C(1000)
#define DAY (INT64_C(86400) * SECOND)
#define KIB INT64_C(1024)
#define BOTH (LAYER_FILE | LAYER_SUBMIT)
#define WORK (BOTH | LAYER_PROJECT)
#define KNOB (WORK | LAYER_PROFILE)
#define GUARD (KNOB | LAYER_STRICTER)
#define CAP (WORK | LAYER_LOWER)
#define FIELD(name) offsetof(struct profile, name)

const struct setting settings[] = {
	{ "parallel", SETTING_INT, LAYER_FILE, .min = 1, .max = 64, .fallback = "4",
	    .help = "attempts that may run at one time, over all runs" },
	{ "default_agent", SETTING_AGENT, BOTH, .fallback = "\"claude\"",
	    .help = "agent of runs that name none" },

	{ "agent.*.command", SETTING_ARGV, LAYER_FILE, .min = 1,
	    .help = "program and arguments; {model}, {prompt_file} and {session} are filled in" },
	{ "agent.*.review", SETTING_ARGV, LAYER_FILE, .fallback = "[]",
	    .help = "the same for a reviewer that need not write a file; none: it is started like everybody else" },
	{ "agent.*.prompt", SETTING_CHOICE, LAYER_FILE, .choices = &prompt_via_names, .fallback = "\"stdin\"",
	    .help = "how the prompt reaches the program" },
	{ "agent.*.reader", SETTING_CHOICE, LAYER_FILE, .choices = &reader_names, .fallback = "\"text\"",
	    .help = "how the program's output is read" },
	{ "agent.*.model", SETTING_TEXT, LAYER_FILE, .max = 256, .fallback = "\"\"",
	    .help = "model, where a role names none; empty: the program's own default" },
	{ "agent.*.env", SETTING_NAMES, LAYER_FILE, .fallback = "[]",
	    .help = "variables that pass from the submitter's environment, beside PATH, HOME, LANG and the like" },
	{ "agent.*.set", SETTING_MAP, LAYER_FILE, .fallback = "{}",
	    .help = "variables with fixed values, added to those of a preset" },
	{ "agent.*.resume", SETTING_ARGV, LAYER_FILE, .fallback = "[]",
	    .help = "words behind the command when a conversation goes on, {session} among them; none: it cannot" },
	{ "agent.*.writable", SETTING_PATHS, LAYER_FILE, .fallback = "[]",
	    .help = "files and folders of the program's own state, which a confined reviewer may write" },
	{ "agent.*.account", SETTING_ACCOUNT, LAYER_FILE,
	    .help = "who pays: all agents of an account wait while it is exhausted; unset: named like the agent" },
	{ "agent.*.fallback", SETTING_AGENTS, LAYER_FILE, .fallback = "[]",
	    .help = "agents that take over while its account is exhausted, the first that can" },

	{ "run.iterations", SETTING_INT, WORK, .min = 1, .max = 1000000,
	    .help = "passes over the slots at most; unset: until no task remains" },
	{ "run.parallel", SETTING_INT, WORK, .min = 1, .max = 64, .fallback = "1",
	    .help = "slots of one iteration, each with a task of its own" },
	{ "run.pause_ms", SETTING_INT, WORK, .min = 0, .max = 30 * DAY, .fallback = "0",
	    .help = "milliseconds between two iterations" },
	{ "run.isolation", SETTING_CHOICE, WORK, .choices = &isolation_names, .fallback = "\"auto\"",
	    .help = "where tasks are worked on: in the directory itself, or each in a git work tree of its own" },
	{ "run.base", SETTING_REVISION, WORK, .max = 256,
	    .help = "branch or commit that the work is compared with" },
	{ "run.commit", SETTING_CHOICE, KNOB, .choices = &commit_mode_names, .fallback = "\"none\"", .profile_field = FIELD(commit),
	    .help = "whether what changed is committed" },
	{ "run.integrate", SETTING_CHOICE, WORK, .choices = &integrate_names, .fallback = "\"auto\"",
	    .help = "whether the commits of work trees are put on one branch" },
	{ "run.on_failure", SETTING_CHOICE, WORK, .choices = &on_failure_names, .fallback = "\"stop\"",
	    .help = "whether there is a next iteration when a task has failed" },
	{ "run.assign", SETTING_CHOICE, WORK, .choices = &assign_names, .fallback = "\"daemon\"",
	    .help = "who chooses the bead of a slot" },
	{ "run.stop_markers", SETTING_LINES, WORK, .max = 256, .fallback = "[\"no_beads_available\",\"no beads available\"]",
	    .help = "lines by which an agent says that there is nothing left to do" },
	{ "run.on_no_change", SETTING_CHOICE, WORK, .choices = &on_no_change_names, .fallback = "\"review\"",
	    .help = "what becomes of an implementer that changed nothing and did not say so" },
	{ "run.no_change_markers", SETTING_LINES, WORK, .max = 256, .fallback = "[\"no_change_needed\",\"no change needed\"]",
	    .help = "lines by which an implementer says that nothing is to be changed" },
	{ "run.max_cost", SETTING_MONEY, CAP, .min = 1, .max = 1000000000,
	    .help = "US dollars that all attempts of a run may cost; unset: no limit" },
	{ "run.max_tokens", SETTING_INT, CAP, .min = 1, .max = INT64_C(1000000000000000),
	    .help = "tokens that all attempts of a run may use; unset: no limit" },
	{ "run.max_wall", SETTING_DURATION, CAP, .min = SECOND, .max = 1000 * DAY,
	    .help = "time from the start of a run after which it ends; unset: no limit" },
	{ "run.on_lost", SETTING_CHOICE, WORK, .choices = &on_lost_names, .fallback = "\"hold\"",
	    .help = "what becomes of a run whose attempt was lost" },
	{ "run.retries", SETTING_INT, WORK, .min = 0, .max = 100, .fallback = "5",
	    .help = "tries in a row at most after failures of a service that pass by themselves" },
	{ "run.model", SETTING_TEXT, LAYER_SUBMIT, .max = 256,
	    .help = "model of the implementer" },
	{ "run.env", SETTING_MAP, LAYER_SUBMIT, .fallback = "{}",
	    .help = "variables for all agents of the run" },
	{ "run.report", SETTING_FILE, LAYER_SUBMIT,
	    .help = "file that gets the report when the run ends or is held" },

	{ "review.enabled", SETTING_BOOL, WORK, .fallback = "false",
	    .help = "have results reviewed" },
	{ "review.profile", SETTING_PROFILE, WORK, .fallback = "\"verdict\"",
	    .help = "review profile" },
	{ "review.agent", SETTING_AGENT, WORK,
	    .help = "agent that reviews; unset: the implementer's" },
	{ "review.model", SETTING_TEXT, WORK, .max = 256,
	    .help = "model of the reviewer" },
	{ "review.fixer_agent", SETTING_AGENT, WORK,
	    .help = "agent that fixes; unset: the implementer's" },
	{ "review.fixer_model", SETTING_TEXT, WORK, .max = 256,
	    .help = "model of the fixer" },
	{ "review.max_fixes", SETTING_INT, KNOB, .min = 0, .max = 100, .profile_field = FIELD(max_fixes),
	    .help = "fix rounds at most; 0: one review, no fix" },
	{ "review.stall_limit", SETTING_INT, KNOB, .min = 0, .max = 100, .profile_field = FIELD(stall_limit),
	    .help = "rounds without progress in a row that end the loop; 0: never" },
	{ "review.timeout", SETTING_DURATION, KNOB, .min = SECOND, .max = 30 * DAY, .profile_field = FIELD(review_timeout_ms),
	    .help = "wall time of one review" },
	{ "review.on_malformed", SETTING_CHOICE, KNOB, .choices = &bad_end_names, .profile_field = FIELD(on_malformed),
	    .help = "when a review gives no evidence" },
	{ "review.on_reviewer_error", SETTING_CHOICE, KNOB, .choices = &bad_end_names, .profile_field = FIELD(on_reviewer_error),
	    .help = "when the reviewer fails" },
	{ "review.on_exhausted", SETTING_CHOICE, KNOB, .choices = &bad_end_names, .profile_field = FIELD(on_exhausted),
	    .help = "when findings stay after the last round" },
	{ "review.fixer", SETTING_CHOICE, KNOB, .choices = &fixer_names, .profile_field = FIELD(fixer),
	    .help = "who settles the findings" },
	{ "review.scope", SETTING_CHOICE, KNOB, .choices = &scope_names, .profile_field = FIELD(scope),
	    .help = "review each task, or the run as a whole" },
	{ "review.strictness", SETTING_CHOICE, KNOB, .choices = &strictness_names, .profile_field = FIELD(strictness),
	    .help = "how strict later reviews are" },
	{ "review.checks", SETTING_TEXTS, KNOB, .max = 64 * KIB, .fallback = "[]",
	    .help = "shell commands that must succeed before each review" },
	{ "review.guidelines", SETTING_SECTIONS, KNOB, .fallback = "[{\"file\":\"constitution.md\",\"section\":\"Standards\"}]",
	    .help = "sections of files that say how work is judged, where the file exists" },
	{ "review.conventions", SETTING_FILES, KNOB, .fallback = "[\"CLAUDE.md\",\"AGENTS.md\"]",
	    .help = "files with the conventions of the project, where they exist" },
	{ "review.reviewer", SETTING_PROGRAM, KNOB,
	    .help = "program that reviews, in a profile that goes by its exit status" },
	{ "review.env", SETTING_NAMES, LAYER_FILE | LAYER_SUBMIT | LAYER_PROFILE, .fallback = "[]",
	    .help = "variables of the submitter that a program that reviews is given, beside those of the implementer" },
	{ "review.review_file", SETTING_FILE_NAME, KNOB, .profile_field = FIELD(carrier_file),
	    .help = "name of the file in which the reviewer says what it found" },
	{ "review.review_log", SETTING_DIRECTORY, KNOB, .profile_field = FIELD(review_log),
	    .help = "directory for a log of each task's reviews; empty: none" },
	{ "review.read_only", SETTING_BOOL, GUARD, .profile_field = FIELD(read_only),
	    .help = "confine the reviewer, so that it cannot write what it judges" },
	{ "review.sandbox", SETTING_CHOICE, GUARD, .choices = &sandbox_names, .fallback = "\"try\"",
	    .help = "what a read_only review does when the kernel cannot confine it" },
	{ "review.workspace", SETTING_CHOICE, GUARD, .choices = &review_place_names, .fallback = "\"same\"",
	    .help = "where the reviewer works" },
	{ "review.developer_prompt", SETTING_FILE, KNOB,
	    .help = "template of the implementer's prompt" },
	{ "review.reviewer_prompt", SETTING_FILE_OR_NONE, KNOB,
	    .help = "template of the reviewer's prompt; none: no review" },
	{ "review.skip", SETTING_BOOL, LAYER_SUBMIT, .fallback = "false",
	    .help = "no review, whatever else is set" },

	{ "profile.*.extends", SETTING_PROFILE, LAYER_FILE,
	    .help = "profile whose values hold where this one says nothing" },

	{ "hook.on_hold", SETTING_ARGV, LAYER_FILE, .fallback = "[]",
	    .help = "program and arguments, started when a hold has been opened" },
	{ "hook.on_end", SETTING_ARGV, LAYER_FILE, .fallback = "[]",
	    .help = "program and arguments, started when a run has ended" },

	{ "limits.timeout", SETTING_DURATION, BOTH, .min = SECOND, .max = 30 * DAY, .fallback = "\"2h\"",
	    .help = "wall time of one attempt; of a review only when a submit sets it" },
	{ "limits.idle_timeout", SETTING_DURATION, BOTH, .min = 0, .max = 30 * DAY, .fallback = "\"20m\"",
	    .help = "time without progress after which an attempt is ended; 0: never" },
	{ "limits.post_result", SETTING_DURATION, LAYER_FILE, .min = 0, .max = DAY, .fallback = "\"30s\"",
	    .help = "time without output after which an agent that has given its final result is ended; 0: never" },
	{ "limits.implement.timeout", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of implementers alone" },
	{ "limits.implement.idle_timeout", SETTING_DURATION, LAYER_FILE, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of implementers alone" },
	{ "limits.implement.post_result", SETTING_DURATION, LAYER_FILE, .min = 0, .max = DAY,
	    .help = "limits.post_result of implementers alone" },
	{ "limits.check.timeout", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of checks alone" },
	{ "limits.check.idle_timeout", SETTING_DURATION, LAYER_FILE, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of checks alone" },
	{ "limits.review.timeout", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of reviews alone" },
	{ "limits.review.idle_timeout", SETTING_DURATION, LAYER_FILE, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of reviews alone" },
	{ "limits.review.post_result", SETTING_DURATION, LAYER_FILE, .min = 0, .max = DAY,
	    .help = "limits.post_result of reviews alone" },
	{ "limits.fix.timeout", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of fixers alone" },
	{ "limits.fix.idle_timeout", SETTING_DURATION, LAYER_FILE, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of fixers alone" },
	{ "limits.fix.post_result", SETTING_DURATION, LAYER_FILE, .min = 0, .max = DAY,
	    .help = "limits.post_result of fixers alone" },
	{ "limits.commit.timeout", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 30 * DAY,
	    .help = "limits.timeout of commit agents alone" },
	{ "limits.commit.idle_timeout", SETTING_DURATION, LAYER_FILE, .min = 0, .max = 30 * DAY,
	    .help = "limits.idle_timeout of commit agents alone" },
	{ "limits.commit.post_result", SETTING_DURATION, LAYER_FILE, .min = 0, .max = DAY,
	    .help = "limits.post_result of commit agents alone" },
	{ "limits.grace", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 3600 * SECOND, .fallback = "\"10s\"",
	    .help = "time between SIGTERM and SIGKILL" },
	{ "limits.output", SETTING_SIZE, LAYER_FILE, .min = 64 * KIB, .max = KIB * KIB * KIB * KIB, .fallback = "\"64M\"",
	    .help = "kept of each output stream of an attempt; the middle is dropped" },
	{ "limits.disk_floor", SETTING_SIZE, LAYER_FILE, .min = 0, .max = KIB * KIB * KIB * KIB, .fallback = "\"1G\"",
	    .help = "no attempt starts while less space is free; 0: never mind" },

	{ "group.*.slots", SETTING_INT, LAYER_FILE, .min = 1, .max = 1000,
	    .help = "attempts of all runs of the group that may run at one time" },

	{ "account.*.cooldown_max", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 30 * DAY, .fallback = "\"24h\"",
	    .help = "time at most that a notice of its service stops an account" },
	{ "account.*.budget_day_usd", SETTING_MONEY, LAYER_FILE, .max = 1000000000,
	    .help = "US dollars that an account may pay on a day of UTC; unset: no limit" },
	{ "account.*.budget_day_tokens", SETTING_INT, LAYER_FILE, .min = 1, .max = INT64_C(1000000000000000),
	    .help = "tokens that an account may use on a day of UTC; unset: no limit" },
	{ "account.*.budget_day_wall", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 1000 * DAY,
	    .help = "wall time of all attempts of an account on a day of UTC; unset: no limit" },
};
const size_t settings_count = sizeof(settings) / sizeof(settings[0]);

/* Length of the stretch of path that pattern covers ("*": one segment), 0 when it does not. Ends at a "." or the end. */
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

/* The row that "profile.NAME.KEY" fills for those who choose that profile; NULL: there is none of that KEY. */
static const struct setting *find_knob(const char *path)
{
	size_t n = cover("profile.*", path);

	for (size_t i = 0; i < settings_count && n > 0 && path[n] == '.'; i++) {
		if ((settings[i].layers & LAYER_PROFILE) && strcmp(setting_key(settings[i].path), path + n + 1) == 0)
			return &settings[i];
	}
	return NULL;
}

const struct setting *setting_find(const char *path, const char **rest)
{
	if (rest != NULL)
		*rest = NULL;
	for (size_t i = 0; i < settings_count; i++) {
		size_t n = cover(settings[i].path, path);

		if (n == 0 || (path[n] != '\0' && settings[i].kind != SETTING_MAP))
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
		return setting->kind == SETTING_MAP && (setting->layers & layer) && cover(setting->path, path) == strlen(path);
	for (size_t i = 0; i < settings_count; i++) {
		char *head = xstrdup(settings[i].path);
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

/* pattern with its "*" replaced by the second segment of path; NULL when path has none, or a quoted one. */
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
	bool known = setting_find(path, NULL) != NULL;	/* but not as a key of the file: its namesake would mislead */
	char *near = NULL;

	for (size_t i = 0; i < settings_count; i++) {
		const char *key = setting_key(settings[i].path);

		if (!(settings[i].layers & layer))
			continue;
		/* the right key in the wrong table, or in none */
		weigh(path, spelled(settings[i].path, path), !known && key != settings[i].path && strchr(settings[i].path, '*') == NULL &&
		    strcmp(key, setting_key(path)) == 0, limit, &near, &best);
		if (profile > 0 && layer == LAYER_FILE && (settings[i].layers & LAYER_PROFILE))
			weigh(path, xasprintf("%.*s.%s", (int)profile, path, key), false, limit, &near, &best);
	}
	return near;
}

bool setting_table_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = strlen(name);

	return n > 0 && n <= 64 && name[0] != '-' && name[0] != '_' && strspn(name, letters) == n;
}
