/* SPDX-License-Identifier: MIT */
#include "config/setting.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/plan.h"
#include "core/profile.h"

#define SECOND INT64_C(1000)
#define DAY (INT64_C(86400) * SECOND)
#define KIB INT64_C(1024)
#define BOTH (LAYER_FILE | LAYER_SUBMIT)
#define FIELD(name) offsetof(struct profile, name)

const struct setting settings[] = {
	{ "parallel", SETTING_INT, LAYER_FILE, .min = 1, .max = 64, .fallback = "4",
	    .help = "attempts that may run at one time, over all runs" },
	{ "default_agent", SETTING_AGENT, BOTH, .fallback = "\"claude\"",
	    .help = "agent of runs that name none" },

	{ "agent.*.command", SETTING_ARGV, LAYER_FILE,
	    .help = "program and arguments; {model}, {prompt_file} and {session} are filled in" },
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

	{ "run.on_lost", SETTING_CHOICE, BOTH, .choices = &on_lost_names, .fallback = "\"hold\"",
	    .help = "what becomes of a run whose attempt was lost" },
	{ "run.model", SETTING_TEXT, LAYER_SUBMIT, .max = 256,
	    .help = "model of the implementer" },
	{ "run.env", SETTING_MAP, LAYER_SUBMIT, .fallback = "{}",
	    .help = "variables for all agents of the run" },

	{ "review.enabled", SETTING_BOOL, BOTH, .fallback = "false",
	    .help = "have results reviewed" },
	{ "review.profile", SETTING_PROFILE, BOTH, .fallback = "\"verdict\"",
	    .help = "review profile" },
	{ "review.agent", SETTING_AGENT, BOTH,
	    .help = "agent that reviews; unset: the implementer's" },
	{ "review.model", SETTING_TEXT, BOTH, .max = 256,
	    .help = "model of the reviewer" },
	{ "review.fixer_agent", SETTING_AGENT, BOTH,
	    .help = "agent that fixes; unset: the implementer's" },
	{ "review.fixer_model", SETTING_TEXT, BOTH, .max = 256,
	    .help = "model of the fixer" },
	{ "review.max_fixes", SETTING_INT, BOTH, .min = 0, .max = 100, .profile_field = FIELD(max_fixes),
	    .help = "fix rounds at most; 0: one review, no fix" },
	{ "review.stall_limit", SETTING_INT, BOTH, .min = 0, .max = 100, .profile_field = FIELD(stall_limit),
	    .help = "rounds without progress in a row that end the loop; 0: never" },
	{ "review.timeout", SETTING_DURATION, BOTH, .min = SECOND, .max = 30 * DAY, .profile_field = FIELD(review_timeout_ms),
	    .help = "wall time of one review" },
	{ "review.developer_prompt", SETTING_FILE, BOTH,
	    .help = "template of the implementer's prompt" },
	{ "review.reviewer_prompt", SETTING_FILE_OR_NONE, BOTH,
	    .help = "template of the reviewer's prompt; none: no review" },
	{ "review.skip", SETTING_BOOL, LAYER_SUBMIT, .fallback = "false",
	    .help = "no review, whatever else is set" },

	{ "limits.timeout", SETTING_DURATION, BOTH, .min = SECOND, .max = 30 * DAY, .fallback = "\"2h\"",
	    .help = "wall time of one implement or fix attempt" },
	{ "limits.idle_timeout", SETTING_DURATION, BOTH, .min = 0, .max = 30 * DAY, .fallback = "\"20m\"",
	    .help = "time without output after which an attempt is ended; 0: never" },
	{ "limits.grace", SETTING_DURATION, LAYER_FILE, .min = SECOND, .max = 3600 * SECOND, .fallback = "\"10s\"",
	    .help = "time between SIGTERM and SIGKILL" },
	{ "limits.output", SETTING_SIZE, LAYER_FILE, .min = 64 * KIB, .max = KIB * KIB * KIB * KIB, .fallback = "\"64M\"",
	    .help = "kept of each output stream of an attempt; the middle is dropped" },
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

const struct setting *setting_find(const char *path, const char **rest)
{
	for (size_t i = 0; i < settings_count; i++) {
		size_t n = cover(settings[i].path, path);

		if (n == 0 || (path[n] != '\0' && settings[i].kind != SETTING_MAP))
			continue;
		if (rest != NULL)
			*rest = path[n] == '\0' ? NULL : path + n + 1;
		return &settings[i];
	}
	return NULL;
}

bool setting_is_table(const char *path)
{
	const struct setting *setting = setting_find(path, NULL);

	if (setting != NULL)
		return setting->kind == SETTING_MAP && (setting->layers & LAYER_FILE) && cover(setting->path, path) == strlen(path);
	for (size_t i = 0; i < settings_count; i++) {
		char *head = xstrdup(settings[i].path);
		char *dot;
		bool found = false;

		while (!found && (settings[i].layers & LAYER_FILE) && (dot = strrchr(head, '.')) != NULL) {
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

char *setting_near(const char *path)
{
	size_t limit = strlen(path) < 6 ? 1 : 2, best = limit + 1;
	const char *last = strrchr(path, '.');
	bool known = setting_find(path, NULL) != NULL;	/* but not as a key of the file: its namesake would mislead */
	char *near = NULL;

	for (size_t i = 0; i < settings_count; i++) {
		const char *key = strrchr(settings[i].path, '.');
		char *name;
		size_t d;

		if (!(settings[i].layers & LAYER_FILE) || (name = spelled(settings[i].path, path)) == NULL)
			continue;
		d = distance(path, name, limit);
		/* the right key in the wrong table, or in none */
		if (d > limit && !known && key != NULL && strchr(settings[i].path, '*') == NULL && strcmp(key + 1, last == NULL ? path : last + 1) == 0)
			d = limit;
		if (d < best) {
			best = d;
			free(near);
			near = xstrdup(name);
		}
		free(name);
	}
	return near;
}

bool setting_agent_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = strlen(name);

	return n > 0 && n <= 64 && name[0] != '-' && name[0] != '_' && strspn(name, letters) == n;
}
