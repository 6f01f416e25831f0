/* SPDX-License-Identifier: MIT */
#include "verdict/verdict.h"

#include <stdlib.h>

#include "verdict/carrier.h"

static void (*const carriers[])(const char *text, size_t size, struct verdict *out) = {
	[CARRIER_VERDICT] = carrier_verdict_read,
};

void verdict_read(enum carrier carrier, const struct verdict_input *in, struct verdict *out)
{
	*out = (struct verdict){ 0 };
	if (in->file != NULL && in->file_size > 0) {
		carriers[carrier](in->file, in->file_size, out);
		out->source = "file";
		return;
	}
	carriers[carrier](in->text != NULL ? in->text : "", in->text != NULL ? in->text_size : 0, out);
	if (in->text != NULL && in->text_size > 0)
		out->source = "text";
}

void verdict_release(struct verdict *v)
{
	free(v->reason);
	free(v->feedback);
	for (size_t i = 0; i < v->nfindings; i++) {
		free(v->findings[i].file);
		free(v->findings[i].severity);
		free(v->findings[i].text);
	}
	free(v->findings);
	*v = (struct verdict){ 0 };
}
