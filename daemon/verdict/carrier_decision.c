/* SPDX-License-Identifier: MIT */
#include "verdict/carrier.h"

#include "verdict/object_carrier.h"

static const struct object_form form = {
	.key = "decision",
	.pass = "GO",
	.findings = "NO_GO",
	.feedback = "feedback",
	.checks = "quality_checks",
};

void carrier_decision_read(const struct verdict_input *in, struct verdict *out)
{
	object_read(&form, in, out);
}
