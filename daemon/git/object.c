/* SPDX-License-Identifier: MIT */
#include "git/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RLD "rld <rld@localhost>"

/* The value of line if its first word is key. */
static const char *value(const char *line, const char *key)
{
	size_t size = strlen(key);

	return strncmp(line, key, size) == 0 && line[size] == ' ' ? line + size + 1 : NULL;
}

/* "name <address> seconds zone". */
static int64_t time_of(const char *person)
{
	const char *end = strrchr(person, '>');

	return end != NULL ? strtoll(end + 1, NULL, 10) : 0;
}

static void read_line(struct commit_object *commit, const char *line)
{
	const char *text;

	if ((text = value(line, "tree")) != NULL)
		snprintf(commit->tree, sizeof(commit->tree), "%s", text);
	else if ((text = value(line, "author")) != NULL && commit->author == NULL)
		commit->author = xstrdup(text);
	else if ((text = value(line, "encoding")) != NULL && commit->encoding == NULL)
		commit->encoding = xstrdup(text);
	else if ((text = value(line, "committer")) != NULL)
		commit->committed = time_of(text);
}

bool commit_object_read(struct commit_object *commit, const char **data, const char *end)
{
	size_t size;
	const char *p, *stop;

	*commit = (struct commit_object){ 0 };
	p = memchr(*data, '\n', (size_t)(end - *data));
	if (p == NULL || sscanf(*data, "%*64s commit %zu", &size) != 1 || end - p < 2 ||
	    (size_t)(end - p) - 2 < size)
		return false;
	p++;
	stop = p + size;
	*data = stop + 1;
	while (p < stop && *p != '\n') {
		const char *next = memchr(p, '\n', (size_t)(stop - p));
		char *line = xmemdup0(p, (size_t)((next != NULL ? next : stop) - p));

		read_line(commit, line);
		free(line);
		p = next != NULL ? next + 1 : stop;
	}
	if (p < stop)
		p++;
	commit->message_size = (size_t)(stop - p);
	commit->message = xmemdup0(p, commit->message_size);
	return commit->tree[0] != '\0' && commit->author != NULL;
}

void commit_object_release(struct commit_object *commit)
{
	free(commit->author);
	free(commit->encoding);
	free(commit->message);
	*commit = (struct commit_object){ 0 };
}

void commit_object_write(struct buf *out, const char *tree, const char *const *parents,
    const struct commit_object *like, int64_t committed)
{
	buf_addf(out, "tree %s\n", tree);
	for (; *parents != NULL; parents++)
		buf_addf(out, "parent %s\n", *parents);
	if (like != NULL)
		buf_addf(out, "author %s\n", like->author);
	else
		buf_addf(out, "author " RLD " %lld +0000\n", (long long)committed);
	buf_addf(out, "committer " RLD " %lld +0000\n", (long long)committed);
	if (like != NULL && like->encoding != NULL)
		buf_addf(out, "encoding %s\n", like->encoding);
	buf_adds(out, "\n");
	if (like != NULL)
		buf_add(out, like->message, like->message_size);
	else
		buf_adds(out, "rld\n");
}
