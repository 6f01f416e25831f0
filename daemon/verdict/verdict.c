/* SPDX-License-Identifier: MIT */
#include "verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "verdict/carrier.h"

static void (*const carriers[CARRIERS])(const struct verdict_input *in, struct verdict *out) = {
	[CARRIER_VERDICT] = carrier_verdict_read,
	[CARRIER_DECISION] = carrier_decision_read,
	[CARRIER_FILE] = carrier_file_read,
	[CARRIER_EXIT] = carrier_exit_read,
	[CARRIER_COMMENTS] = carrier_comments_read,
};

void verdict_read(enum carrier carrier, const struct verdict_input *in, struct verdict *out)
{
	*out = (struct verdict){ 0 };
	carriers[carrier](in, out);
}

void verdict_release(struct verdict *v)
{
	free(v->reason);
	free(v->feedback);
	free(v->quality_checks);
	free(v->beside);
	verdict_findings_free(v->findings, v->nfindings);
	*v = (struct verdict){ 0 };
}
