/* SPDX-License-Identifier: MIT */
/* rlctl diff: the changes of a run or a task. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/attempt_output.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/diff_paint.h"
#include "client/diff_stat.h"
#include "client/field.h"
#include "client/message.h"
#include "proto/memory.h"

/* Tabs are layout here, and print_painted_bytes() would escape them. */
static void print_diff_line(const struct print *p, const char *line, size_t length)
{
	char *start = xmemdup0(line, length);
	enum paint paint = diff_paint(start);
	const char *tab, *end = line + length;

	while ((tab = memchr(line, '\t', (size_t)(end - line))) != NULL) {
		print_painted_bytes(p, paint, line, (size_t)(tab - line));
		fputc('\t', p->file);
		line = tab + 1;
	}
	print_painted_bytes(p, paint, line, (size_t)(end - line));
	free(start);
}

/* Coloured line by line; otherwise unchanged, so that git apply can read it. */
static void print_diff(const struct print *p, char *text, size_t size)
{
	char *line = text, *end = text + size;

	if (!p->color) {
		print_agent_text(p, text, size);
		return;
	}
	while (line < end) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline == NULL ? end : newline) - line);

		print_diff_line(p, line, length);
		fputc('\n', p->file);
		line += length + 1;
	}
}

/* "RUN" or "RUN/TASK". An exit code after a message. */
static int diff_params(const char *text, json_t **params)
{
	char *name = xstrdup(text), *task = strchr(name, '/');
	int64_t run;
	int status;

	if (task != NULL)
		*task++ = '\0';
	status = client_parse_run(name, &run, NULL);
	*params = status == 0 ? json_pack("{s:I, s:s*}", "id", (json_int_t)run, "task", task) : NULL;
	free(name);
	return status;
}

int diff_command(struct client *c)
{
	bool stat = options_given(&c->options, "stat"), more;
	json_t *params, *result;
	struct buf text = { 0 };
	int status;

	if (stat && c->json) {
		message_error("--stat and --json exclude each other");
		return EXIT_USAGE;
	}
	status = diff_params(c->options.arguments[0], &params);
	more = status == 0;
	while (more) {
		int64_t next;

		result = client_call_json(c, "run.diff", json_deep_copy(params), &status);
		if (result == NULL)
			break;
		next = field_int(result, "next");
		output_add(&text, result, "diff");
		/* page by page, because a diff may be longer than a reply */
		more = !c->json && next != FIELD_NONE && !field_true(result, "eof") &&
		    next > field_int(params, "offset");
		json_object_set_new(params, "offset", json_integer(next));
		json_decref(result);
	}
	if (status == 0 && !c->json && text.size > 0 && stat)
		diff_stat_print(&c->out, text.data, text.size);
	else if (status == 0 && !c->json && text.size > 0)
		print_diff(&c->out, text.data, text.size);
	else if (status == 0 && !c->json)
		fputs("No changes.\n", c->talk.file);
	buf_release(&text);
	json_decref(params);
	return status;
}
