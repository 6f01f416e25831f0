/* SPDX-License-Identifier: MIT */
/* What each stage runs: the words of its process, where it runs and what is done with its output. */
#include <stdlib.h>
#include <string.h>

#include "git/gitdir.h"
#include "git/merge.h"
#include "git/op_int.h"

#define PATCH_KEEP (64 * 1024 * 1024)	/* of a patch: head and tail */
#define WORDS_KEEP (256 * 1024)		/* of what a hook says, likewise */

static result_fn last_done;

const struct stage_spec stages[STAGES] = {
	[STAGE_BESIDE] = { "ls-tree", { "ls-tree", "-r", "-z", "--full-tree" }, { ARG_BESIDE }, READ, 0, beside_done },
	[STAGE_LIST] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard" }, { 0 }, READ | AGAIN | FILES, 0, list_done },
	[STAGE_JUDGES] = { "ls-tree", { "ls-tree", "-z", "--full-tree", "HEAD", "--" }, { 0 }, READ | MAY_FAIL, 0, judges_done },
	[STAGE_IN_HEAD] = { "ls-tree", { "ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--" }, { ARG_ARTIFACT }, READ | MAY_FAIL, 0, in_head_done },
	[STAGE_HEAD] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD" }, { 0 }, READ | MAY_FAIL, 0, head_done },
	[STAGE_INSIDE] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard" }, { 0 }, READ | AGAIN | INSIDE | FILES, 0, inside_done },
	[STAGE_HASH] = { "hash-object", { "hash-object", "-w", "--no-filters", "--stdin-paths" }, { 0 }, READ | AGAIN | FILES, 0, hash_done },
	[STAGE_OTHERS] = { "ls-tree", { "ls-tree", "-r", "-z", "--full-tree", "--" }, { ARG_OTHERS }, READ, 0, others_done },
	[STAGE_INDEX] = { "update-index", { "update-index", "-z", "--index-info" }, { 0 }, INDEX, 0, index_done },
	/* missing-ok: every object was just written or is the repository's own; a partial clone must not fetch. */
	[STAGE_TREE] = { "write-tree", { "write-tree", "--missing-ok" }, { 0 }, INDEX | READ, 0, tree_done },
	/* ignore-submodules: .gitmodules may say that they are to be overlooked. */
	[STAGE_HOOKS] = { "rev-parse", { "rev-parse", "--path-format=absolute", "--git-path", "hooks" }, { 0 }, READ | HOOKED, 0, rehearse_hooks_done },
	[STAGE_PATCH] = { "diff-tree", { "diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
	    "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none" }, { ARG_GIVEN, ARG_TREE }, INDEX, PATCH_KEEP, last_done },
	[STAGE_COMPARE] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none" }, { ARG_GIVEN, ARG_TREE }, INDEX | READ, 0, compare_done },
	[STAGE_BESIDE_INDEX] = { "update-index", { "update-index", "-z", "--index-info" }, { 0 }, INDEX, 0, beside_index_done },
	[STAGE_BESIDE_TREE] = { "write-tree", { "write-tree", "--missing-ok" }, { 0 }, INDEX | READ, 0, beside_tree_done },
	[STAGE_BESIDE_PIN] = { "update-ref", { "update-ref", "--no-deref" }, { ARG_REF, ARG_BESIDE }, 0, 0, beside_pin_done },
	[STAGE_PIN] = { "update-ref", { "update-ref", "--no-deref" }, { ARG_REF, ARG_TREE }, 0, 0, pin_done },
	[STAGE_PIN_NAMED] = { "rev-parse", { "rev-parse", "--verify", "-q" }, { 0 }, READ | MAY_FAIL, 0, pin_named_done },
	[STAGE_ENTRIES] = { "ls-tree", { "ls-tree", "-r", "-z", "--full-tree" }, { ARG_TREE }, READ, 0, entries_done },
	[STAGE_BLOBS] = { "cat-file", { "cat-file", "--batch", "--buffer" }, { 0 }, 0, 0, blobs_done },
	[STAGE_CHANGES] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none" }, { ARG_BASE, ARG_TREE }, READ, 0, changes_done },
	[STAGE_TIP] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ | MAY_FAIL, 0, tip_done },
	[STAGE_TIP_TEXT] = { "cat-file", { "cat-file", "commit" }, { ARG_TIP }, READ, 0, tip_text_done },
	[STAGE_READ] = { "read-tree", { "read-tree" }, { ARG_TIP }, INDEX, 0, read_done },
	[STAGE_REMOVE] = { "update-index", { "update-index", "--force-remove", "-z", "--stdin" }, { 0 }, INDEX, 0, remove_done },
	[STAGE_ADD] = { "update-index", { "update-index", "--add", "--replace", "-z", "--stdin" }, { 0 }, INDEX | FILES, 0, add_done },
	[STAGE_ADD_OTHERS] = { "update-index", { "update-index", "-z", "--index-info" }, { 0 }, INDEX, 0, add_others_done },
	[STAGE_STAGED] = { "diff-index", { "diff-index", "--cached", "-z", "--name-only", "--ignore-submodules=none" }, { ARG_TIP }, INDEX | READ, 0, staged_done },
	[STAGE_IDENT] = { "var", { "var", "GIT_COMMITTER_IDENT" }, { 0 }, MAY_FAIL, 0, ident_done },
	[STAGE_PLANNED] = { "write-tree", { "write-tree", "--missing-ok" }, { 0 }, INDEX | READ, 0, planned_done },
	[STAGE_HOOK_BEFORE] = { "hook", { "hook", "run", "--ignore-missing", "pre-commit" }, { 0 }, INDEX | HOOKED | MAY_FAIL, WORDS_KEEP, hook_before_done },
	[STAGE_HOOK_PREPARE] = { "hook", { "hook", "run", "--ignore-missing", "prepare-commit-msg", "--" }, { 0 }, INDEX | HOOKED | MAY_FAIL, WORDS_KEEP, hook_prepare_done },
	[STAGE_HOOK_MESSAGE] = { "hook", { "hook", "run", "--ignore-missing", "commit-msg", "--" }, { 0 }, INDEX | HOOKED | MAY_FAIL, WORDS_KEEP, hook_message_done },
	[STAGE_AGREED] = { "write-tree", { "write-tree", "--missing-ok" }, { 0 }, INDEX | READ, 0, agreed_done },
	[STAGE_MEDDLED] = { "diff-tree", { "diff-tree", "-r", "-z", "--name-only", "--ignore-submodules=none" }, { 0 }, READ, 0, meddled_done },
	/* Its hooks have run: each is a process of its own. */
	[STAGE_COMMIT] = { "commit", { "-c", "core.hooksPath=/dev/null", "commit", "-q", "--cleanup=whitespace", "--no-status", "-F" }, { 0 }, INDEX | HOOKED, 0, commit_done },
	[STAGE_HOOK_AFTER] = { "hook", { "hook", "run", "--ignore-missing", "post-commit" }, { 0 }, INDEX | HOOKED | MAY_FAIL, WORDS_KEEP, last_done },
	[STAGE_MADE] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ, 0, made_done },
	[STAGE_CHECK] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--root", "--no-commit-id", "--ignore-submodules=none" }, { ARG_COMMIT }, READ, 0, check_done },
	[STAGE_HISTORY] = { "rev-list", { "rev-list", "--reverse", "--topo-order", "--parents" }, { 0 }, READ, 0, history_done },
	/* m: a merge may have what none of its parents has. */
	[STAGE_TOUCHED] = { "diff-tree", { "diff-tree", "--stdin", "-m", "-r", "-z", "--raw", "--root", "--ignore-submodules=none" }, { 0 }, READ, 0, touched_done },
	[STAGE_AHEAD] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none" }, { ARG_TIP, ARG_TREE }, READ, 0, ahead_done },
	[STAGE_DRIFT] = { "diff-tree", { "diff-tree", "-r", "-z", "--name-only", "--ignore-submodules=none" }, { ARG_GIVEN, ARG_TREE }, READ, 0, drift_done },
	[STAGE_ATTACH_LOOK] = { "merge-base", { "merge-base", "--is-ancestor" }, { 0 }, MAY_FAIL, 0, attach_look_done },
	[STAGE_ATTACH_MOVE] = { "update-ref", { "update-ref", "--no-deref" }, { 0 }, 0, 0, attach_move_done },
	[STAGE_ATTACH] = { "symbolic-ref", { "symbolic-ref", "HEAD" }, { 0 }, 0, 0, attach_done },
	/* -a: whatever an attribute says of a file */
	[STAGE_MARKS] = { "grep", { "grep", "-a", "-l", "-z", "-E", "--no-recurse-submodules", "-e",
	    "^(<<<<<<< " MERGE_INTEGRATED "|>>>>>>> " MERGE_TASK ")(:.*)?[[:space:]]*$" }, { 0 }, READ | MAY_FAIL, 0, marks_done },
	[STAGE_OWN_INDEX] = { "update-index", { "update-index", "-z", "--index-info" }, { 0 }, 0, 0, own_index_done },
	[STAGE_PLACE] = { "rev-parse", { "rev-parse", "--is-bare-repository", "--path-format=absolute", "--git-common-dir" }, { 0 }, READ, 0, place_done },
	[STAGE_KEPT] = { "for-each-ref", { "for-each-ref", "--format=%(refname) %(objectname) %(tree) %(parent)" }, { 0 }, READ, 0, kept_done },
	[STAGE_WHO] = { "var", { "var", "GIT_COMMITTER_IDENT" }, { 0 }, MAY_FAIL, 0, who_done },
	[STAGE_COMMIT_TREE] = { "commit-tree", { "commit-tree", "--no-gpg-sign" }, { 0 }, READ, 0, commit_tree_done },
	[STAGE_POINT] = { "update-ref", { "update-ref", "--no-deref" }, { ARG_REF, ARG_COMMIT }, 0, 0, point_done },
	[STAGE_BASE_TIP] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ | MAY_FAIL, 0, base_tip_done },
	[STAGE_NAMED] = { "rev-parse", { "rev-parse", "--verify", "-q", "--end-of-options" }, { 0 }, READ | MAY_FAIL, 0, named_done },
	[STAGE_MERGE_BASE] = { "merge-base", { "merge-base" }, { ARG_TIP }, READ | MAY_FAIL, 0, merge_base_done },
	[STAGE_BASE_TREE] = { "rev-parse", { "rev-parse", "--verify", "-q" }, { 0 }, READ, 0, base_tree_done },
	[STAGE_BASE_REMOVE] = { "update-index", { "update-index", "--force-remove", "-z", "--stdin" }, { 0 }, INDEX, 0, base_remove_done },
	[STAGE_BASE_ADD] = { "update-index", { "update-index", "--add", "--remove", "--replace", "-z", "--stdin" }, { 0 }, INDEX | FILTERED | AGAIN | FILES, 0, base_add_done },
	[STAGE_SUBMODULES] = { "ls-files", { "ls-files", "-s", "-z" }, { 0 }, READ, 0, submodules_done },
	[STAGE_BRANCH] = { "for-each-ref", { "for-each-ref", "--format=%(refname) %(objectname)" }, { 0 }, READ, 0, branch_done },
	[STAGE_CLAIMS] = { "config", { "config", "--local", "--get-all" }, { 0 }, READ | MAY_FAIL, 0, claims_done },
	[STAGE_CLAIM] = { "config", { "config", "--local", "--replace-all" }, { 0 }, MAY_FAIL, 0, claim_done },
	[STAGE_UNCLAIM] = { "config", { "config", "--local", "--unset-all" }, { 0 }, MAY_FAIL, 0, unclaim_done },
	[STAGE_RESERVE] = { "update-ref", { "update-ref", "--no-deref" }, { 0 }, MAY_FAIL, 0, reserve_done },
	[STAGE_FORGET] = { "config", { "config", "--local", "--remove-section" }, { 0 }, MAY_FAIL, 0, last_done },
	[STAGE_WORKTREE] = { "worktree", { "worktree", "add", "-q", "--lock", "--reason", "a task of rld works here" }, { 0 }, FILTERED | MAY_FAIL, 0, worktree_done },
	[STAGE_WORKTREE_HEAD] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ, 0, worktree_head_done },
	[STAGE_NOTE] = { "update-ref", { "update-ref", "--stdin" }, { 0 }, 0, 0, last_done },
	[STAGE_CLEAR_HEAD] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ | MAY_FAIL, 0, clear_head_done },
	[STAGE_CLEAR_BRANCH] = { "rev-parse", { "rev-parse", "--verify", "-q", "--end-of-options" }, { 0 }, READ | MAY_FAIL, 0, clear_branch_done },
	[STAGE_CLEAR_READ] = { "read-tree", { "read-tree" }, { ARG_TIP }, INDEX, 0, clear_read_done },
	/* What is ignored is work, too. */
	[STAGE_ALL] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z" }, { 0 }, READ | MAY_FAIL | FILES, 0, all_done },
	[STAGE_ALL_OURS] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z" }, { 0 }, INDEX | READ | FILES, 0, all_done },
	[STAGE_HELD] = { "ls-files", { "ls-files", "-z" }, { 0 }, INDEX | READ, 0, held_done },
	[STAGE_CLEAR_DIFF] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none" }, { ARG_TREE, ARG_TIP }, INDEX | READ, 0, clear_diff_done },
	[STAGE_NOTED] = { "for-each-ref", { "for-each-ref", "--format=%(refname) %(objectname)", WORKTREE_COMMIT, WORKTREE_TREE }, { 0 }, READ, 0, noted_done },
	[STAGE_SINCE_TREE] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none" }, { 0 }, INDEX | READ | MAY_FAIL, 0, since_tree_done },
	[STAGE_SINCE_COMMIT] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none" }, { 0 }, INDEX | READ | MAY_FAIL, 0, since_commit_done },
	[STAGE_LOOSE] = { "rev-list", { "rev-list", "--max-count=1" }, { 0 }, READ, 0, loose_done },
	[STAGE_CLEAR_KEPT] = { "for-each-ref", { "for-each-ref", "--format=%(refname) %(objectname) %(tree) %(parent)" }, { 0 }, READ, 0, clear_kept_done },
	[STAGE_LEFT] = { "for-each-ref", { "for-each-ref", "--format=%(refname) %(objectname) %(worktreepath)" }, { 0 }, READ, 0, left_done },
	[STAGE_MERGE_TIP] = { "rev-parse", { "rev-parse", "--verify", "-q" }, { 0 }, READ | MAY_FAIL, 0, merge_tip_done },
	[STAGE_MERGE_BACK] = { "update-ref", { "update-ref", "--no-deref", "--stdin" }, { 0 }, 0, 0, merge_back_done },
	[STAGE_MERGE_NOTED] = { "rev-list", { "rev-list", "--no-walk", "--parents" }, { 0 }, READ | MAY_FAIL, 0, merge_noted_done },
	[STAGE_MERGE_HELD] = { "merge-base", { "merge-base", "--is-ancestor" }, { 0 }, MAY_FAIL, 0, merge_held_done },
	[STAGE_MERGE_LIST] = { "rev-list", { "rev-list", "--reverse", "--topo-order", "--parents" }, { 0 }, READ, 0, merge_list_done },
	[STAGE_MERGE_READ] = { "cat-file", { "cat-file", "--batch" }, { 0 }, READ, 0, merge_read_done },
	[STAGE_MERGE_ROOTS] = { "hash-object", { "hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths" }, { 0 }, READ, 0, merge_roots_done },
	[STAGE_MERGE_SIDES] = { "hash-object", { "hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths" }, { 0 }, READ, 0, merge_sides_done },
	[STAGE_MERGE_PICK] = { "merge-tree", { "-c", "core.attributesFile=/dev/null", "merge-tree", "--write-tree", "--messages", "-z", MERGE_INTEGRATED, MERGE_TASK },
	    { 0 }, READ | MAY_FAIL | ALONE, 0, merge_pick_done },
	[STAGE_MERGE_PICKED] = { "hash-object", { "hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths" }, { 0 }, READ, 0, merge_picked_done },
	[STAGE_MERGE_NOTE] = { "hash-object", { "hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths" }, { 0 }, READ, 0, merge_note_done },
	[STAGE_MERGE_TAKEN] = { "for-each-ref", { "for-each-ref", "--format=%(refname) %(worktreepath)" }, { 0 }, READ, 0, merge_taken_done },
	[STAGE_MERGE_MOVE] = { "update-ref", { "update-ref", "--no-deref", "--stdin" }, { 0 }, MAY_FAIL, 0, merge_move_done },
	[STAGE_MERGE_WHOLE] = { "diff-tree", { "diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
	    "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none" }, { ARG_BASE, ARG_COMMIT }, INDEX | MAY_FAIL, PATCH_KEEP, last_done },
	[STAGE_LOOK_TIP] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ | MAY_FAIL, 0, look_tip_done },
	[STAGE_LOOK_HISTORY] = { "rev-list", { "rev-list", "--reverse", "--topo-order", "--parents" }, { 0 }, READ, 0, look_history_done },
	[STAGE_LOOK_TREE] = { "rev-parse", { "rev-parse", "--verify", "-q" }, { 0 }, READ, 0, look_tree_done },
	[STAGE_DIR_KEPT] = { "rev-parse", { "rev-parse", "--verify", "-q" }, { 0 }, READ | MAY_FAIL, 0, dir_kept_done },
	[STAGE_DIR_HEAD] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ | MAY_FAIL, 0, dir_head_done },
	[STAGE_DIR_KEEP] = { "update-ref", { "update-ref", "--no-deref" }, { 0 }, 0, 0, dir_keep_done },
	[STAGE_DIR_BEHIND] = { "merge-base", { "merge-base", "--is-ancestor" }, { 0 }, MAY_FAIL, 0, dir_behind_done },
	[STAGE_DIR_FORGET] = { "read-tree", { "read-tree" }, { 0 }, 0, 0, dir_keep_done },
	[STAGE_DIR_RESET] = { "reset", { "reset", "-q", "--hard" }, { ARG_TIP }, FILTERED, 0, dir_reset_done },
	[STAGE_DIR_LAY] = { "read-tree", { "read-tree", "--reset", "-u" }, { 0 }, FILTERED, 0, dir_lay_done },
	[STAGE_DIR_BACK] = { "reset", { "reset", "-q", "--mixed" }, { ARG_TIP }, FILTERED, 0, dir_back_done },
	/* that it stays does no harm, and what was there is saved and gone */
	[STAGE_DELETE] = { "update-ref", { "update-ref", "--no-deref", "-d" }, { 0 }, MAY_FAIL, 0, delete_done },
};

static enum stage last_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_NONE;
}

/* The tree without anything in it, in the repository's kind of id. */
static const char *empty_tree(const struct git_op *op)
{
	return empty_trees[strlen(op->tree) == 40 ? 0 : 1];
}

static void add_arg(struct git_op *op, enum arg arg)
{
	const char *const words[] = {
		[ARG_GIVEN] = op->given,
		[ARG_BASE] = op->base,
		[ARG_TREE] = op->tree,
		[ARG_REF] = op->ref,
		[ARG_TIP] = op->tip,
		[ARG_COMMIT] = op->commit,
		[ARG_OTHERS] = op->others_tree,
		[ARG_BESIDE] = op->beside,
		[ARG_ARTIFACT] = op->snapshot != NULL ? snapshot_tracked_artifact(op->snapshot) : NULL,
	};

	if (arg == ARG_TIP && op->tip == NULL)
		git_command_add(&op->command, empty_tree(op));
	else if (arg != ARG_NONE)
		git_command_add(&op->command, words[arg]);
}

void stage_prepare(struct git_op *op, struct step_spec *step)
{
	unsigned flags = stages[op->stage].flags;
	const char *index = (flags & INDEX) != 0 ? op->index : NULL;
	const char *words[STAGE_WORDS + 3] = { NULL };
	bool checkout = op->kind == GIT_VERIFY && op->dir != NULL && (op->stage == STAGE_HEAD || op->stage == STAGE_HASH);
	const char *place = checkout ? op->dir : op->place;
	char *dir = NULL, *tree = NULL;
	size_t n = 0;

	/* Named outright, so that git does not go looking in the directories above. */
	if (op->stage == STAGE_HEAD) {
		words[n++] = dir = xasprintf("--git-dir=%s/.git", op->inside);
	} else if (checkout) {
		char *own = git_dir_own(op->workspace);

		words[n++] = dir = xasprintf("--git-dir=%s", own != NULL ? own : op->workspace);
		free(own);
	} else if (op->git_dir != NULL) {
		words[n++] = dir = xasprintf("--git-dir=%s", op->git_dir);
		words[n++] = tree = xasprintf("--work-tree=%s", place);
	} else if ((flags & FILES) != 0) {
		words[n++] = "--work-tree=.";
	}
	memcpy(words + n, stages[op->stage].words, sizeof(stages[op->stage].words));
	if ((flags & HOOKED) != 0)
		git_command_set_hooked(&op->command, place, index, words);
	else if ((flags & FILTERED) != 0)
		git_command_set_filtered(&op->command, place, index, words);
	else
		git_command_set(&op->command, place, (flags & INSIDE) != 0 ? op->inside : NULL, index, words);
	free(dir);
	free(tree);
	if ((flags & ALONE) != 0)
		git_command_set_alone(&op->command);
	if (op->anonymous)
		git_command_set_ident(&op->command);
	for (size_t i = 0; i < 2; i++)
		add_arg(op, stages[op->stage].args[i]);
	for (size_t i = 0; op->words != NULL && op->words[i] != NULL; i++)
		git_command_add(&op->command, op->words[i]);
	*step = (struct step_spec){
		.name = stages[op->stage].name,
		.argv = (const char *const *)op->command.argv,
		.env = (const char *const *)op->command.env,
		.input = op->input.data,
		.input_size = op->input.size,
		.output_bytes = stages[op->stage].keep,
	};
}
