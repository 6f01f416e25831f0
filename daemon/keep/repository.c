/* SPDX-License-Identifier: MIT */
#include "keep/repository.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/command.h"
#include "git/gitdir.h"
#include "git/read_ref.h"
#include "job/kept_environment.h"
#include "proc/version_probe.h"
#include "proto/memory.h"
#include "proto/program.h"
#include "record/host_fault.h"

#define GIT_MS 60000			/* per process: --not walks the history */
#define OUTPUT_MAX (1024 * 1024)	/* names of refs */

/* Run git with these words there; text NULL: its output is not wanted. 0; -ENOMSG: it says no;
 * another -errno: no answer. */
static int git(const char *workspace, const char *const *args, char *text, size_t room)
{
	char *program = program_find(getenv("PATH"), "git"), **env, unused[2];
	struct git_command command = { 0 };
	int rv = -ENOENT;

	git_command_set(&command, workspace, NULL, NULL, args);
	env = strings_copy(environ);
	environment_set_all(&env, (const char *const *)command.env);
	if (program != NULL)
		rv = version_probe_text(program, command.argv, env, GIT_MS, text != NULL ? text : unused,
		    text != NULL ? room : sizeof(unused));
	strings_wipe(env);
	git_command_release(&command);
	free(program);
	return rv;
}

char *repository_lines(const char *workspace, const char *const *args)
{
	char *text = xcalloc(1, OUTPUT_MAX);

	if (git(workspace, args, text, OUTPUT_MAX) != 0)
		text[0] = '\0';
	return text;
}

/* 1: the commit is on a branch of the user; 0: it is not; -ENODATA: there is no such commit;
 * another -errno: unknown. */
static int is_merged(const char *workspace, const char *commit)
{
	const char *const list[] = { "rev-list", "-n1", "--not", "--exclude=rl/*", "--branches", "--remotes", "--tags",
		"--not", "--end-of-options", commit, NULL };
	char *object = xasprintf("%s^{commit}", commit), line[128];
	const char *const exists[] = { "cat-file", "-e", object, NULL };
	static const char *const probe[] = { "rev-parse", "--git-dir", NULL };
	int rv = git(workspace, list, line, sizeof(line));

	if (rv == -ENOMSG && git(workspace, probe, NULL, 0) == 0 && git(workspace, exists, NULL, 0) == -ENOMSG)
		rv = -ENODATA;
	else if (rv == 0)
		rv = line[0] == '\0';
	free(object);
	return rv;
}

/* 1: it has refs of the run; 0: it has none, as another repository at the same place; -errno. */
static int is_of_run(const struct run_results *results)
{
	char *refs = results->instance != NULL ?
	    xasprintf("refs/rl/%s/*/%lld", results->instance, (long long)results->run) :
	    xasprintf("refs/rl/*/%lld", (long long)results->run), *below = xasprintf("%s/**", refs), line[1024];
	const char *const args[] = { "for-each-ref", "--count=1", "--format=%(refname)", refs, below, NULL };
	int rv = git(results->workspace, args, line, sizeof(line));

	free(below);
	free(refs);
	return rv == 0 ? line[0] != '\0' : rv;
}

static enum retention_merged unreadable(const char *workspace, int error, char **detail)
{
	*detail = xasprintf("%s: %s", workspace, error == ENOMSG ? "git cannot read it" :
	    error == ENODATA ? "it is another repository now, or the refs of the run were removed" :
	    error == ENOTSUP ? "its refs are not stored as files" : host_words(error));
	return RETENTION_IS_UNREADABLE;
}

/* unmerged: what it is if no branch has it. *missing: set if there is no such commit. */
static enum retention_merged ask(const char *workspace, const char *commit, const char *name,
    enum retention_merged unmerged, bool *missing, char **detail)
{
	int rv = is_merged(workspace, commit);

	if (rv == -ENODATA)
		*missing = true;
	else if (rv < 0)
		return unreadable(workspace, -rv, detail);
	if (rv != 0)
		return RETENTION_IS_MERGED;
	*detail = xstrdup(name);
	return unmerged;
}

static enum retention_merged ask_branch(const char *workspace, const char *common, const char *name, bool *missing,
    char **detail)
{
	char *ref = xasprintf("refs/heads/%s", name), *tip = NULL;
	int rv = read_ref(common, ref, &tip);
	enum retention_merged merged = RETENTION_IS_MERGED;

	if (rv != 0)
		merged = unreadable(workspace, -rv, detail);
	else if (tip == NULL)
		*missing = true;
	else
		merged = ask(workspace, ref, name, RETENTION_IS_UNMERGED, missing, detail);
	free(tip);
	free(ref);
	return merged;
}

static bool is_empty(const struct run_results *results)
{
	return results->branches[0] == NULL && results->commits[0] == NULL && results->saved[0] == NULL;
}

enum retention_merged repository_has(const struct run_results *results, char **detail)
{
	const char *workspace = results->workspace;
	char *common = is_empty(results) ? NULL : git_dir_common(workspace);
	enum retention_merged merged = RETENTION_IS_MERGED;
	bool missing = false;
	int rv;

	*detail = NULL;
	if (is_empty(results))
		return RETENTION_IS_MERGED;
	/* on a disk that is not mounted, perhaps */
	if (common == NULL)
		return unreadable(workspace, errno, detail);
	for (size_t i = 0; results->branches[i] != NULL && merged == RETENTION_IS_MERGED; i++)
		merged = ask_branch(workspace, common, results->branches[i], &missing, detail);
	for (size_t i = 0; results->commits[i] != NULL && merged == RETENTION_IS_MERGED; i++)
		merged = ask(workspace, results->commits[i], results->commits[i], RETENTION_IS_UNMERGED, &missing,
		    detail);
	for (size_t i = 0; results->saved[i] != NULL && merged == RETENTION_IS_MERGED; i++)
		merged = ask(workspace, results->saved[i], results->saved[i], RETENTION_IS_SAVED, &missing, detail);
	if (merged == RETENTION_IS_MERGED && missing && (rv = is_of_run(results)) != 1)
		merged = unreadable(workspace, rv == 0 ? ENODATA : -rv, detail);
	free(common);
	return merged;
}

/* The names of all refs of the run, one per line; malloc'd. */
static int list_refs(const char *workspace, const char *instance, int64_t run, char **names)
{
	char *base = xasprintf("refs/rl/%s/*/%lld", instance, (long long)run),
	    *below = xasprintf("%s/**", base);
	const char *const args[] = { "for-each-ref", "--format=%(refname)", base, below, NULL };
	int rv;

	*names = xcalloc(1, OUTPUT_MAX);
	rv = git(workspace, args, *names, OUTPUT_MAX);
	free(below);
	free(base);
	return rv;
}

static int remove_ref(const char *workspace, const char *ref)
{
	const char *const args[] = { "update-ref", "--no-deref", "-d", ref, NULL };

	return git(workspace, args, NULL, 0);
}

char *repository_remove_refs(const char *workspace, const char *instance, int64_t run)
{
	char *common = git_dir_common(workspace), *names = NULL, *fault = NULL, *rest, *ref;
	int rv;

	if (common == NULL)
		return NULL;
	rv = list_refs(workspace, instance, run, &names);
	for (rest = names; rv == 0 && (ref = strsep(&rest, "\n")) != NULL;)
		if (*ref != '\0')
			rv = remove_ref(workspace, ref);
	if (rv != 0)
		fault = xasprintf("run %lld: cannot remove its refs in %s: %s", (long long)run, workspace,
		    rv == -ENOMSG ? "git refuses" : host_words(-rv));
	free(names);
	free(common);
	return fault;
}
