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

/* A program among those that are to be asked. */
struct subject {
	const json_t *agent;		/* NULL: a tool */
	json_t *variables;		/* "K=V": what the agent would have of our environment */
	char **environment;		/* the same, and what every agent gets; its strings
					 * are of variables */
	char *path;			/* NULL: it is nowhere, or nobody can tell where */
	bool barred;			/* path is there, but may not be executed */
	bool unknown;			/* where it is depends on the run */
	size_t probe;			/* whose answer is its own; SIZE_MAX: it is not asked */
};

void program_check_add(json_t *checks, const char *name, const char *state, char *text, const char *remedy)
{
	/* what a program printed need not be UTF-8 */
	char *safe = text_escape(text, strlen(text), false);

	json_array_append_new(checks,
	    json_pack("{s:s,s:s,s:s,s:s?}", "name", name, "state", state, "text", safe, "remedy",
	        remedy));
	free(safe);
	free(text);
}

/* The value of a variable that the agent would have; NULL: none, or an empty one. */
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

/* As execvp(3) looks; a directory that is not absolute depends on where the agent works. */
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

/* Ask every program once, however many agents it serves. */
static struct probe *check_ask(struct subject *subjects, size_t count, size_t *nprobes, int64_t ms)
{
	struct probe *probes = xreallocarray(NULL, count, sizeof(*probes));

	*nprobes = 0;
	for (size_t i = 0; i < count; i++) {
		struct subject *s = &subjects[i];
		size_t k = 0;

		/* of another program nobody knows what "--version" does */
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

/* A version that is not the measured one. */
static void add_drift(json_t *checks, const char *name, const char *found, const char *measured, const char *path)
{
	static const struct { const char *text, *remedy;
	} drifts[] = {
		[DRIFT_PATCH] = { "another patch of the same version, which should make no difference",
		    "nothing, unless its results look odd: "
		    "then \"make check-agents\" in the sources of rld tells what has changed" },
		[DRIFT_MINOR] = { "options and output may have changed",
		    "run \"make check-agents\" in the sources of rld before relying on it" },
		[DRIFT_MAJOR] = { "another major version: options and output have probably changed",
		    "run \"make check-agents\" in the sources of rld, or install the version that was measured" },
	};
	enum probe_drift drift = probe_drift(found, measured);

	program_check_add(checks, name, "warning",
	    xasprintf("%s at %s, measured with %s: %s", found, path, measured, drifts[drift].text),
	    drifts[drift].remedy);
}

/* bad: the state of a program that does not work. */
static void add_answer(json_t *checks, const char *name, const struct probe *p,
    const char *measured, const char *bad, int64_t ms)
{
	static const char by_hand[] = "try it by hand, with --version";
	const char *says = *p->line != '\0' ? ": " : "";

	switch (p->result) {
	case PROBE_NOT_STARTED:
		program_check_add(checks, name, bad,
		    xasprintf("%s cannot be started: %s%s", p->path, strerror(p->status),
		        p->status == ENOENT ? "; is what its first line names installed?" : ""),
		    by_hand);
		return;
	case PROBE_FAILED:
		program_check_add(checks, name, bad,
		    xasprintf("%s --version ended with exit status %d%s%s", p->path, p->status,
		        says, p->line),
		    by_hand);
		return;
	case PROBE_KILLED:
		program_check_add(checks, name, bad,
		    xasprintf(
		        "%s --version died of signal %d%s%s", p->path, p->status, says, p->line),
		    by_hand);
		return;
	case PROBE_LATE:
		program_check_add(checks, name, "warning",
		    xasprintf("%s did not tell its version in %lld s, and was ended", p->path,
		        (long long)(ms + 999) / 1000),
		    by_hand);
		return;
	case PROBE_FLOODS:
		program_check_add(checks, name, "warning",
		    xasprintf("%s --version printed without end, and was ended", p->path), by_hand);
		return;
	case PROBE_ANSWERED:
		break;
	}
	if (p->version == NULL)
		program_check_add(checks, name, "warning",
		    xasprintf("%s tells no version%s%s", p->path, says, p->line),
		    "see whether this is the program that is meant");
	else if (*measured == '\0')
		program_check_add(checks, name, "ok", xasprintf("%s, %s", p->version, p->path), NULL);
	else if (probe_drift(p->version, measured) == DRIFT_NONE)
		program_check_add(checks, name, "ok", xasprintf("%s, as measured, %s", p->version, p->path), NULL);
	else
		add_drift(checks, name, p->version, measured, p->path);
}

/* The file that a hint such as "~/FILE" or "$NAME/FILE" stands for, new; NULL: the
 * variable is not there. */
static char *login_file(const struct subject *s, const char *hint, bool *hidden)
{
	const char *name = *hint == '~' ? "HOME" : hint + 1, *rest = strchr(hint, '/');
	size_t length = *hint == '~' ? strlen("HOME") : rest == NULL ? strlen(name) : (size_t)(rest - name);
	char *word = xasprintf("%.*s", (int)length, name);
	const char *folder = check_variable(s, name, length);

	/* rld.toml sets it, to what we are not told */
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
	/* pi leaves "{}" without any login */
	seen = file != NULL && stat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 2;
	free(file);
	return seen ? LOGIN_SEEN : hidden ? LOGIN_UNKNOWN : LOGIN_NONE;
}

/* Names and places are told, values never. */
static void add_login(json_t *checks, const struct subject *s, const char *name)
{
	const json_t *hints = field_array(s->agent, "login");
	enum login best = LOGIN_NONE;

	for (size_t i = 0; i < json_array_size(hints) && best != LOGIN_SEEN; i++) {
		const char *hint = json_string_value(json_array_get(hints, i));
		enum login one = hint == NULL ? LOGIN_NONE : login_by(s, hint);

		if (one == LOGIN_SEEN)
			program_check_add(checks, name, "ok", xasprintf("a login is there: %s", hint), NULL);
		best = one > best ? one : best;
	}
	if (best == LOGIN_NONE && json_array_size(hints) > 0)
		program_check_add(checks, name, "warning",
		    xstrdup(
		        "no login is to be seen: neither a variable nor a file that it would use"),
		    field_text(s->agent, "login_help"));
}

static void add_checks(json_t *checks, const struct subject *s, const struct probe *probes, int64_t ms)
{
	const char *name = field_text(s->agent, "name"), *program = field_text(s->agent, "program"),
	           *node = field_text(s->agent, "node");
	bool needed = json_array_size(field_array(s->agent, "used_by")) > 0;
	char *by = field_joined(field_array(s->agent, "used_by"));

	if (s->unknown)
		program_check_add(checks, name, "ok", xasprintf("%s: where it is depends on the run", program), NULL);
	else if (s->path == NULL && needed)
		program_check_add(checks, name, "failed",
		    xasprintf("not installed: %s%s; %s names this agent", program,
		        strchr(program, '/') == NULL ? " is not on your PATH" : " is not there",
		        by),
		    "install it, or name another agent there in rld.toml");
	if (s->path == NULL)
		goto out;
	if (s->barred)
		program_check_add(checks, name, needed ? "failed" : "warning",
		    xasprintf("%s is not executable", s->path), "chmod +x, or install it anew");
	else if (s->probe != SIZE_MAX)
		add_answer(checks, name, &probes[s->probe], field_text(s->agent, "measured"),
		    needed ? "failed" : "warning", ms);
	else
		program_check_add(checks, name, "ok",
		    xasprintf(
		        "%s; not one of the programs that rld knows, so its version was not asked for",
		        s->path),
		    NULL);
	if (*field_text(s->agent, "caveat") != '\0')
		program_check_add(checks, name, needed ? "failed" : "warning",
		    xstrdup(field_text(s->agent, "caveat")), NULL);
	add_login(checks, s, name);
	if (*node != '\0')
		program_check_add(checks, name, "ok",
		    xasprintf("its package asks for Node.js %s or later", node), NULL);
out:
	free(by);
}

static json_t *check_document(const struct subject *s, const struct probe *probes, int64_t ms)
{
	const char *version = s->probe != SIZE_MAX ? probes[s->probe].version : NULL,
	           *measured = field_text(s->agent, "measured");
	json_t *checks = json_array();

	add_checks(checks, s, probes, ms);
	return json_pack("{s:s,s:s,s:s?,s:s?,s:s?,s:b,s:o}", "name", field_text(s->agent, "name"),
	    "program", field_text(s->agent, "program"), "path", s->path, "version", version,
	    "measured", *measured != '\0' ? measured : NULL, "installed",
	    s->path != NULL || s->unknown, "checks", checks);
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
			    "chmod +x, or install it anew");
		else if (strcmp(names[i], "git") == 0)
			program_check_add(checks, names[i], "failed", xstrdup("not on your PATH"),
			    "install git: without it runs are only possible with the review off, or profile exit");
		else
			program_check_add(checks, names[i], "ok",
			    xstrdup(
			        "not on your PATH: beads are read from .beads/issues.jsonl, and not closed there"),
			    NULL);
	}
	check_release(subjects, count, probes, nprobes);
}
