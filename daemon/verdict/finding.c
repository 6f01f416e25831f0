/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

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

bool carrier_repeats_prompt(const struct verdict_input *in, const char *text, size_t size)
{
	char halves[NONCE_HALVES_SIZE];

	if (in->nonce == NULL || size == 0)
		return false;
	nonce_halves(in->nonce, halves);
	return memmem(text, size, halves, strlen(halves)) != NULL;
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
