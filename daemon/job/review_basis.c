/* SPDX-License-Identifier: MIT */
#include "job/review_basis.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sha1.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/peer_file.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/plan_words.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/state.h"
#include "job/template_search.h"
#include "model/dirs.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define MARKDOWN_MAX (4 * 1024 * 1024)
#define FILE_MAX (16 * 1024 * 1024)

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

static void warn(struct review_basis *basis, char *text)
{
	strings_append(&basis->warnings, text);
	free(text);
}

/* The first error counts. Takes ownership of text. */
static void refuse(struct review_basis *basis, const char *field, char *text)
{
	if (basis->error == NULL) {
		basis->error = text;
		basis->field = field;
	} else {
		free(text);
	}
}

/* ---- files that judge ---- */

static void add_file(char ***list, const struct review_basis *basis, const char *where)
{
	char *path = where != NULL ? dirs_in_workspace(basis->workspace, basis->subdir, where) : NULL;

	if (path != NULL && !strings_contain(*list, path))
		strings_append(list, path);
	free(path);
}

char **review_basis_files(const struct review_basis *basis)
{
	static const enum role roles[] = { ROLE_IMPLEMENT, ROLE_REVIEW, ROLE_FIX, ROLE_COMMIT };
	const struct plan *plan = basis->plan;
	char **list = NULL;

	/* a retry has the settings of its first run */
	if (basis->retry_of == ROW_NONE)
		add_file(&list, basis, PROJECT_FILE);
	for (size_t i = 0; plan != NULL && i < sizeof(roles) / sizeof(roles[0]); i++) {
		char *path = xasprintf("%s/.ai_agents/prompts/%s", basis->workspace, prompt_file_name(roles[i]));

		add_file(&list, basis, path);
		free(path);
	}
	add_file(&list, basis, plan != NULL ? plan->reviewer_prompt : NULL);
	add_file(&list, basis, plan != NULL && plan->reviewer != NULL && plan->reviewer[0] == '/' ?
	    plan->reviewer : NULL);
	for (char **pair = plan != NULL ? plan->guidelines : NULL; pair != NULL && pair[0] != NULL; pair += 2)
		add_file(&list, basis, pair[0]);
	for (char **name = plan != NULL ? plan->conventions : NULL; name != NULL && *name != NULL; name++)
		add_file(&list, basis, *name);
	return list;
}

/* Content in git's sense: of a link its target. NULL: missing, or unreadable. */
static char *content_of(char *const *read_as, const char *path, size_t *size)
{
	char *text = NULL;
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) == -1)
		return NULL;
	if (S_ISREG(st.st_mode))
		return file_read_as(read_as, path, true, FILE_MAX, &text, size) == 0 ? text : NULL;
	text = S_ISLNK(st.st_mode) ? xcalloc((size_t)st.st_size + 1, 1) : NULL;
	n = text != NULL ? readlink(path, text, (size_t)st.st_size + 1) : -1;
	*size = n >= 0 ? (size_t)n : 0;
	return text;
}

/* "SHA-1 SHA-256 name", the ids that git would give the file; "- - name": there is none. */
static char *describe(const struct review_basis *basis, const char *name)
{
	char *path = xasprintf("%s/%s", basis->workspace, name), *object, *head, *line;
	char sha1[SHA1_DIGEST_STRING_LENGTH], sha256[SHA256_DIGEST_STRING_LENGTH];
	size_t size = 0, n;
	char *text = content_of(basis->read_as, path, &size);

	free(path);
	if (text == NULL)
		return xasprintf("- - %s", name);
	head = xasprintf("blob %zu", size);
	n = strlen(head) + 1;
	object = xcalloc(n + size, 1);
	memcpy(object, head, n);
	memcpy(object + n, text, size);
	SHA1Data((const uint8_t *)object, n + size, sha1);
	SHA256Data((const uint8_t *)object, n + size, sha256);
	line = xasprintf("%s %s %s", sha1, sha256, name);
	free(object);
	free(head);
	free(text);
	return line;
}

/* As they are now. NULL: none. */
static char *describe_files(const struct review_basis *basis)
{
	char **list = review_basis_files(basis), *text = NULL;
	json_t *lines = json_array();

	for (char **name = list; name != NULL && *name != NULL; name++) {
		char *line = describe(basis, *name);

		/* a name that is no UTF-8 cannot be told */
		json_array_append_new(lines, json_string(line));
		free(line);
	}
	if (json_array_size(lines) > 0)
		text = json_dumps(lines, JSON_COMPACT);
	json_decref(lines);
	strings_free(list);
	return text;
}

/* ---- Markdown of the user and of the project ---- */

/* An unreadable file is an error. Links are followed: AGENTS.md is often a link to CLAUDE.md. NULL:
 * no such file. */
static char *read_markdown(struct review_basis *basis, const char *dir, const char *name, size_t *size)
{
	char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name), *text = NULL;
	int rv = file_read_as(dir != basis->config_dir ? basis->read_as : NULL, path, false, MARKDOWN_MAX, &text, size);

	if (rv != 0 && rv != -ENOENT && rv != -ENOTDIR)
		refuse(basis, NULL, xasprintf("%s: %s", path, host_words(-rv)));
	else if (text != NULL && memchr(text, '\0', *size) != NULL)
		refuse(basis, NULL, xasprintf("%s contains a NUL byte", path));
	free(path);
	return text;
}

/* False: no such file. shown: its name in a warning. */
static bool add_section(struct review_basis *basis, struct buf *out, const char *dir,
    const char *name, const char *heading, const char *shown)
{
	size_t size = 0;
	char *text = read_markdown(basis, dir, name, &size), *section;

	if (text == NULL)
		return false;
	section = prompt_section((struct span){ text, size }, heading);
	if (section != NULL)
		buf_addf(out, "%s%s\n", out->size > 0 ? "\n" : "", section);
	else
		warn(basis, xasprintf("%s has no section %s, so the reviewer gets no guidelines from "
		    "it; add that heading, or name another section in review.guidelines", shown, heading));
	free(section);
	free(text);
	return true;
}

/* Warn if none of the files in a user's list exists: a typo would go unnoticed. */
static void warn_of_nothing(struct review_basis *basis, const char *path, char *const *words,
    size_t step, const char *usual)
{
	struct buf names = { 0 };

	if (words == NULL || words[0] == NULL || plan_words_are(words, usual))
		return;
	for (size_t i = 0; words[i] != NULL; i += step)
		buf_addf(&names, "%s%s", i > 0 ? ", " : "", words[i]);
	warn(basis, xasprintf("none of the files named by %s exists (%s), so the reviewer gets none; "
	    "create one, or correct the names", path, names.data));
	buf_release(&names);
}

/* The user's file first, then the project's, which is more specific. */
static void gather_guidelines(struct review_basis *basis, char *const *pairs, struct buf *out)
{
	bool found = false;

	for (size_t i = 0; pairs != NULL && pairs[i] != NULL && pairs[i + 1] != NULL; i += 2) {
		const char *name = pairs[i], *config_dir = name[0] != '/' ? basis->config_dir : NULL;
		char *users = config_dir != NULL ? xasprintf("%s/%s", config_dir, name) : NULL;

		if (users != NULL)
			found |= add_section(basis, out, config_dir, name, pairs[i + 1], users);
		found |= add_section(basis, out, basis->workdir, name, pairs[i + 1], name);
		free(users);
	}
	if (!found)
		warn_of_nothing(basis, "review.guidelines", pairs, 2, GUIDELINES_DEFAULT);
}

static void gather_conventions(struct review_basis *basis, char *const *names, struct buf *out)
{
	bool found = false;

	for (char *const *name = names; name != NULL && *name != NULL; name++) {
		size_t size = 0;
		char *text = read_markdown(basis, basis->workdir, *name, &size);

		if (text != NULL) {
			buf_addf(out, "%s### %s\n\n", out->size > 0 ? "\n" : "", *name);
			buf_add(out, text, size);
			buf_adds(out, "\n");
			found = true;
		}
		free(text);
	}
	if (!found)
		warn_of_nothing(basis, "review.conventions", names, 1, CONVENTIONS_DEFAULT);
}

/* ---- the judge ---- */

/* NULL: nothing was gathered. */
static char *take(struct buf *text)
{
	size_t size;

	return text->size > 0 ? buf_take(text, &size) : NULL;
}

static void read_texts(struct review_basis *basis, struct judge_row *judge)
{
	const struct plan *plan = basis->plan;
	const unsigned sees = plan->profile->review_sees | plan->profile->fix_sees;
	struct buf guidelines = { 0 }, conventions = { 0 };
	char *error = NULL;
	size_t size = 0;

	judge->reviewer = template_find(ROLE_REVIEW, plan->reviewer_prompt, basis->workspace, basis->config_dir,
	    basis->read_as, &size, &error);
	if (error != NULL)
		refuse(basis, "reviewer_prompt", error);
	else if (judge->reviewer != NULL && memchr(judge->reviewer, '\0', size) != NULL)
		refuse(basis, "reviewer_prompt", xstrdup("the reviewer's prompt file contains a NUL byte"));
	if ((sees & PART_GUIDELINES) != 0)
		gather_guidelines(basis, plan->guidelines, &guidelines);
	if ((sees & PART_CONVENTIONS) != 0)
		gather_conventions(basis, plan->conventions, &conventions);
	judge->guidelines = take(&guidelines);
	judge->conventions = take(&conventions);
	buf_release(&guidelines);
	buf_release(&conventions);
}

/* The retried run may have changed the files, so what judged it judges again. False: nothing did,
 * for this profile. */
static bool take_over(struct review_basis *basis, struct judge_row *judge)
{
	const struct judge_row *kept = basis->kept;
	struct judge_row *old = NULL;

	if (basis->anew)
		return false;
	if (kept == NULL && basis->retry_of != ROW_NONE)
		kept = old = review_basis_old(basis->state_dir, basis->retry_of);
	if (kept == NULL || kept->profile == NULL || strcmp(kept->profile, basis->plan->profile_name) != 0) {
		row_free(ROW_JUDGE, old);
		return false;
	}
	row_assign(ROW_JUDGE, judge, kept);
	text_set(&judge->files, NULL);
	judge->kept_from = basis->retry_of;
	row_free(ROW_JUDGE, old);
	return true;
}

/* A text of an earlier version's run. An unreadable one must not be taken for none. */
static bool read_old(const char *dir, const char *name, char **text)
{
	char *path = xasprintf("%s/%s", dir, name);
	size_t size;
	int rv = file_read(AT_FDCWD, path, FILE_MAX, text, &size);

	free(path);
	return rv == 0 || rv == -ENOENT;
}

struct judge_row *review_basis_old(const char *state_dir, int64_t run)
{
	struct judge_row *judge = row_new(ROW_JUDGE);
	char *dir = dirs_run(state_dir, run);
	/* "judgement" has the name of the profile; it was written last, so it proves the rest */
	bool whole = read_old(dir, "judgement", &judge->profile) && judge->profile != NULL &&
	    read_old(dir, "reviewer.md", &judge->reviewer) &&
	    read_old(dir, "guidelines.md", &judge->guidelines) &&
	    read_old(dir, "conventions.md", &judge->conventions);

	free(dir);
	if (whole)
		return judge;
	row_free(ROW_JUDGE, judge);
	return NULL;
}

struct judge_row *review_basis_read(struct review_basis *basis)
{
	struct judge_row *judge = row_new(ROW_JUDGE);

	if (basis->plan == NULL || !take_over(basis, judge)) {
		judge->files = describe_files(basis);
		if (basis->plan != NULL) {
			judge->profile = xstrdup(basis->plan->profile_name);
			read_texts(basis, judge);
		}
	}
	return judge;
}
