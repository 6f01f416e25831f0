/* SPDX-License-Identifier: MIT */
#include "verdict/carrier.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "verdict/extract.h"

#define EXPECTED_VERDICT "invalid verdict: expected \"pass\" or \"drift\", got "
#define EXPECTED_FOLLOW_UP "missing or invalid followUpPrompt: expected string, got "

static const char *const reasons[EXTRACT_RESULTS] = {
	[EXTRACT_EMPTY] = "empty reviewer output",
	[EXTRACT_NO_OBJECT] = "no JSON object found in reviewer output",
	[EXTRACT_BROKEN] = "reviewer output is not a valid JSON object",
	[EXTRACT_KEYLESS] = EXPECTED_VERDICT "nothing",
};

static const struct {
	const char *word;
	enum verdict_kind kind;
} words[] = {
	{ "pass", VERDICT_PASS },
	{ "drift", VERDICT_FINDINGS },
};

static enum verdict_kind kind_of(const json_t *value)
{
	for (size_t i = 0; json_is_string(value) && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(json_string_value(value), words[i].word) == 0)
			return words[i].kind;
	}
	return VERDICT_NONE;
}

static char *got(const char *expected, const json_t *value)
{
	char *json = extract_got(value);
	char *reason = xasprintf("%s%s", expected, json);

	free(json);
	return reason;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n\v\f")] == '\0';
}

void carrier_verdict_read(const char *text, size_t size, struct verdict *out)
{
	struct extract found = extract_find(text, size, "verdict");
	const json_t *value, *follow_up;
	enum verdict_kind kind;

	if (found.result != EXTRACT_FOUND) {
		out->reason = xstrdup(reasons[found.result]);
		return;
	}
	value = json_object_get(found.object, "verdict");
	follow_up = json_object_get(found.object, "followUpPrompt");
	kind = kind_of(value);
	if (kind == VERDICT_NONE)
		out->reason = got(EXPECTED_VERDICT, value);
	else if (found.conflict)
		out->reason = xstrdup("conflicting verdicts");
	else if (!json_is_string(follow_up) || (kind == VERDICT_FINDINGS && is_blank(json_string_value(follow_up))))
		out->reason = got(EXPECTED_FOLLOW_UP, follow_up);
	else {
		out->kind = kind;
		out->feedback = xstrdup(json_string_value(follow_up));
	}
	if (out->kind == VERDICT_FINDINGS) {
		/* The whole follow-up is one finding, so that a repeated one is known by its id. */
		out->findings = xcalloc(1, sizeof(*out->findings));
		out->findings[0].text = xstrdup(out->feedback);
		out->nfindings = 1;
	}
	json_decref(found.object);
}
