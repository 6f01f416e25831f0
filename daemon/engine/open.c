/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "engine/template.h"
#include "engine/work.h"
#include "git/exclude.h"
#include "prompt/prompt.h"

#define MARKDOWN_MAX (4 * 1024 * 1024)

static int write_file(const char *dir, const char *name, const char *data, size_t size)
{
	char *path = xasprintf("%s/%s", dir, name);
	int rv = file_write(AT_FDCWD, path, data, size, 0600, true);

	free(path);
	return rv;
}

/* A Markdown file that need not be there; one that cannot be read is an error. AGENTS.md is often a link to CLAUDE.md. */
static char *read_markdown(struct open_work *work, const char *dir, const char *name, size_t *size)
{
	char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name), *text = NULL;
	char *real = realpath(path, NULL);
	int rv = real != NULL ? file_read(AT_FDCWD, real, MARKDOWN_MAX, &text, size) : -errno;

	if (rv != 0 && rv != -ENOENT && rv != -ENOTDIR && work->error == NULL)
		work->error = xasprintf("%s: %s", path, strerror(-rv));
	free(real);
	free(path);
	return text;
}

static void add_section(struct open_work *work, struct buf *out, const char *dir, const char *name, const char *heading)
{
	size_t size = 0;
	char *text = read_markdown(work, dir, name, &size), *section = NULL;

	if (text != NULL)
		section = prompt_section((struct span){ text, size }, heading);
	if (section != NULL)
		buf_addf(out, "%s%s\n", out->size > 0 ? "\n" : "", section);
	free(section);
	free(text);
}

/* The user's file first, then the project's, which knows better. */
static void gather_guidelines(struct open_work *work, struct buf *out)
{
	char *const *pairs = work->plan->guidelines;

	for (size_t i = 0; pairs != NULL && pairs[i] != NULL && pairs[i + 1] != NULL; i += 2) {
		if (work->work.config_dir != NULL && pairs[i][0] != '/')
			add_section(work, out, work->work.config_dir, pairs[i], pairs[i + 1]);
		add_section(work, out, work->workdir, pairs[i], pairs[i + 1]);
	}
}

static void gather_conventions(struct open_work *work, struct buf *out)
{
	for (char *const *name = work->plan->conventions; name != NULL && *name != NULL; name++) {
		size_t size = 0;
		char *text = read_markdown(work, work->workdir, *name, &size);

		if (text != NULL) {
			buf_addf(out, "%s### %s\n\n", out->size > 0 ? "\n" : "", *name);
			buf_add(out, text, size);
			buf_adds(out, "\n");
		}
		free(text);
	}
}

/* What the judge goes by, as it is before any coder has run. */
static int keep_judgement(struct open_work *work, const char *dir)
{
	struct buf guidelines = { 0 }, conventions = { 0 };
	char *template;
	size_t size = 0;
	int rv = 0;

	template = template_find(ROLE_REVIEW, work->plan->reviewer_prompt, work->workspace, work->work.config_dir, &size, &work->error);
	if (template != NULL)
		rv = write_file(dir, "reviewer.md", template, size);
	free(template);
	gather_guidelines(work, &guidelines);
	gather_conventions(work, &conventions);
	if (rv == 0 && guidelines.size > 0)
		rv = write_file(dir, "guidelines.md", guidelines.data, guidelines.size);
	if (rv == 0 && conventions.size > 0)
		rv = write_file(dir, "conventions.md", conventions.data, conventions.size);
	buf_release(&guidelines);
	buf_release(&conventions);
	return rv;
}

/* A directory in the place of the review file would be noticed only when the implementer has been paid. */
static void check_review_file(struct open_work *work)
{
	char *path;
	struct stat st;

	if (work->plan->review_file == NULL || work->error != NULL)
		return;
	path = xasprintf("%s/%s", work->workdir, work->plan->review_file);
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		work->error = xasprintf("%s is a directory, and the reviewer is to write a file there; move it away, or set another review_file", path);
	free(path);
}

/* <state>/runs/<id>/: task (RL_TASK_FILE), reviewer.md, guidelines.md, conventions.md, scratch/. */
void open_run(struct open_work *work)
{
	char *dir = work_run_dir(work->work.state_dir, work->run), *path;
	int rv;

	path = xasprintf("%s/scratch", dir);
	rv = file_mkdirs(path, 0700);
	free(path);
	if (rv == 0 && work->text != NULL)
		rv = write_file(dir, "task", work->text, work->text_size);
	if (rv == 0 && work->plan->review)
		rv = keep_judgement(work, dir);
	if (work->plan->review)
		check_review_file(work);
	if (rv != 0 && work->error == NULL)
		work->error = xasprintf("the run's directory %s: %s", dir, strerror(-rv));
	if (work->error == NULL && work->has_git && work->artifacts != NULL)
		git_exclude(work->workspace, work->artifacts, &work->warning);
	if (work->warning == NULL && !work->has_git && work->plan->commit == COMMIT_MODE_AUTO)
		work->warning = xasprintf("nothing is committed: %s is not in a git repository", work->workdir);
	free(dir);
}
