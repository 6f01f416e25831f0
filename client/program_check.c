/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/environment_capture.h"
#include "client/field.h"
#include "client/probe.h"
#include "client/program_check.h"
#include "proto/escape.h"
#include "proto/memory.h"

/* A program to check. */
struct subject {
	const json_t *agent;		/* NULL: a tool */
	/* "K=V": variables of our environment that the agent would get */
	json_t *variables;
	/* the same plus those that every agent gets; strings belong to variables */
	char **environment;
	char *path;			/* NULL: not found, or unknown */
	bool barred;			/* path exists, but is not executable */
	bool unknown;			/* its path depends on the run */
	size_t probe;			/* index of its probe; SIZE_MAX: it is not run */
};

void program_check_add(json_t *checks, const char *name, const char *state, char *text, const char *remedy)
{
	/* output of a program may not be UTF-8 */
	char *safe = text_escape(text, strlen(text), false);

	json_array_append_new(checks,
	    json_pack("{s:s,s:s,s:s,s:s?}", "name", name, "state", state, "text", safe, "remedy",
	        remedy));
	free(safe);
	free(text);
}

/* Value of a variable that the agent would get; NULL: missing or empty. */
static const char *check_variable(const struct subject *s, const char *name, size_t length)
{
	for (size_t i = 0; i < json_array_size(s->variables); i++) {
		const char *entry = json_string_value(json_array_get(s->variables, i));

		if (strncmp(entry, name, length) == 0 && entry[length] == '=')
			return entry[length + 1] != '\0' ? entry + length + 1 : NULL;
	}
	return NULL;
}

/* ---- where the program is ---- */

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Search like execvp(3). A relative directory depends on where the agent works. */
static void check_search(struct subject *s, const char *program, const char *path)
{
	while (path != NULL && *path != '\0') {
		size_t length = strcspn(path, ":");
		char *candidate = xasprintf("%.*s/%s", (int)length, path, program);
		bool there = *path == '/' && is_file(candidate), runs = there && access(candidate, X_OK) == 0;

		if (runs || (there && s->path == NULL)) {
			free(s->path);
			s->path = candidate;
			s->barred = !runs;
		} else {
			free(candidate);
		}
		if (runs)
			return;
		path += length + (path[length] == ':');
	}
}

static void check_locate(struct subject *s, const char *program)
{
	if (strchr(program, '/') == NULL) {
		check_search(s, program, check_variable(s, "PATH", strlen("PATH")));
	} else if (*program != '/') {
		s->unknown = true;
	} else if (is_file(program)) {
		s->path = xstrdup(program);
		s->barred = access(program, X_OK) == -1;
	}
}

static void check_prepare(struct subject *s, const char *program)
{
	static const char *const fixed[] = { "NO_COLOR=1", "TERM=dumb", "GIT_OPTIONAL_LOCKS=0" };
	size_t count = 0, more = ARRAY_SIZE(fixed);

	s->variables = environment_capture(field_array(s->agent, "env"));
	s->environment = xreallocarray(NULL, json_array_size(s->variables) + more + 1, sizeof(*s->environment));
	for (size_t i = 0; i < json_array_size(s->variables); i++)
		s->environment[count++] = (char *)json_string_value(json_array_get(s->variables, i));
	for (size_t i = 0; i < more; i++)
		s->environment[count++] = (char *)fixed[i];
	s->environment[count] = NULL;
	s->probe = SIZE_MAX;
	if (field_has(field_array(s->agent, "set"), "PATH"))
		s->unknown = true;
	else
		check_locate(s, program);
}

/* Run every program once, however many agents use it. */
static struct probe *check_ask(struct subject *subjects, size_t count, size_t *nprobes, int64_t ms)
{
	struct probe *probes = xreallocarray(NULL, count, sizeof(*probes));

	*nprobes = 0;
	for (size_t i = 0; i < count; i++) {
		struct subject *s = &subjects[i];
		size_t k = 0;

		/* what --version does in an unknown program is unknown */
		if (s->path == NULL || s->barred || (s->agent != NULL && *field_text(s->agent, "measured") == '\0'))
			continue;
		while (k < *nprobes && strcmp(probes[k].path, s->path) != 0)
			k++;
		if (k == *nprobes)
			probes[(*nprobes)++] = (struct probe){ .path = s->path, .environment = s->environment };
		s->probe = k;
	}
	probe_run(probes, *nprobes, ms);
	return probes;
}

/* ---- what was found ---- */

/* A version other than the tested one. */
static void add_drift(json_t *checks, const char *name, const char *found, const char *measured, const char *path)
{
	static const struct { const char *text, *remedy;
	} drifts[] = {
		[DRIFT_PATCH] = { "a different patch level, which should make no difference",
		    "nothing to do unless results look wrong; then run \"make check-agents\" in "
		    "the sources of rld" },
		[DRIFT_MINOR] = { "a different minor version: options and output may have changed",
		    "run \"make check-agents\" in the sources of rld before relying on it" },
		[DRIFT_MAJOR] = {
		    "a different major version: options and output have probably changed",
		    "run \"make check-agents\" in the sources of rld, or install the tested version" },
	};
	enum probe_drift drift = probe_drift(found, measured);

	program_check_add(checks, name, "warning",
	    xasprintf("%s at %s, tested with %s: %s", found, path, measured, drifts[drift].text),
	    drifts[drift].remedy);
}

/* bad: state for a program that does not work. */
static void add_answer(json_t *checks, const char *name, const struct probe *p,
    const char *measured, const char *bad, int64_t ms)
{
	static const char by_hand[] = "run it manually with --version";
	const char *says = *p->line != '\0' ? ": " : "";

	switch (p->result) {
	case PROBE_NOT_STARTED:
		program_check_add(checks, name, bad,
		    xasprintf("%s cannot be started: %s%s", p->path, strerror(p->status),
		        p->status == ENOENT ?
		            "; check that the interpreter in its first line is installed" : ""),
		    by_hand);
		return;
	case PROBE_FAILED:
		program_check_add(checks, name, bad,
		    xasprintf("%s --version exited with status %d%s%s", p->path, p->status,
		        says, p->line),
		    by_hand);
		return;
	case PROBE_KILLED:
		program_check_add(checks, name, bad,
		    xasprintf(
		        "%s --version was killed by signal %d%s%s", p->path, p->status, says, p->line),
		    by_hand);
		return;
	case PROBE_LATE:
		program_check_add(checks, name, "warning",
		    xasprintf("%s --version did not finish within %lld s and was killed", p->path,
		        (long long)(ms + 999) / 1000),
		    by_hand);
		return;
	case PROBE_FLOODS:
		program_check_add(checks, name, "warning",
		    xasprintf("%s --version printed too much and was killed", p->path), by_hand);
		return;
	case PROBE_ANSWERED:
		break;
	}
	if (p->version == NULL)
		program_check_add(checks, name, "warning",
		    xasprintf("%s prints no version%s%s", p->path, says, p->line),
		    "check that this is the right program");
	else if (*measured == '\0')
		program_check_add(checks, name, "ok", xasprintf("%s, %s", p->version, p->path), NULL);
	else if (probe_drift(p->version, measured) == DRIFT_NONE)
		program_check_add(checks, name, "ok", xasprintf("%s, as tested, %s", p->version, p->path), NULL);
	else
		add_drift(checks, name, p->version, measured, p->path);
}

/* The file meant by a hint such as "~/FILE" or "$NAME/FILE", new; NULL: the variable is not set. */
static char *login_file(const struct subject *s, const char *hint, bool *hidden)
{
	const char *name = *hint == '~' ? "HOME" : hint + 1, *rest = strchr(hint, '/');
	size_t length = *hint == '~' ? strlen("HOME") : rest == NULL ? strlen(name) : (size_t)(rest - name);
	char *word = xasprintf("%.*s", (int)length, name);
	const char *folder = check_variable(s, name, length);

	/* set by rld.toml to a value that clients do not see */
	*hidden = field_has(field_array(s->agent, "set"), word);
	free(word);
	return folder == NULL || rest == NULL || *hidden ? NULL : xasprintf("%s%s", folder, rest);
}

enum login { LOGIN_NONE, LOGIN_UNKNOWN, LOGIN_SEEN };

static enum login login_by(const struct subject *s, const char *hint)
{
	struct stat st;
	bool hidden, seen;
	char *file;

	if (*hint != '~' && *hint != '$')
		return check_variable(s, hint, strlen(hint)) != NULL ||
		        field_has(field_array(s->agent, "set"), hint)
		    ? LOGIN_SEEN
		    : LOGIN_NONE;
	file = login_file(s, hint, &hidden);
	/* pi writes "{}" without a login */
	seen = file != NULL && stat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 2;
	free(file);
	return seen ? LOGIN_SEEN : hidden ? LOGIN_UNKNOWN : LOGIN_NONE;
}

/* Print names and paths, never values. Returns false if a login is needed and none was found. */
static bool add_login(json_t *checks, const struct subject *s, const char *name)
{
	const json_t *hints = field_array(s->agent, "login");
	enum login best = LOGIN_NONE;

	for (size_t i = 0; i < json_array_size(hints) && best != LOGIN_SEEN; i++) {
		const char *hint = json_string_value(json_array_get(hints, i));
		enum login one = hint == NULL ? LOGIN_NONE : login_by(s, hint);

		if (one == LOGIN_SEEN)
			program_check_add(checks, name, "ok", xasprintf("logged in: %s", hint), NULL);
		best = one > best ? one : best;
	}
	if (best == LOGIN_NONE && json_array_size(hints) > 0)
		program_check_add(checks, name, "warning",
		    xstrdup(
		        "no login found: neither a variable nor a file"),
		    field_text(s->agent, "login_help"));
	return best != LOGIN_NONE || json_array_size(hints) == 0;
}

/* Returns what add_login() does. */
static bool add_checks(json_t *checks, const struct subject *s, const struct probe *probes, int64_t ms)
{
	const char *name = field_text(s->agent, "name"), *program = field_text(s->agent, "program"),
	           *node = field_text(s->agent, "node");
	bool needed = json_array_size(field_array(s->agent, "used_by")) > 0;
	char *by = field_joined(field_array(s->agent, "used_by"));
	bool logged_in = false;

	if (s->unknown)
		program_check_add(checks, name, "ok", xasprintf("%s: the path depends on the run", program), NULL);
	else if (s->path == NULL && needed)
		program_check_add(checks, name, "failed",
		    xasprintf("not installed: %s%s; %s names this agent", program,
		        strchr(program, '/') == NULL ? " is not on your PATH" : " does not exist",
		        by),
		    "install it, or name another program there in rld.toml");
	if (s->path == NULL)
		goto out;
	if (s->barred)
		program_check_add(checks, name, needed ? "failed" : "warning",
		    xasprintf("%s is not executable", s->path), "chmod +x it, or reinstall it");
	else if (s->probe != SIZE_MAX)
		add_answer(checks, name, &probes[s->probe], field_text(s->agent, "measured"),
		    needed ? "failed" : "warning", ms);
	else
		program_check_add(checks, name, "ok",
		    xasprintf(
		        "%s; rld does not know this program, so its version was not checked",
		        s->path),
		    NULL);
	if (*field_text(s->agent, "caveat") != '\0')
		program_check_add(checks, name, needed ? "failed" : "warning",
		    xstrdup(field_text(s->agent, "caveat")), NULL);
	logged_in = add_login(checks, s, name);
	if (*node != '\0')
		program_check_add(checks, name, "ok",
		    xasprintf("its package requires Node.js %s or later", node), NULL);
out:
	free(by);
	return logged_in;
}

static json_t *check_document(const struct subject *s, const struct probe *probes, int64_t ms)
{
	const char *version = s->probe != SIZE_MAX ? probes[s->probe].version : NULL,
	           *measured = field_text(s->agent, "measured");
	json_t *checks = json_array();
	bool logged_in = add_checks(checks, s, probes, ms);

	return json_pack("{s:s,s:s,s:s?,s:s?,s:s?,s:b,s:b,s:o}", "name", field_text(s->agent, "name"),
	    "program", field_text(s->agent, "program"), "path", s->path, "version", version,
	    "measured", *measured != '\0' ? measured : NULL, "installed",
	    s->path != NULL || s->unknown, "logged_in", logged_in, "checks", checks);
}

static void check_release(struct subject *subjects, size_t count, struct probe *probes, size_t nprobes)
{
	for (size_t i = 0; i < nprobes; i++)
		probe_release(&probes[i]);
	free(probes);
	for (size_t i = 0; i < count; i++) {
		json_decref(subjects[i].variables);
		free(subjects[i].environment);
		free(subjects[i].path);
	}
	free(subjects);
}

json_t *program_check_agents(const json_t *agents, int64_t ms)
{
	size_t count = json_array_size(agents), nprobes;
	struct subject *subjects = xreallocarray(NULL, count + 1, sizeof(*subjects));
	struct probe *probes;
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		subjects[i] = (struct subject){ .agent = json_array_get(agents, i) };
		check_prepare(&subjects[i], field_text(subjects[i].agent, "program"));
	}
	probes = check_ask(subjects, count, &nprobes, ms);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, check_document(&subjects[i], probes, ms));
	check_release(subjects, count, probes, nprobes);
	return list;
}

void program_check_tools(json_t *checks, int64_t ms)
{
	static const char *const names[] = { "git", "bd" };
	const size_t count = ARRAY_SIZE(names);
	struct subject *subjects = xreallocarray(NULL, count, sizeof(*subjects));
	struct probe *probes;
	size_t nprobes;

	for (size_t i = 0; i < count; i++) {
		subjects[i] = (struct subject){ .agent = NULL };
		check_prepare(&subjects[i], names[i]);
	}
	probes = check_ask(subjects, count, &nprobes, ms);
	for (size_t i = 0; i < count; i++) {
		if (subjects[i].probe != SIZE_MAX)
			add_answer(checks, names[i], &probes[subjects[i].probe], "", "warning", ms);
		else if (subjects[i].barred)
			program_check_add(checks, names[i], "warning",
			    xasprintf("%s is not executable", subjects[i].path),
			    "chmod +x it, or reinstall it");
		else if (strcmp(names[i], "git") == 0)
			program_check_add(checks, names[i], "failed", xstrdup("not on your PATH"),
			    "install git; without it runs work only with the review off or with "
			    "profile exit");
		else
			program_check_add(checks, names[i], "ok",
			    xstrdup(
			        "not on your PATH: beads are read from .beads/issues.jsonl and "
			        "cannot be closed there"),
			    NULL);
	}
	check_release(subjects, count, probes, nprobes);
}
