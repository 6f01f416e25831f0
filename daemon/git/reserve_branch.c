/* SPDX-License-Identifier: MIT */
/* Reserves a branch for the run, although other daemons may work in the repository and use the same
 * run numbers. Each writes its instance to branch.NAME.rldInstance before it creates the branch,
 * and creation is atomic: so a branch that exists, has only our instance there and is at the
 * expected commit is ours, from an earlier start of this operation. Any other is taken, and
 * NAME-<instance> is tried instead. A read-only configuration only leads to that suffix. */
#include <stdlib.h>
#include <string.h>

#include "child/child.h"
#include "git/lock.h"
#include "git/operations.h"
#include "git/worktree_admin.h"
#include "proto/escape.h"

#define TRIES 5			/* limit while another git locks or creates the same branch */
/* ... of these, tries for a name that another instance has claimed, too */
#define YIELD 3

static char *key_of(const struct git_op *op)
{
	return xasprintf("branch.%s.rldInstance", op->result.branch);
}

static void take_suffix(struct git_op *op)
{
	char *name = xasprintf("%s-%s", op->result.branch, op->spec.instance);

	free(op->result.branch);
	op->result.branch = name;
}

void branch_recall(struct git_op *op)
{
	char *admin, *head, *want;

	if (op->spec.instance == NULL || op->spec.commit == NULL)
		return;
	admin = worktree_admin_find(op->common, op->spec.dir);
	head = admin != NULL ? worktree_admin_line(admin, "HEAD") : NULL;
	want = xasprintf("ref: refs/heads/%s-%s", op->result.branch, op->spec.instance);
	if (head != NULL && strcmp(head, want) == 0)
		take_suffix(op);
	free(want);
	free(head);
	free(admin);
}

/* ---- the owner of a branch ---- */

static int fail_taken(struct git_op *op)
{
	char *shown = text_escape(op->result.branch, strlen(op->result.branch), false);

	git_fail(op, xasprintf("branch %s in %s exists already and belongs to another rld or an "
	    "earlier state directory; save what you need of it, rename it with `git branch -m`, or "
	    "delete it, then retry the run",
	    shown, op->spec.workspace));
	free(shown);
	return -1;
}

/* Find the commit of result.branch, and whether a branch below its name prevents its creation. */
static int inspect_branch(struct git_op *op, struct branch *b)
{
	char *ref = xasprintf("refs/heads/%s", op->result.branch);
	size_t name = strlen(ref);
	const char *data;
	int rv = git_run(op, 0, "for-each-ref", "--format=%(refname) %(objectname)", ref);

	free(ref);
	data = git_out(op);
	free(b->tip);
	b->tip = rv == 0 && data[0] != '\0' && data[name] == ' ' ?
	    xmemdup0(data + name + 1, strcspn(data + name + 1, "\n")) : NULL;
	b->blocked = rv == 0 && data[0] != '\0' && b->tip == NULL;
	return rv;
}

struct claims {
	bool mine, foreign;
};

/* The instances that have claimed it, one per line. */
static int read_claims(struct git_op *op, struct claims *claims)
{
	char *key = key_of(op);
	size_t length = strlen(op->spec.instance);
	int rv = git_run(op, GIT_MAY_FAIL, "config", "--local", "--get-all", key);

	free(key);
	*claims = (struct claims){ 0 };
	if (rv == -1)
		return -1;
	for (const char *p = git_out(op); *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		bool own = strncmp(p, op->spec.instance, length) == 0 && p[length] == '\n';

		claims->mine |= own;
		claims->foreign |= !own;
	}
	return 0;
}

int branch_is_ours(struct git_op *op)
{
	struct claims claims;

	return read_claims(op, &claims) == -1 ? -1 : claims.mine && !claims.foreign;
}

/* A read-only configuration only leads to the suffix. */
static int add_claim(struct git_op *op, struct branch *b)
{
	char *key = key_of(op), *value = xasprintf("^%s$", op->spec.instance);
	int rv;

	do {
		rv = git_run(op, GIT_MAY_FAIL, "config", "--local", "--replace-all", key, op->spec.instance, value);
	} while (rv == 1 && op->end.err.data != NULL &&
	    strstr(op->end.err.data, "File exists") != NULL && b->locked++ < TRIES);
	free(value);
	free(key);
	return rv == -1 ? -1 : 0;
}

/* The next name. mine: we have claimed this one. */
static int give_way(struct git_op *op, struct branch *b, bool mine)
{
	char *key = key_of(op), *value = xasprintf("^%s$", op->spec.instance);
	int rv = mine ? git_run(op, GIT_MAY_FAIL, "config", "--local", "--unset-all", key, value) : 0;

	free(value);
	free(key);
	if (rv == -1)
		return -1;
	if (b->suffixed)
		return fail_taken(op);
	take_suffix(op);
	b->suffixed = true;
	b->tries = 0;
	return 0;
}

int branch_claim(struct git_op *op, struct branch *b, const char *start, bool taken)
{
	b->suffixed = b->suffixed || (op->spec.branch != NULL && strcmp(op->spec.branch, op->result.branch) != 0);
	for (;;) {
		struct claims claims;
		bool ours;

		if (inspect_branch(op, b) != 0)
			return -1;
		if (op->spec.instance == NULL || start == NULL || taken)
			return 0;
		if (b->tip == NULL && !b->blocked && b->tries == 0)
			return add_claim(op, b);
		if (read_claims(op, &claims) != 0)
			return -1;
		ours = claims.mine && !claims.foreign;
		if (b->blocked || (claims.foreign && b->tries >= YIELD) ||
		    (b->tip != NULL && (!ours || strcmp(b->tip, start) != 0))) {
			if (give_way(op, b, claims.mine) != 0)
				return -1;
			continue;
		}
		if (b->tip != NULL)
			return 0;
		if (ours) {
			/* no other process creates it: the lock was left by a killed git of ours */
			char *ref = xasprintf("refs/heads/%s", op->result.branch);
			gid_t group = child_open_as_agents();

			lock_remove_ref(op->common, ref);
			child_open_as(group);
			free(ref);
		}
		return add_claim(op, b);
	}
}

/* ---- creating it ---- */

int branch_try_again(struct git_op *op, struct branch *b)
{
	static const char *const signs[] = { "already exists", "File exists", "but expected", "failed to read" };
	bool again = false;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]) && op->end.err.data != NULL; i++)
		again |= strstr(op->end.err.data, signs[i]) != NULL;
	return op->spec.instance != NULL && again && ++b->tries < TRIES ? 0 : git_fail_process(op);
}

int branch_reserve(struct git_op *op, const char *commit)
{
	struct branch b = { 0 };
	char *ref = NULL;
	int rv;

	do {
		rv = branch_claim(op, &b, commit, false);
		if (rv != 0 || op->spec.instance == NULL || b.tip != NULL)
			break;
		free(ref);
		ref = xasprintf("refs/heads/%s", op->result.branch);
		/* it must not exist */
		rv = git_run(op, GIT_MAY_FAIL, "update-ref", "--no-deref", ref, commit, "");
	} while (rv == 1 && branch_try_again(op, &b) == 0);
	if (rv == 0 && op->spec.instance == NULL && (b.tip != NULL || b.blocked))
		rv = fail_taken(op);
	free(b.tip);
	free(ref);
	return rv == 0 ? 0 : -1;
}

int branch_forget(struct git_op *op)
{
	char *section = xasprintf("branch.%s", op->result.branch);
	int rv = git_run(op, GIT_MAY_FAIL, "config", "--local", "--remove-section", section);

	free(section);
	return rv == -1 ? -1 : 0;
}
