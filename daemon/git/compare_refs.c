/* SPDX-License-Identifier: MIT */
/* COMPARE_REFS, and before PIN and MERGE: refs that rld set are compared with its record, since any
 * program in the repository can move them. */
#include <stdlib.h>
#include <string.h>

#include "git/operations.h"
#include "git/own_moves.h"

#define SHOWN 3
#define HEADS "refs/heads/"

/* The line "NAME ID" or "NAME ID TARGET" of a ref in the output of for-each-ref; NULL: none. */
static const char *line_of(const char *out, const char *name, size_t size)
{
	for (const char *p = out; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n')
		if (strncmp(p, name, size) == 0 && p[size] == ' ')
			return p + size + 1;
	return NULL;
}

/* Add a sentence to result.moved. Takes text. */
static void tell(struct git_op *op, char *text)
{
	char *before = op->result.moved;

	op->result.moved = before != NULL ? xasprintf("%s; %s", before, text) : xstrdup(text);
	free(before);
	free(text);
}

void compare_refs_tell(struct git_op *op, const char *name, const char *id, const char *now)
{
	char *is = now == NULL ? xstrdup("is gone") : strchr(now, '/') != NULL ?
	    xasprintf("is now a link to %s", now) : xasprintf("is now at %.12s", now);

	tell(op, xasprintf("%s %s, but rld set it to %.12s; `git update-ref --no-deref %s %s` in %s restores it",
	    name, is, id, name, id, op->spec.workspace));
	free(is);
}

static void add_more(struct git_op *op, size_t count)
{
	if (count > SHOWN)
		tell(op, xasprintf("and %zu more", count - SHOWN));
}

static void add_tag(char ***tags, const char *branch, size_t size)
{
	char *tag = xasprintf("refs/tags/%.*s", (int)size, branch);

	if (!strings_contain(*tags, tag))
		strings_append(tags, tag);
	free(tag);
}

/* git takes a short name for the tag, if there is a tag and a branch of that name: a person who
 * merges the branch would get what the tag has. */
static int find_tags(struct git_op *op)
{
	char **tags = NULL;
	int rv = 0;

	for (char *const *ref = op->spec.refs; ref != NULL && *ref != NULL; ref++)
		if (strncmp(*ref, HEADS, strlen(HEADS)) == 0)
			add_tag(&tags, *ref + strlen(HEADS), strcspn(*ref + strlen(HEADS), " "));
	if (op->spec.branch != NULL)
		add_tag(&tags, op->spec.branch, strlen(op->spec.branch));
	if (tags != NULL)
		rv = git_run_call(op, &(struct git_call){ .more = tags }, "for-each-ref", "--format=%(refname) ", NULL);
	for (size_t i = 0; rv == 0 && tags != NULL && tags[i] != NULL; i++) {
		const char *name = tags[i] + strlen("refs/tags/");

		if (line_of(git_out(op), tags[i], strlen(tags[i])) != NULL)
			tell(op, xasprintf("a tag has the name of the branch %s, and git would take the tag; "
			    "`git tag -d %s` in %s removes it", name, name, op->spec.workspace));
	}
	strings_free(tags);
	return rv;
}

/* An id ends a line: a symbolic ref has another name after it. */
static bool is_at(const char *line, const char *id)
{
	size_t size = strlen(id);

	return strncmp(line, id, size) == 0 && (strncmp(line + size, " \n", 2) == 0 || line[size] == '\n');
}

/* What a ref has: its target if it is symbolic, else the id. */
static char *now_at(const char *line)
{
	size_t id = strcspn(line, " \n"), size = strcspn(line, "\n");

	return size > id + 1 ? xmemdup0(line + id + 1, size - id - 1) : xmemdup0(line, id);
}

int compare_refs(struct git_op *op)
{
	char **names = NULL, *out;
	size_t count = 0;
	int rv;

	if (strings_count(op->spec.refs) == 0)
		return find_tags(op);
	for (char *const *ref = op->spec.refs; *ref != NULL; ref++) {
		char *name = xmemdup0(*ref, strcspn(*ref, " "));

		strings_append(&names, name);
		free(name);
	}
	rv = git_run_call(op, &(struct git_call){ .more = names }, "for-each-ref",
	    "--format=%(refname) %(objectname) %(symref)", NULL);
	out = rv == 0 ? xstrdup(git_out(op)) : NULL;
	for (size_t i = 0; rv == 0 && names[i] != NULL; i++) {
		size_t size = strlen(names[i]);
		const char *id = op->spec.refs[i] + size + 1, *line = line_of(out, names[i], size);
		char *now;

		if (line != NULL && is_at(line, id))
			continue;
		now = line != NULL ? now_at(line) : NULL;
		/* a merge of another slot moves the branch meanwhile, and nothing else */
		if ((now == NULL || strncmp(names[i], HEADS, strlen(HEADS)) != 0 ||
		    !own_moves_have(op->spec.moves, id, now)) && count++ < SHOWN)
			compare_refs_tell(op, names[i], id, now);
		free(now);
	}
	add_more(op, count);
	free(out);
	strings_free(names);
	return rv == 0 ? find_tags(op) : -1;
}

int compare_refs_run(struct git_op *op)
{
	return compare_refs(op) == 0 ? verify_judged(op, NULL) : -1;
}
