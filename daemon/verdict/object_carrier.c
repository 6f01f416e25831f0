/* SPDX-License-Identifier: MIT */
#include "verdict/object_carrier.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "verdict/carrier.h"
#include "verdict/clean.h"
#include "verdict/extract.h"

static const char *const reasons[EXTRACT_RESULTS] = {
	[EXTRACT_EMPTY] = "empty reviewer output",
	[EXTRACT_NO_OBJECT] = "no JSON object found in reviewer output",
	[EXTRACT_BROKEN] = "reviewer output is not a valid JSON object",
	[EXTRACT_ECHO] = "reviewer output only repeats what the reviewer was given",
};

static enum extract_origin origin_of(const void *arg, const json_t *object)
{
	const struct verdict_input *in = arg;
	const json_t *nonce = json_object_get(object, "review");

	if (nonce != NULL)
		return json_is_string(nonce) && strcmp(json_string_value(nonce), in->nonce) == 0 ?
		    EXTRACT_OWN : EXTRACT_FOREIGN;
	if (echo_found(&in->prompt, object))
		return EXTRACT_COPY;
	for (size_t i = 0; i < in->ngiven; i++) {
		if (echo_found(&in->given[i], object))
			return EXTRACT_COPY;
	}
	return EXTRACT_PLAIN;
}

static enum verdict_kind kind_of(const struct object_form *form, const json_t *word)
{
	if (!json_is_string(word))
		return VERDICT_NONE;
	if (strcmp(json_string_value(word), form->pass) == 0)
		return VERDICT_PASS;
	return strcmp(json_string_value(word), form->findings) == 0 ? VERDICT_FINDINGS : VERDICT_NONE;
}

static char *invalid_word(const struct object_form *form, const json_t *word)
{
	char *got = extract_got(word);
	char *reason = xasprintf("invalid %s: expected \"%s\" or \"%s\", got %s", form->key,
	    form->pass, form->findings, got);

	free(got);
	return reason;
}

/* May be missing; anything but an object of booleans is invalid. */
static bool valid_checks(const json_t *checks)
{
	const char *name;
	json_t *value;

	if (checks != NULL && !json_is_object(checks))
		return false;
	json_object_foreach((json_t *)checks, name, value) {
		if (!json_is_boolean(value))
			return false;
	}
	return true;
}

static bool all_true(const json_t *checks)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)checks, name, value) {
		if (!json_is_true(value))
			return false;
	}
	return true;
}

/* The object was found, and its word is one of the two. strict: a pass beside a check that is false
 * contradicts itself. */
static void read_rest(const struct object_form *form, const struct extract *found, bool strict,
    enum verdict_kind kind, struct verdict *out)
{
	const json_t *feedback = json_object_get(found->object, form->feedback);
	const json_t *checks = form->checks != NULL ? json_object_get(found->object, form->checks) : NULL;

	if (found->conflict) {
		out->reason = xstrdup(CONFLICT);
	} else if (!json_is_string(feedback) ||
	    (kind == VERDICT_FINDINGS && clean_is_blank(json_string_value(feedback), json_string_length(feedback)))) {
		out->reason = extract_invalid(form->feedback, "string", feedback);
	} else if (!valid_checks(checks)) {
		out->reason = extract_invalid(form->checks, "object of booleans", checks);
	} else if (strict && kind == VERDICT_PASS && !all_true(checks)) {
		out->reason = xstrdup(CONFLICT);
	} else {
		out->kind = kind;
		out->feedback = xstrdup(json_string_value(feedback));
		out->quality_checks = checks != NULL ? json_dumps(checks, JSON_COMPACT) : NULL;
	}
	if (out->kind == VERDICT_FINDINGS)
		carrier_single_finding(out);
}

static struct extract find(const struct object_form *form, const struct verdict_input *in, const char *text,
    size_t size)
{
	const struct extract_judge judge = { origin_of, in };

	return extract_find(text, size, form->key, in->nonce != NULL ? &judge : NULL);
}

static bool mentions(const char *text, size_t size, const char *word)
{
	char *quoted = xasprintf("\"%s\"", word);
	bool found = memmem(text, size, quoted, strlen(quoted)) != NULL;

	free(quoted);
	return found;
}

/* The text has both words of an object with findings. One that repeats the prompt always has. */
static bool means_findings(const struct object_form *form, const struct verdict_input *in)
{
	return mentions(in->text, in->text_size, form->key) && mentions(in->text, in->text_size, form->findings) &&
	    !carrier_repeats_prompt(in, in->text, in->text_size);
}

/* What an object in the text says that is no pass, malloc'd; NULL: nothing. */
static char *other_word(const struct object_form *form, const struct extract *found)
{
	const json_t *word = json_object_get(found->object, form->key);
	const json_t *checks = form->checks != NULL ? json_object_get(found->object, form->checks) : NULL;

	if (found->conflict)
		return xstrdup("conflicting ones");
	if (kind_of(form, word) != VERDICT_PASS)
		return extract_got(word);
	return valid_checks(checks) && !all_true(checks) ? xstrdup("conflicting ones") : NULL;
}

/* Likewise the text. */
static char *other_in_text(const struct object_form *form, const struct verdict_input *in)
{
	struct extract found = find(form, in, in->text, in->text_size);
	char *other = NULL;

	if (found.foreign)
		other = xstrdup("one of another review");
	else if (found.result == EXTRACT_FOUND)
		other = other_word(form, &found);
	else if (means_findings(form, in))
		other = xasprintf("\"%s\"", form->findings);
	json_decref(found.object);
	return other;
}

/* Any process of the daemon's user could have written the file, and the text only the reviewer. */
static void compare_with_text(const struct object_form *form, const struct verdict_input *in, struct verdict *out)
{
	char *other = in->nonce != NULL && in->text != NULL && out->kind == VERDICT_PASS ?
	    other_in_text(form, in) : NULL;

	if (other == NULL)
		return;
	free(out->feedback);
	free(out->quality_checks);
	*out = (struct verdict){ .kind = VERDICT_NONE };
	out->reason = xasprintf(CONFLICT ": \"%s\" in the verdict file, %s in the text", form->pass, other);
	free(other);
}

void object_read(const struct object_form *form, const struct verdict_input *in, struct verdict *out)
{
	bool file = in->file != NULL && in->file_size > 0;
	const char *text = file ? in->file : in->text != NULL ? in->text : "";
	size_t size = file ? in->file_size : in->text != NULL ? in->text_size : 0;
	struct extract found = find(form, in, text, size);
	const json_t *word = json_object_get(found.object, form->key);
	enum verdict_kind kind;

	if (found.foreign) {
		out->reason = xstrdup(FOREIGN);
	} else if (found.result == EXTRACT_KEYLESS) {
		out->reason = invalid_word(form, NULL);
	} else if (found.result != EXTRACT_FOUND) {
		out->reason = xstrdup(reasons[found.result]);
	} else {
		kind = kind_of(form, word);
		if (kind == VERDICT_NONE)
			out->reason = invalid_word(form, word);
		else
			read_rest(form, &found, in->nonce != NULL, kind, out);
	}
	json_decref(found.object);
	if (file)
		compare_with_text(form, in, out);
	out->source = file ? "file" : size > 0 ? "text" : NULL;
}
