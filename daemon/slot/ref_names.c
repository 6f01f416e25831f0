/* SPDX-License-Identifier: MIT */
/* Names of refs and branches in a repository: refs/rl/<instance>/<kind>/<run>[/<task>], and
 * branches rl/<run>... Several daemons may use one repository, each numbering its runs from 1: the
 * instance identifies the state directory. Runs started by an earlier version have none, and keep
 * their names. */
#include "slot/ref_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "git/git_op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"

/* An id as part of a ref or branch name: what git or a file system does not allow is
 * percent-encoded, what is too long is cut. */
static char *part_of(const char *id)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	struct buf b = { 0 };

	for (const char *p = id; *p != '\0'; p++) {
		bool dot = *p == '.' && p > id && p[1] != '\0' && p[1] != '.' && strcmp(p, ".lock") != 0;

		if (dot || (strchr(plain, *p) != NULL && !(*p == '-' && p == id)))
			buf_add(&b, p, 1);
		else
			buf_addf(&b, "%%%02X", (unsigned char)*p);
	}
	return name_fit(b.data, id);
}

/* "refs/rl/3f2a9c01/base/42" */
static char *ref_of_run(const struct run_row *run, const char *kind)
{
	return run->instance != NULL ? xasprintf("refs/rl/%s/%s/%lld", run->instance, kind, (long long)run->id) :
	    xasprintf("refs/rl/%s/%lld", kind, (long long)run->id);
}

/* "refs/rl/3f2a9c01/passed/42/t1" */
static char *ref_of_task(const struct slot *slot, const char *kind)
{
	char *part = part_of(slot_task_id(slot)), *run = ref_of_run(&slot->run->rows->run, kind),
	    *ref = xasprintf("%s/%s", run, part);

	free(run);
	free(part);
	return ref;
}

/* "refs/rl/3f2a9c01/beside/42/1-2": visible to reviewers, of whom those of profile "comments" must
 * not know the task. */
static char *ref_of_slot(const struct slot *slot, const char *kind)
{
	char *run = ref_of_run(&slot->run->rows->run, kind),
	    *ref = xasprintf("%s/%lld-%lld", run, (long long)slot->row->iteration,
	    (long long)slot->row->slot);

	free(run);
	return ref;
}

char *git_ref(const struct slot *slot, enum git_op_kind kind)
{
	const struct run_row *run = &slot->run->rows->run;

	switch (kind) {
	case GIT_PIN:
		return slot->row == NULL ? ref_of_run(run, "base") : ref_of_task(slot, "passed");
	case GIT_SNAPSHOT:
		return run_is_prepared(slot->run) ? NULL : ref_of_run(run, "base");
	case GIT_BASE:
		return ref_of_run(run, "base");
	case GIT_MERGE:
		return xasprintf("refs/heads/%s", run->result_branch);
	case GIT_WORKTREE_REMOVE:
		return ref_of_task(slot, "salvage");
	case GIT_VERIFY:
	case GIT_FIND_EDITS:
		return ref_of_slot(slot, "beside");
	case GIT_WORKTREE_DELETE:
	case GIT_MEASURE:
	case GIT_CHECKOUT:
	case GIT_PREPARE:
	case GIT_COMMIT:
	case GIT_WORKTREE_ADD:
	case GIT_ADOPT_COMMITS:
	case GIT_INSPECT_HEAD:
	case GIT_COMPARE_REFS:
	case GIT_OPS:
		break;
	}
	return NULL;
}

char *git_keep_ref(const struct slot *slot)
{
	return ref_of_task(slot, "before-merge");
}

char *git_note_ref(const struct slot *slot)
{
	return ref_of_task(slot, slot->run->rows->run.instance != NULL ? "merged" : "merged/before-merge");
}

char *git_result_branch(int64_t run)
{
	return xasprintf("rl/%lld-result", (long long)run);
}

/* Slot 0 has that of the whole run. Profile "comments" must not know the task. */
char *git_branch(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);
	char *part, *name;

	if (slot->row->slot == 0)
		return xstrdup(slot->run->rows->run.result_branch);
	if (plan->review && plan->profile->no_task)
		return xasprintf("rl/%lld/%lld-%lld", (long long)slot->row->run,
		    (long long)slot->row->iteration, (long long)slot->row->slot);
	part = part_of(slot_task_id(slot));
	name = xasprintf("rl/%lld/%s", (long long)slot->row->run, part);
	free(part);
	return name;
}
