/* SPDX-License-Identifier: MIT */
#include "git/verified.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/host_fault.h"

#define MODE_REPOSITORY 0160000
#define BINARY_LOOK 8000

void verified_begin(struct verified_id *id, const char *type, unsigned long long size, const char *like)
{
	char head[64];
	int n = snprintf(head, sizeof(head), "%s %llu", type, size);

	id->sha256 = strlen(like) == 2 * SHA256_DIGEST_LENGTH;
	if (id->sha256)
		SHA256Init(&id->context.sha2);
	else
		SHA1Init(&id->context.sha1);
	verified_add(id, head, (size_t)n + 1);
}

void verified_add(struct verified_id *id, const void *data, size_t size)
{
	if (id->sha256)
		SHA256Update(&id->context.sha2, data, size);
	else
		SHA1Update(&id->context.sha1, data, size);
}

void verified_end(struct verified_id *id, char hex[GIT_ID_MAX])
{
	if (id->sha256)
		SHA256End(&id->context.sha2, hex);
	else
		SHA1End(&id->context.sha1, hex);
}

char *verified_error(const struct git_op *op, unsigned flags, const char *id)
{
	bool own = (flags & GIT_EVIDENCE) != 0 && op->objects != NULL;

	return xasprintf("%s: object %.12s is not what its id says: it was forged or damaged; %s",
	    own ? op->objects : op->spec.workspace, id, own ? "remove that directory, and retry the run" :
	    "see `git fsck --full` there, remove that object, then retry the run");
}

/* ---- many of them ---- */

struct stream {
	FILE *in;
	const char *ids;	/* the next one expected */
	struct buf *missing;
	struct verified_look *look;	/* the next one to fill; NULL: not wanted */
	char wrong[GIT_ID_MAX];	/* "": none */
	bool whole;		/* all were read */
	int error;		/* errno of why none was read; 0: they were */
};

/* "id type size", then the content and a newline; or "id missing". 0; -1. */
static int read_object(struct stream *s, const char *id)
{
	char line[GIT_ID_MAX + 64], type[16], hex[GIT_ID_MAX], chunk[65536];
	unsigned long long size, left;
	struct verified_id sum;
	size_t length = strlen(id);

	if (fgets(line, sizeof(line), s->in) == NULL || strncmp(line, id, length) != 0)
		return -1;
	if (strcmp(line + length, " missing\n") == 0) {
		buf_addf(s->missing, "%s\n", id);
		return 0;
	}
	if (sscanf(line + length, " %15s %llu", type, &size) != 2)
		return -1;
	verified_begin(&sum, type, size, id);
	for (left = size; left > 0; ) {
		size_t n = fread(chunk, 1, left < sizeof(chunk) ? (size_t)left : sizeof(chunk), s->in);

		if (n == 0)
			return -1;
		if (left == size && s->look != NULL)
			*s->look = (struct verified_look){ size,
			    memchr(chunk, '\0', n < BINARY_LOOK ? n : BINARY_LOOK) != NULL };
		verified_add(&sum, chunk, n);
		left -= n;
	}
	verified_end(&sum, hex);
	if (strcmp(hex, id) != 0)
		snprintf(s->wrong, sizeof(s->wrong), "%s", id);
	return getc(s->in) == '\n' && s->wrong[0] == '\0' ? 0 : -1;
}

static void read_stream(void *arg, int fd)
{
	struct stream *s = arg;
	char id[GIT_ID_MAX];
	int own = dup(fd);

	s->in = own != -1 ? fdopen(own, "r") : NULL;
	if (s->in == NULL) {
		s->error = errno;
		if (own != -1)
			close(own);
		return;
	}
	while (*s->ids != '\0') {
		size_t n = strcspn(s->ids, "\n");

		snprintf(id, sizeof(id), "%.*s", (int)n, s->ids);
		if (read_object(s, id) != 0)
			break;
		s->ids += n + (s->ids[n] == '\n');
		s->look += s->look != NULL;
	}
	s->whole = *s->ids == '\0';
	fclose(s->in);
}

int verified_read(struct git_op *op, unsigned flags, const struct buf *ids, struct buf *missing,
    struct verified_look *looks)
{
	char *list = xmemdup0(ids->data, ids->size);
	struct stream s = { .ids = list, .missing = missing, .look = looks };
	int rv = git_run_call(op, &(struct git_call){ .flags = flags | GIT_MAY_FAIL, .input = list,
	    .input_size = ids->size, .reader = read_stream, .arg = &s }, "cat-file", "--batch", "--buffer", NULL);

	if (rv != -1 && s.wrong[0] != '\0')
		rv = git_fail(op, verified_error(op, flags, s.wrong));
	else if (rv != -1 && s.error != 0)
		rv = git_fail(op, xasprintf("git cat-file in %s: %s", op->spec.workspace, host_words(s.error)));
	else if (rv == 1)
		rv = git_fail_process(op);
	else if (rv == 0 && !s.whole)
		rv = git_fail_output(op);
	free(list);
	return rv;
}

/* ---- trees ---- */

int verified_all(struct git_op *op, unsigned flags, const struct buf *ids, struct verified_look *looks)
{
	struct buf missing = { 0 };
	int rv = ids->size > 0 ? verified_read(op, flags, ids, &missing, looks) : 0;

	if (rv == 0 && missing.size > 0 && op->objects != NULL && (flags & GIT_EVIDENCE) != 0)
		rv = git_fail(op, xasprintf("%s: object %.12s is missing; remove that directory, and retry the run",
		    op->objects, missing.data));
	buf_release(&missing);
	return rv;
}

int verified_fail_tree(struct git_op *op, const char *tree)
{
	if (op->objects == NULL)
		return git_fail_process(op);
	return git_fail(op, xasprintf("%s: objects of tree %.12s are missing or damaged; remove that directory, "
	    "and retry the run", op->objects, tree));
}

/* Both sides of each difference, directories included. git read no other object to list them. */
static int add_difference(struct git_op *op, const char *from, const char *to, struct buf *ids)
{
	struct changes changes = { 0 };
	int rv = git_run(op, GIT_EVIDENCE | GIT_MAY_FAIL, "diff-tree", "-r", "-t", "-z", "--raw", "--no-renames",
	    "--ignore-submodules=none", from, to);

	if (rv == 1)
		rv = verified_fail_tree(op, to);
	else if (rv == 0 && !changes_read(&changes, git_out(op), git_out_size(op), NULL))
		rv = git_fail_output(op);
	buf_addf(ids, "%s\n%s\n", from, to);
	for (size_t i = 0; rv == 0 && i < changes.count; i++) {
		const struct change *c = &changes.list[i];

		if (c->was != 0 && c->was != MODE_REPOSITORY)
			buf_addf(ids, "%s\n", c->was_id);
		if (c->mode != 0 && c->mode != MODE_REPOSITORY)
			buf_addf(ids, "%s\n", c->id);
	}
	changes_release(&changes);
	return rv;
}

int verified_difference(struct git_op *op, const char *from, const char *to)
{
	struct buf ids = { 0 };
	int rv;

	if (op->objects == NULL || strcmp(from, to) == 0)
		return 0;
	rv = add_difference(op, from, to, &ids);
	if (rv == 0)
		rv = verified_all(op, GIT_EVIDENCE, &ids, NULL);
	buf_release(&ids);
	return rv;
}

int verified_list(struct git_op *op, const char *tree, struct changes *entries)
{
	struct buf ids = { 0 };
	size_t count = 0;
	int rv = git_run(op, GIT_EVIDENCE | GIT_MAY_FAIL, "ls-tree", "-r", "-t", "-z", "--full-tree", tree);

	changes_release(entries);
	if (rv == 1)
		rv = verified_fail_tree(op, tree);
	else if (rv == 0 && !changes_read_tree(entries, git_out(op), git_out_size(op)))
		rv = git_fail_output(op);
	buf_addf(&ids, "%s\n", tree);
	for (size_t i = 0; i < entries->count; i++) {
		struct change *e = &entries->list[i];

		if (!S_ISDIR(e->mode)) {
			entries->list[count++] = *e;
			continue;
		}
		buf_addf(&ids, "%s\n", e->id);
		free(e->path);
	}
	entries->count = count;
	if (rv == 0 && op->objects != NULL)
		rv = verified_all(op, GIT_EVIDENCE, &ids, NULL);
	buf_release(&ids);
	return rv;
}
