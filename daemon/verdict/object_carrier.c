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
};

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

/* The object was found, and its word is one of the two. */
static void read_rest(const struct object_form *form, const struct extract *found,
    enum verdict_kind kind, struct verdict *out)
{
	const json_t *feedback = json_object_get(found->object, form->feedback);
	const json_t *checks = form->checks != NULL ? json_object_get(found->object, form->checks) : NULL;

	if (found->conflict) {
		out->reason = xstrdup("conflicting verdicts");
	} else if (!json_is_string(feedback) ||
	    (kind == VERDICT_FINDINGS && clean_is_blank(json_string_value(feedback), json_string_length(feedback)))) {
		out->reason = extract_invalid(form->feedback, "string", feedback);
	} else if (!valid_checks(checks)) {
		out->reason = extract_invalid(form->checks, "object of booleans", checks);
	} else {
		out->kind = kind;
		out->feedback = xstrdup(json_string_value(feedback));
		out->quality_checks = checks != NULL ? json_dumps(checks, JSON_COMPACT) : NULL;
	}
	if (out->kind == VERDICT_FINDINGS)
		carrier_single_finding(out);
}

void object_read(const struct object_form *form, const struct verdict_input *in, struct verdict *out)
{
	bool file = in->file != NULL && in->file_size > 0;
	const char *text = file ? in->file : in->text != NULL ? in->text : "";
	size_t size = file ? in->file_size : in->text != NULL ? in->text_size : 0;
	struct extract found = extract_find(text, size, form->key);
	const json_t *word;
	enum verdict_kind kind;

	out->source = file ? "file" : size > 0 ? "text" : NULL;
	if (found.result == EXTRACT_KEYLESS) {
		out->reason = invalid_word(form, NULL);
	} else if (found.result != EXTRACT_FOUND) {
		out->reason = xstrdup(reasons[found.result]);
	} else {
		word = json_object_get(found.object, form->key);
		kind = kind_of(form, word);
		if (kind == VERDICT_NONE)
			out->reason = invalid_word(form, word);
		else
			read_rest(form, &found, kind, out);
		json_decref(found.object);
	}
}
