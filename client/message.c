/* SPDX-License-Identifier: MIT */
#include "client/message.h"

#include <err.h>
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/exit.h"
#include "proto/error.h"
#include "proto/escape.h"
#include "proto/memory.h"

static json_t *kept;	/* the errors so far; NULL: they are printed as text */

void message_json(void)
{
	if (kept == NULL)
		kept = json_array();
}

/* The text, safe to print and valid UTF-8. */
static char *safe_text(const char *fmt, va_list ap, bool keep_lines) __attribute__((format(printf, 1, 0)));

static char *safe_text(const char *fmt, va_list ap, bool keep_lines)
{
	char *text = xvasprintf(fmt, ap), *safe = text_escape(text, strlen(text), keep_lines);

	free(text);
	return safe;
}

/* Takes ownership of text. Its kind follows from the exit code. */
static void error_add(char *text)
{
	if (kept != NULL)
		json_array_append_new(kept, json_pack("{s:i, s:s, s:{}}", "code", 0, "message", text, "data"));
	else
		warnx("%s", text);
	free(text);
}

void message_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_add(safe_text(fmt, ap, false));
	va_end(ap);
}

void message_errno(const char *fmt, ...)
{
	const char *why = strerror(errno);
	char *text, *whole;
	va_list ap;

	va_start(ap, fmt);
	text = safe_text(fmt, ap, false);
	va_end(ap);
	whole = xasprintf("%s: %s", text, why);
	free(text);
	error_add(whole);
}

void message_die(const char *what)
{
	message_errno("%s", what);
	message_end(EXIT_REFUSED);
	exit(EXIT_REFUSED);
}

/* A general hint about parameters helps only a caller that sent parameters, not options. */
static bool hint_helps(const struct call_error *error, bool had_options)
{
	const struct rpc_error_row *row = rpc_error_find(RPC_INVALID_PARAMS);

	return error->hint[0] != '\0' && (!had_options || strcmp(error->hint, row->help) != 0);
}

static void print_refused(const struct call_error *error, const char *option, bool had_options)
{
	const char *text = error->message;
	size_t named = strlen(error->field);
	char *safe;

	/* the message names the option already */
	if (option != NULL && strncmp(text, error->field, named) == 0 && strncmp(text + named, ": ", 2) == 0)
		text += named + 2;
	safe = text_escape(text, strlen(text), true);	/* it may have several lines */
	error_add(option != NULL ? xasprintf("--%s: %s", option, safe) : xstrdup(safe));
	free(safe);
	if (hint_helps(error, had_options))
		message_hint("%s", error->hint);
}

/* As the daemon sent it. */
static json_t *refused_json(const struct call_error *error)
{
	json_t *data = json_pack("{s:s, s:b, s:s}", "kind", error->kind, "retryable", error->retryable, "hint",
	    error->hint);

	if (error->field[0] != '\0')
		json_object_set_new(data, "field", json_string(error->field));
	return json_pack("{s:i, s:s, s:o}", "code", error->code, "message", error->message, "data", data);
}

void message_refused(const struct call_error *error, const char *option, bool had_options)
{
	if (kept != NULL && error->code != 0)
		json_array_append_new(kept, refused_json(error));
	else
		print_refused(error, option, had_options);
}

void message_hint(const char *fmt, ...)
{
	const char *before;
	json_t *data;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = safe_text(fmt, ap, true);
	va_end(ap);
	if (kept == NULL) {
		fprintf(stderr, "  %s\n", text);
		free(text);
		return;
	}
	data = json_object_get(json_array_get(kept, json_array_size(kept) - 1), "data");
	before = json_string_value(json_object_get(data, "hint"));
	json_object_set_new(data, "hint", before != NULL ? json_sprintf("%s\n%s", before, text) : json_string(text));
	free(text);
}

void message_note(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = safe_text(fmt, ap, false);
	va_end(ap);
	warnx("%s", text);
	free(text);
}

/* The kind of an error of rlctl itself. */
static void set_kind(json_t *data, int status)
{
	static const struct {
		int status;
		const char *kind;
		bool retryable;
	} rows[] = {
		{ EXIT_USAGE, "usage", false }, { EXIT_NO_DAEMON, "no-daemon", true }, { 0, "failed", false },
	};
	size_t i = 0;

	if (json_object_get(data, "kind") != NULL)
		return;
	while (rows[i].status != 0 && rows[i].status != status)
		i++;
	json_object_set_new(data, "kind", json_string(rows[i].kind));
	json_object_set_new(data, "retryable", json_boolean(rows[i].retryable));
}

void message_end(int status)
{
	json_t *error;
	size_t i;

	json_array_foreach(kept, i, error) {
		set_kind(json_object_get(error, "data"), status);
		json_dumpf(error, stderr, JSON_COMPACT);
		fputc('\n', stderr);
	}
	json_decref(kept);
	kept = NULL;
}
