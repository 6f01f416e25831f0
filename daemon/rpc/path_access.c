/* SPDX-License-Identifier: MIT */
#include "rpc/path_access.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/peer_file.h"
#include "core/row.h"
#include "git/gitdir.h"
#include "git/toplevel.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "rpc/request.h"

const struct peer *path_access_peer(const struct call *call)
{
	const struct caller *caller = link_caller(call_link(call));

	return caller->rank == RANK_ADMIN ? NULL : &caller->peer;
}

char **path_access_read_as(const struct path_access *access, const struct plan *own)
{
	const char *const prompts[] = { own != NULL ? own->developer_prompt : NULL,
		own != NULL ? own->reviewer_prompt : NULL };

	return access->peer != NULL ? read_as_peer(access->peer, prompts, sizeof(prompts) / sizeof(prompts[0])) : NULL;
}

bool path_access_check(struct path_access *access, const char *field, const char *path, int mode)
{
	if (access->text != NULL || access->peer == NULL || path == NULL ||
	    peer_access(access->peer, path, mode) == 0)
		return access->text == NULL;
	access->field = field;
	access->text = xasprintf("%s: uid %u may not %s it, and the daemon does nothing for a user that this user may "
	    "not do", path, (unsigned)access->peer->uid, (mode & W_OK) != 0 ? "write" : "read");
	return false;
}

bool path_access_project(struct path_access *access, const char *workdir)
{
	char *file = workdir != NULL ? xasprintf("%s/" PROJECT_FILE, workdir) : NULL;
	struct stat st;

	if (path_access_check(access, "workdir", workdir, R_OK | X_OK) && file != NULL && lstat(file, &st) == 0)
		path_access_check(access, "workdir", file, R_OK);
	free(file);
	return access->text == NULL;
}

void path_access_read(const struct path_access *access, struct project_text *out, const char *workdir)
{
	char **read_as = path_access_read_as(access, NULL);

	project_read(out, workdir, read_as);
	strings_free(read_as);
}

/* A work tree may have its git directory anywhere. */
bool path_access_workdir(struct path_access *access, const char *workdir)
{
	char *top = NULL, *dirs[2] = { NULL, NULL };

	if (access->peer == NULL || !path_access_check(access, "workdir", workdir, R_OK | W_OK | X_OK) ||
	    !path_access_project(access, workdir))
		return access->text == NULL;
	if (git_toplevel(workdir, &top) == 0 && top != NULL) {
		path_access_check(access, "workdir", top, R_OK | W_OK | X_OK);
		dirs[0] = git_dir_own(top);
		dirs[1] = git_dir_common(top);
	}
	for (int i = 0; i < 2; i++) {
		char *inside = top != NULL ? xasprintf("%s/.git", top) : NULL;
		struct stat st;

		if (dirs[i] != NULL &&
		    (strcmp(dirs[i], inside) != 0 || lstat(inside, &st) == -1 || !S_ISDIR(st.st_mode)))
			path_access_check(access, "workdir", dirs[i], R_OK | W_OK | X_OK);
		free(inside);
		free(dirs[i]);
	}
	free(top);
	return access->text == NULL;
}

/* path: of the run; own: the same of the daemon's settings. A relative one is below the workdir. */
static void check_setting(struct path_access *access, const char *field, const char *path, const char *own,
    const char *workdir, int mode)
{
	char *whole;

	if (path == NULL || path[0] == '\0' || text_equal(path, own))
		return;
	whole = path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", workdir, path);
	path_access_check(access, field, whole, mode);
	free(whole);
}

/* Links below the workdir may lead anywhere. */
static void check_links(struct path_access *access, const struct plan *plan, const char *workdir)
{
	for (char **pair = plan->guidelines; pair != NULL && pair[0] != NULL && pair[1] != NULL; pair += 2)
		check_setting(access, "review.guidelines", pair[0], NULL, workdir, R_OK);
	for (char **name = plan->conventions; name != NULL && *name != NULL; name++)
		check_setting(access, "review.conventions", *name, NULL, workdir, R_OK);
}

static void check_prompts(struct path_access *access, const char *workdir)
{
	char *top = NULL;

	if (git_toplevel(workdir, &top) == -1 || top == NULL)
		top = xstrdup(workdir);
	for (int role = 0; role < ROLES; role++) {
		const char *name = prompt_file_name((enum role)role);
		char *path = name != NULL ? xasprintf("%s/.ai_agents/prompts/%s", top, name) : NULL;

		path_access_check(access, "workdir", path, R_OK);
		free(path);
	}
	free(top);
}

bool path_access_plan(struct path_access *access, const struct plan *plan, const struct plan *own,
    const char *workdir)
{
	char *folder;

	if (access->peer == NULL)
		return true;
	check_setting(access, "developer_prompt", plan->developer_prompt, own->developer_prompt, workdir, R_OK);
	check_setting(access, "reviewer_prompt", plan->reviewer_prompt, own->reviewer_prompt, workdir, R_OK);
	check_setting(access, "review_log", plan->review_log, own->review_log, workdir, W_OK | X_OK);
	if (plan->reviewer != NULL && plan->reviewer[0] == '/')
		check_setting(access, "reviewer", plan->reviewer, own->reviewer, workdir, R_OK | X_OK);
	if (plan->report != NULL) {
		/* it is put in place by a rename */
		folder = xmemdup0(plan->report, (size_t)(strrchr(plan->report, '/') - plan->report) + 1);
		path_access_check(access, "report", folder, W_OK | X_OK);
		free(folder);
	}
	check_links(access, plan, workdir);
	check_prompts(access, workdir);
	return access->text == NULL;
}
