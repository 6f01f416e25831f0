/* SPDX-License-Identifier: MIT */
#include "job/review_basis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/state.h"
#include "job/prepare_run_dir.h"
#include "job/template_search.h"
#include "model/dirs.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define MARKDOWN_MAX (4 * 1024 * 1024)
#define KEPT_MAX (16 * 1024 * 1024)

/* contains the name of the profile; written last, so its existence proves the rest */
#define KEPT "judgement"

static const char *const kept_files[] = { "reviewer.md", "guidelines.md", "conventions.md" };

const struct plan *review_basis_plan(const struct plan *run, const struct task_row *const *tasks,
    size_t count, struct plan *own)
{
	if (run->review)
		return run;
	for (size_t i = 0; i < count; i++) {
		if (tasks[i]->plan == NULL || plan_from_json(tasks[i]->plan, own) == -1)
			continue;
		if (own->review)
			return own;
		plan_release(own);
	}
	return NULL;
}

static int write_file(const char *dir, const char *name, const char *data, size_t size)
{
	char *path = xasprintf("%s/%s", dir, name);
	int rv = file_write(AT_FDCWD, path, data, size, 0600, true);

	free(path);
	return rv;
}

static int read_file(const char *dir, const char *name, char **text, size_t *size)
{
	char *path = xasprintf("%s/%s", dir, name);
	int rv = file_read(AT_FDCWD, path, KEPT_MAX, text, size);

	free(path);
	return rv;
}

static void warn(struct prepare_run_dir_job *job, char *text)
{
	strings_append(&job->warnings, text);
	free(text);
}

/* ---- Markdown of the user and of the project ---- */

/* An unreadable file is an error. Links are followed: AGENTS.md is often a link to CLAUDE.md. NULL:
 * no such file. */
static char *read_markdown(struct prepare_run_dir_job *job, const char *dir, const char *name, size_t *size)
{
	char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name), *text = NULL;
	char *real = realpath(path, NULL);
	int rv = real != NULL ? file_read(AT_FDCWD, real, MARKDOWN_MAX, &text, size) : -errno;

	if (rv != 0 && rv != -ENOENT && rv != -ENOTDIR && job->error == NULL)
		job->error = xasprintf("%s: %s", path, host_words(-rv));
	free(real);
	free(path);
	return text;
}

/* False: no such file. shown: its name in a warning. */
static bool add_section(struct prepare_run_dir_job *job, struct buf *out, const char *dir,
    const char *name, const char *heading, const char *shown)
{
	size_t size = 0;
	char *text = read_markdown(job, dir, name, &size), *section;

	if (text == NULL)
		return false;
	section = prompt_section((struct span){ text, size }, heading);
	if (section != NULL)
		buf_addf(out, "%s%s\n", out->size > 0 ? "\n" : "", section);
	else
		warn(job, xasprintf("%s has no section %s, so the reviewer gets no guidelines from "
		    "it; add that heading, or name another section in review.guidelines", shown, heading));
	free(section);
	free(text);
	return true;
}

/* Warn if none of the files in a user's list exists: a typo would go unnoticed. */
static void warn_of_nothing(struct prepare_run_dir_job *job, const char *path, char *const *words,
    size_t step, const char *usual)
{
	struct buf names = { 0 };

	if (words == NULL || words[0] == NULL || plan_words_are(words, usual))
		return;
	for (size_t i = 0; words[i] != NULL; i += step)
		buf_addf(&names, "%s%s", i > 0 ? ", " : "", words[i]);
	warn(job, xasprintf("none of the files named by %s exists (%s), so the reviewer gets none; "
	    "create one, or correct the names", path, names.data));
	buf_release(&names);
}

/* The user's file first, then the project's, which is more specific. */
static void gather_guidelines(struct prepare_run_dir_job *job, char *const *pairs, struct buf *out)
{
	bool found = false;

	for (size_t i = 0; pairs != NULL && pairs[i] != NULL && pairs[i + 1] != NULL; i += 2) {
		const char *name = pairs[i], *config_dir = name[0] != '/' ? job->job.config_dir : NULL;
		char *users = config_dir != NULL ? xasprintf("%s/%s", config_dir, name) : NULL;

		if (users != NULL)
			found |= add_section(job, out, config_dir, name, pairs[i + 1], users);
		found |= add_section(job, out, job->workdir, name, pairs[i + 1], name);
		free(users);
	}
	if (!found)
		warn_of_nothing(job, "review.guidelines", pairs, 2, GUIDELINES_DEFAULT);
}

static void gather_conventions(struct prepare_run_dir_job *job, char *const *names, struct buf *out)
{
	bool found = false;

	for (char *const *name = names; name != NULL && *name != NULL; name++) {
		size_t size = 0;
		char *text = read_markdown(job, job->workdir, *name, &size);

		if (text != NULL) {
			buf_addf(out, "%s### %s\n\n", out->size > 0 ? "\n" : "", *name);
			buf_add(out, text, size);
			buf_adds(out, "\n");
			found = true;
		}
		free(text);
	}
	if (!found)
		warn_of_nothing(job, "review.conventions", names, 1, CONVENTIONS_DEFAULT);
}

/* ---- kept ---- */

static int read_all(struct prepare_run_dir_job *job, const struct plan *plan, const char *dir)
{
	const unsigned sees = plan->profile->review_sees | plan->profile->fix_sees;
	struct buf guidelines = { 0 }, conventions = { 0 };
	char *template;
	size_t size = 0;
	int rv = 0;

	template = template_find(ROLE_REVIEW, plan->reviewer_prompt, job->workspace,
	    job->job.config_dir, &size, &job->error);
	if (template != NULL)
		rv = write_file(dir, "reviewer.md", template, size);
	free(template);
	if ((sees & PART_GUIDELINES) != 0)
		gather_guidelines(job, plan->guidelines, &guidelines);
	if ((sees & PART_CONVENTIONS) != 0)
		gather_conventions(job, plan->conventions, &conventions);
	if (rv == 0 && guidelines.size > 0)
		rv = write_file(dir, "guidelines.md", guidelines.data, guidelines.size);
	if (rv == 0 && conventions.size > 0)
		rv = write_file(dir, "conventions.md", conventions.data, conventions.size);
	buf_release(&guidelines);
	buf_release(&conventions);
	return rv;
}

/* Use the criteria of the run that this one retries, because that run may have changed the files.
 * False: none saved for this profile. */
static bool is_kept(const char *old, const struct plan *plan)
{
	char *text = NULL;
	size_t size;
	bool kept = read_file(old, KEPT, &text, &size) == 0 && strcmp(text, plan->profile_name) == 0;

	free(text);
	return kept;
}

static int take_over(const char *old, const char *dir)
{
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < sizeof(kept_files) / sizeof(kept_files[0]); i++) {
		char *text = NULL;
		size_t size;

		rv = read_file(old, kept_files[i], &text, &size);
		if (rv == 0)
			rv = write_file(dir, kept_files[i], text, size);
		else if (rv == -ENOENT)
			rv = 0;
		free(text);
	}
	return rv;
}

int review_basis_keep(struct prepare_run_dir_job *job, const char *dir)
{
	const struct plan *plan = job->review_plan;
	char *old = job->retry_of != ROW_NONE ? dirs_run(job->job.state_dir, job->retry_of) : NULL;
	int rv;

	job->taken_over = old != NULL && is_kept(old, plan);
	rv = job->taken_over ? take_over(old, dir) : read_all(job, plan, dir);
	if (rv == 0 && job->error == NULL)
		rv = write_file(dir, KEPT, plan->profile_name, strlen(plan->profile_name));
	free(old);
	return rv;
}
