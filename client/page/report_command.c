/* SPDX-License-Identifier: MIT */
/* rlctl report: a full report of a run, for people, programs or a browser. */
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/message.h"
#include "client/page/gather.h"
#include "client/page/run_page.h"
#include "client/print.h"
#include "client/report_text.h"

static void report_print_page(const struct print *p, const json_t *d)
{
	size_t size;
	char *page = run_page(d, &run_page_file, &size);

	fwrite(page, 1, size, p->file);
	free(page);
}

static json_t *report_get(struct client *c, int64_t run, int *status)
{
	return client_get(c, "run.report", "id", run, status);
}

static json_t *report_gather(struct client *c, int64_t run, int *status)
{
	struct call_error error;
	json_t *d;

	*status = client_connect(c);
	if (*status != 0)
		return NULL;
	d = gather_run(c->conn, run, &error);
	if (d == NULL)
		*status = client_refused(c, &error);
	return d;
}

/* The first one is the default; --json prints the last one in one line. */
static const struct report_format {
	const char *name;
	json_t *(*get)(struct client *c, int64_t run, int *status);
	void (*print)(const struct print *p, const json_t *report);
} formats[] = {
	{ "text", report_get, report_print_text },
	{ "html", report_gather, report_print_page },
	{ "json", report_get, print_json_indented },
	{ NULL, report_get, print_json },
};

static const struct report_format *report_format(const struct client *c)
{
	const char *name = options_text(&c->options, "format");
	const struct report_format *format = formats;

	while (format->name != NULL && (c->json || (name != NULL && strcmp(format->name, name) != 0)))
		format++;
	return format;
}

static int report_write_file(const char *path, const struct report_format *format, const json_t *report)
{
	FILE *file = fopen(path, "we");
	struct print p;
	bool failed;

	if (file == NULL) {
		message_errno("%s", path);
		return EXIT_REFUSED;
	}
	print_init(&p, file, "never");
	format->print(&p, report);
	failed = ferror(file) != 0;
	if (fclose(file) == EOF || failed) {
		message_errno("%s", path);
		return EXIT_REFUSED;
	}
	return EXIT_DONE;
}

int report_command(struct client *c)
{
	const struct report_format *format = report_format(c);
	const char *path = options_text(&c->options, "output");
	json_t *report;
	int64_t run;
	int status;

	if (client_parse_run(c->options.arguments[0], &run, NULL) != 0)
		return EXIT_USAGE;
	report = format->get(c, run, &status);
	if (report == NULL)
		return status;
	if (path != NULL)
		status = report_write_file(path, format, report);
	else
		format->print(&c->out, report);
	json_decref(report);
	return status;
}
