/* SPDX-License-Identifier: MIT */
#include "verdict/carrier.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "proto/memory.h"
#include "proto/scan.h"
#include "verdict/clean.h"
#include "verdict/extract.h"

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define COMMENTS_MAX 500
#define VALUES_MAX (COMMENTS_MAX * 16)	/* limits what the parser allocates */

#define MUST_FIX "must-fix"
#define SUGGESTION "suggestion"

static bool must_be_fixed(const struct verdict_finding *finding)
{
	return strcmp(finding->severity, MUST_FIX) == 0;
}

static json_t *parse(const char *text, size_t size)
{
	json_t *object;

	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size -= 3;
	}
	if (scan_json_within(text, size, EXTRACT_DEPTH, VALUES_MAX) != SCAN_OK)
		return NULL;
	object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(object)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

/* An optional member; null counts as missing. */
static bool absent(const json_t *value)
{
	return value == NULL || json_is_null(value);
}

static bool is_words(const json_t *value)
{
	return json_is_string(value) && !clean_is_blank(json_string_value(value), json_string_length(value));
}

static char *bounded(const json_t *string)
{
	return clean_text(json_string_value(string), json_string_length(string), CLEAN_FINDING_MAX);
}

/* Fill in finding; returns NULL, or why it is invalid. */
static char *read_comment(const json_t *comment, struct verdict_finding *finding)
{
	const json_t *file = json_object_get(comment, "file"), *line = json_object_get(comment, "line");
	const json_t *severity = json_object_get(comment, "severity"), *text = json_object_get(comment, "comment");
	const char *word = json_string_value(severity);

	if (!json_is_object(comment))
		return extract_invalid("comments", "array of objects", comment);
	if (word == NULL || (strcmp(word, MUST_FIX) != 0 && strcmp(word, SUGGESTION) != 0)) {
		char *got = extract_got(severity);
		char *reason = xasprintf("invalid severity: expected \"" MUST_FIX "\" or \""
		    SUGGESTION "\", got %s", got);

		free(got);
		return reason;
	}
	if (!absent(file) && !json_is_string(file))
		return extract_invalid("file", "string", file);
	if (!absent(line) && (!json_is_integer(line) || json_integer_value(line) < 0))
		return extract_invalid("line", "line number", line);
	if (!is_words(text))
		return extract_invalid("comment", "string", text);
	finding->file = is_words(file) ? bounded(file) : NULL;
	finding->line = json_is_integer(line) ? (long)json_integer_value(line) : 0;
	finding->severity = xstrdup(word);
	finding->text = bounded(text);
	return NULL;
}

static char *read_comments(const json_t *comments, struct verdict *out)
{
	const json_t *comment;
	size_t i;
	char *reason;

	if (!json_is_array(comments))
		return extract_invalid("comments", "array", comments);
	if (json_array_size(comments) > COMMENTS_MAX)
		return xstrdup("too many comments: at most " TEXT(COMMENTS_MAX));
	out->findings = json_array_size(comments) > 0 ?
	    xcalloc(json_array_size(comments), sizeof(*out->findings)) : NULL;
	json_array_foreach(comments, i, comment) {
		reason = read_comment(comment, &out->findings[i]);
		if (reason != NULL)
			return reason;
		out->nfindings++;
	}
	return NULL;
}

/* The must-fix comments as a list: what remains to be done. */
static char *feedback_of(const struct verdict *v)
{
	struct buf b = { 0 };
	char *feedback;

	for (size_t i = 0; i < v->nfindings; i++) {
		const struct verdict_finding *f = &v->findings[i];

		if (!must_be_fixed(f))
			continue;
		buf_adds(&b, "- ");
		if (f->file != NULL)
			buf_adds(&b, f->file);
		if (f->file != NULL && f->line > 0)
			buf_addf(&b, ":%ld", f->line);
		buf_addf(&b, "%s%s\n", f->file != NULL ? ": " : "", f->text);
	}
	feedback = clean_text(b.data, b.size, CLEAN_FEEDBACK_MAX);
	buf_release(&b);
	return feedback;
}

/* An issue, as far as a machine can tell: an object, or more than one word. */
static bool may_be_issue(const json_t *value)
{
	return json_is_object(value) || (json_is_string(value) &&
	    strpbrk(json_string_value(value), " \t\r\n") != NULL && is_words(value));
}

/* Another list of what may be issues. */
static bool has_other_list(const json_t *object)
{
	const char *name;
	json_t *value, *element;
	size_t i;

	json_object_foreach((json_t *)object, name, value) {
		if (strcmp(name, "comments") == 0)
			continue;
		json_array_foreach(value, i, element) {
			if (may_be_issue(element))
				return true;
		}
	}
	return false;
}

static void read_object(const json_t *object, bool strict, struct verdict *out)
{
	const json_t *summary = json_object_get(object, "summary");

	out->reason = read_comments(json_object_get(object, "comments"), out);
	if (out->reason == NULL && strict && has_other_list(object))
		out->reason = xstrdup(CONFLICT);
	if (out->reason == NULL && !json_is_string(summary))
		out->reason = extract_invalid("summary", "string", summary);
	if (out->reason != NULL) {
		verdict_findings_free(out->findings, out->nfindings);
		out->findings = NULL;
		out->nfindings = 0;
		return;
	}
	out->kind = VERDICT_PASS;
	for (size_t i = 0; i < out->nfindings; i++) {
		if (must_be_fixed(&out->findings[i]))
			out->kind = VERDICT_FINDINGS;
	}
	if (out->kind == VERDICT_PASS)
		out->feedback = clean_text(json_string_value(summary), json_string_length(summary), CLEAN_FEEDBACK_MAX);
	else
		out->feedback = feedback_of(out);
}

void carrier_comments_read(const struct verdict_input *in, struct verdict *out)
{
	json_t *object;

	if (clean_is_blank(in->file, in->file_size)) {
		out->reason = xstrdup(NO_EVIDENCE);
		return;
	}
	out->source = "file";
	object = parse(in->file, in->file_size);
	if (object == NULL)
		out->reason = xstrdup("reviewer output is not a valid JSON object");
	else
		read_object(object, in->nonce != NULL, out);
	json_decref(object);
}
