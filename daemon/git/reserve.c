/* SPDX-License-Identifier: MIT */
/* A branch that is the run's alone, although other daemons may work in the repository and number their runs alike. Each writes
 * its instance into branch.NAME.rldInstance before it creates the branch, and creating is atomic: so a branch that exists, has only
 * our instance there and is where it was to be made is ours, from an earlier begin of this operation. Any other is
 * taken, and NAME-<instance> is tried instead. A configuration that cannot be written costs no more than that suffix. */
#include <stdlib.h>
#include <string.h>

#include "git/lock.h"
#include "git/op_int.h"
#include "git/registration.h"
#include "proto/escape.h"

#define TRIES 5			/* at most, while another git locks or creates the same */
#define YIELD 3			/* ... of which as many for a name that another has claimed, too */

/* Takes format's result. */
static void add_word(struct git_op *op, char *word)
{
	strings_append(&op->words, word);
	free(word);
}

static void add_key(struct git_op *op)
{
	add_word(op, xasprintf("branch.%s.rldInstance", op->branch));
}

/* The one that the branch is made at. */
static const char *start_of(const struct git_op *op)
{
	return op->kind == GIT_BASE ? op->commit : op->given_commit;
}

static enum stage look(struct git_op *op)
{
	add_word(op, xasprintf("refs/heads/%s", op->branch));
	return STAGE_BRANCH;
}

static void take_suffix(struct git_op *op)
{
	char *name = xasprintf("%s-%s", op->branch, op->instance);

	free(op->branch);
	op->branch = name;
	op->suffixed = true;
	op->tries = 0;
}

void reserve_recall(struct git_op *op)
{
	char *registration, *head, *want;

	if (op->instance == NULL || op->given_commit == NULL)
		return;
	registration = registration_find(op->common, op->dir);
	head = registration != NULL ? registration_line(registration, "HEAD") : NULL;
	want = xasprintf("ref: refs/heads/%s-%s", op->branch, op->instance);
	if (head != NULL && strcmp(head, want) == 0)
		take_suffix(op);
	free(want);
	free(head);
	free(registration);
}

enum stage reserve_start(struct git_op *op)
{
	return look(op);
}

/* ---- whose it is ---- */

static enum stage taken(struct git_op *op)
{
	char *shown = text_escape(op->branch, strlen(op->branch), false);

	op_fail(op, xasprintf("branch %s in %s is there already, and it is not of this run but of another rld or an earlier state directory; "
	    "take what you need of it, rename it with `git branch -m`, or delete it, then retry the run", shown, op->workspace));
	free(shown);
	return STAGE_NONE;
}

static enum stage claim(struct git_op *op)
{
	add_key(op);
	add_word(op, xstrdup(op->instance));
	add_word(op, xasprintf("^%s$", op->instance));
	return STAGE_CLAIM;
}

/* It is ours: at tip, or to be created. */
static enum stage reserved(struct git_op *op)
{
	if (op->kind == GIT_WORKTREE)
		return worktree_named(op, op->branch_tip);
	if (op->branch_tip != NULL)
		return STAGE_NONE;
	add_word(op, xasprintf("refs/heads/%s", op->branch));
	add_word(op, xstrdup(op->commit));
	add_word(op, xstrdup(""));	/* it must not be there */
	return STAGE_RESERVE;
}

/* Lines "ref commit" of the branch and of what is below its name, where no branch of that name can be. */
enum stage branch_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	size_t name = strlen("refs/heads/") + strlen(op->branch);

	(void)ok, (void)size;
	free(op->branch_tip);
	op->branch_tip = data[0] != '\0' && data[name] == ' ' ? xmemdup0(data + name + 1, strcspn(data + name + 1, "\n")) : NULL;
	op->branch_blocked = data[0] != '\0' && op->branch_tip == NULL;
	if (op->instance == NULL && op->kind == GIT_BASE)
		return data[0] != '\0' ? taken(op) : STAGE_NONE;
	if (op->instance == NULL || start_of(op) == NULL || worktree_has(op))
		return worktree_named(op, op->branch_tip);
	if (data[0] == '\0' && op->tries == 0)
		return claim(op);
	add_key(op);
	return STAGE_CLAIMS;
}

static enum stage next(struct git_op *op)
{
	if (op->suffixed)
		return taken(op);
	take_suffix(op);
	return look(op);
}

/* The instances that have claimed it, a line each. */
enum stage claims_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	size_t length = strlen(op->instance);
	bool mine = false, others = false, ours;

	(void)ok, (void)size;
	for (const char *p = data; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		bool own = strncmp(p, op->instance, length) == 0 && p[length] == '\n';

		mine |= own;
		others |= !own;
	}
	ours = mine && !others;
	if (op->kind == GIT_CLEAR)
		return ours ? clear_branch(op) : STAGE_NONE;
	if (op->branch_blocked || (others && op->tries >= YIELD) || (op->branch_tip != NULL && (!ours || strcmp(op->branch_tip, start_of(op)) != 0))) {
		if (!mine)
			return next(op);
		add_key(op);
		add_word(op, xasprintf("^%s$", op->instance));
		return STAGE_UNCLAIM;
	}
	if (op->branch_tip != NULL)
		return reserved(op);
	if (ours) {
		/* nobody else has begun to create it: the lock is of a git of ours that was killed */
		char *ref = xasprintf("refs/heads/%s", op->branch);

		lock_remove_ref(op->common, ref);
		free(ref);
	}
	return claim(op);
}

enum stage unclaim_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return next(op);
}

enum stage claim_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *said = ok ? NULL : op_said(op);
	bool locked = said != NULL && strstr(said, "File exists") != NULL;

	(void)data, (void)size;
	free(said);
	if (locked && op->locked++ < TRIES)
		return claim(op);
	return reserved(op);
}

/* ---- creating it ---- */

enum stage reserve_again(struct git_op *op)
{
	static const char *const signs[] = { "already exists", "File exists", "but expected", "failed to read" };
	char *said = op_said(op);
	bool again = false;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		again |= strstr(said, signs[i]) != NULL;
	free(said);
	return op->instance != NULL && again && ++op->tries < TRIES ? look(op) : op_process_failed(op);
}

enum stage reserve_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	return ok ? STAGE_NONE : reserve_again(op);
}

enum stage reserve_forget(struct git_op *op)
{
	add_word(op, xasprintf("branch.%s", op->branch));
	return STAGE_FORGET;
}
