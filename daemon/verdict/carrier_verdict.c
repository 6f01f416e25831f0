/* SPDX-License-Identifier: MIT */
#include "verdict/carrier.h"

#include "verdict/object_carrier.h"

static const struct object_form form = {
	.key = "verdict",
	.pass = "pass",
	.findings = "drift",
	.feedback = "followUpPrompt",
};

void carrier_verdict_read(const struct verdict_input *in, struct verdict *out)
{
	object_read(&form, in, out);
}
