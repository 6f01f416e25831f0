/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/nonce.h"
#include "proto/memory.h"
#include "verdict/carrier.h"

/* Length without trailing white space: feedback is kept byte for byte, but a finding is a list
 * item. */
static size_t trimmed(const char *text)
{
	size_t length = strlen(text);

	while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
		length--;
	return length;
}

/* One text is one finding, so that a repeated one has the same id. */
void carrier_single_finding(struct verdict *out)
{
	out->findings = xcalloc(1, sizeof(*out->findings));
	out->findings[0].text = xmemdup0(out->feedback, trimmed(out->feedback));
	out->nfindings = 1;
}

/* The text at `at` begins with the word, in whatever case. */
static bool begins(const char *at, const char *end, const char *word, size_t size)
{
	return (size_t)(end - at) >= size && strncasecmp(at, word, size) == 0;
}

/* The word in the text, if not far from its start; NULL: none. Between are quotes, white space or
 * line ends, as such or as escapes. */
static const char *soon(const char *at, const char *end, const char *word, size_t size)
{
	enum { FAR = 48 };

	for (const char *last = at; last < end && last - at < FAR; last++)
		if (begins(last, end, word, size))
			return last + size;
	return NULL;
}

/* The two halves of the nonce are not in one piece in the text. Whatever printed them may have used
 * other quotes, lines or letters than the prompt has. */
bool carrier_repeats_prompt(const struct verdict_input *in, const char *text, size_t size)
{
	const char *end = size > 0 ? text + size : text, *after;

	for (const char *at = text; in->nonce != NULL && at < end; at++) {
		after = begins(at, end, in->nonce, NONCE_HALF) ? at + NONCE_HALF : end;
		if (after == end || isalnum((unsigned char)*after))
			continue;
		after = soon(after, end, "and", strlen("and"));
		if (after != NULL && soon(after, end, in->nonce + NONCE_HALF, NONCE_HALF) != NULL)
			return true;
	}
	return false;
}

void verdict_findings_free(struct verdict_finding *findings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(findings[i].file);
		free(findings[i].severity);
		free(findings[i].text);
	}
	free(findings);
}
