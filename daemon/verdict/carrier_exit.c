/* SPDX-License-Identifier: MIT */
#include "verdict/carrier.h"

#include "proto/memory.h"
#include "verdict/clean.h"

/* A fixer needs some instruction. */
#define NO_WORDS "The reviewer requested another round without giving a reason."

void carrier_exit_read(const struct verdict_input *in, struct verdict *out)
{
	if (in->status != 0 && in->status != 1) {
		out->reason = xstrdup(NO_EVIDENCE);
		return;
	}
	out->source = "exit";
	out->kind = in->status == 0 ? VERDICT_PASS : VERDICT_FINDINGS;
	/* output printed with a pass is not feedback */
	if (out->kind == VERDICT_PASS)
		out->feedback = xstrdup("");
	else if (clean_is_silent(in->text, in->text_size))
		out->feedback = xstrdup(NO_WORDS);
	else
		out->feedback = clean_text(in->text, in->text_size, CLEAN_FEEDBACK_MAX);
	if (out->kind == VERDICT_FINDINGS)
		carrier_single_finding(out);
}
