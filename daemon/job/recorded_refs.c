/* SPDX-License-Identifier: MIT */
#include "job/recorded_refs.h"

#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "core/run.h"
#include "core/state.h"
#include "git/gitdir.h"
#include "git/own_moves.h"
#include "git/read_ref.h"
#include "model/dirs.h"
#include "proto/escape.h"
#include "proto/memory.h"

static void add(char ***list, const char *prefix, const char *ref, const char *id)
{
	char *text;

	if (ref == NULL || id == NULL)
		return;
	text = xasprintf("%s%s %s", prefix, ref, id);
	if (!strings_contain(*list, text))
		strings_append(list, text);
	free(text);
}

char **recorded_refs(const struct run_rows *rows)
{
	char **list = NULL;

	for (size_t i = 0; i < rows->ntasks; i++)
		add(&list, "", rows->tasks[i]->locked_ref, rows->tasks[i]->locked_tree);
	/* of the whole run; else it is one of these, or the branch below */
	if (rows->run.result_ref != NULL && strncmp(rows->run.result_ref, "refs/heads/", 11) != 0)
		add(&list, "", rows->run.result_ref, rows->run.result_tree);
	/* a merge that a cancel has cut off may have moved it */
	if (rows->run.state != RUN_S_CANCELLED)
		add(&list, "refs/heads/", rows->run.result_branch, rows->run.result_commit);
	return list;
}

size_t recorded_refs_count(const struct run_rows *rows)
{
	char **list = recorded_refs(rows);
	size_t count = strings_count(list);

	strings_free(list);
	return count;
}

/* The difference as a sentence; NULL: none. moves: see git/own_moves.h. */
static char *difference(const struct run_rows *rows, const char *moves, const char *common, const char *ref,
    const char *id)
{
	bool branch = strncmp(ref, "refs/heads/", 11) == 0,
	    may_be_gone = branch && run_state_is_end((enum run_state)rows->run.state);
	char *value, *is, *text;

	if (read_ref(common, ref, &value) != 0)
		return NULL;
	if (value == NULL ? may_be_gone : strcmp(value, id) == 0 || (branch && own_moves_have(moves, id, value))) {
		free(value);
		return NULL;
	}
	is = value != NULL ? text_escape(value, strlen(value), false) : NULL;
	text = xasprintf("%s %s%s, but rld set it to %.12s; `git update-ref --no-deref %s %s` in %s restores it",
	    ref, is != NULL ? "is now at " : "is gone", is != NULL ? is : "", id, ref, id, rows->run.workspace);
	free(is);
	free(value);
	return text;
}

char *recorded_refs_moved(const char *state_dir, const struct run_rows *rows)
{
	char *moves = dirs_moves(state_dir, rows->run.id);
	char *common = rows->run.has_git == 1 && rows->npruned == 0 ? git_dir_common(rows->run.workspace) : NULL;
	char **list = common != NULL ? recorded_refs(rows) : NULL;
	struct buf text = { 0 };

	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		char *ref = xmemdup0(list[i], strcspn(list[i], " "));
		char *one = difference(rows, moves, common, ref, list[i] + strlen(ref) + 1);

		if (one != NULL)
			buf_addf(&text, "%s%s", text.size > 0 ? "; " : "", one);
		free(one);
		free(ref);
	}
	strings_free(list);
	free(moves);
	free(common);
	return text.size > 0 ? buf_take(&text, NULL) : NULL;
}
