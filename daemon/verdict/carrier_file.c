/* SPDX-License-Identifier: MIT */
#include "verdict/carrier.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "verdict/clean.h"
#include "verdict/items.h"

/* Its items; without any the whole text is one. */
static void read_findings(const char *text, size_t size, struct verdict *out)
{
	struct items items;

	items_read(text, size, false, &items);
	out->findings = items.list;
	out->nfindings = items.count;
	if (items.count == 0) {
		out->findings = xcalloc(1, sizeof(*out->findings));
		item_read(text, size, CLEAN_FEEDBACK_MAX, out->findings);
		out->nfindings = 1;
	} else if (items.left_out > 0) {
		out->findings = xreallocarray(out->findings, items.count + 1, sizeof(*out->findings));
		out->findings[items.count] = (struct verdict_finding){
			.text = xasprintf("[... %zu more items left out ...]", items.left_out)
		};
		out->nfindings++;
	}
}

void carrier_file_read(const struct verdict_input *in, struct verdict *out)
{
	char *clean;

	if (!clean_is_blank(in->file, in->file_size)) {
		clean = clean_text(in->file, in->file_size, SIZE_MAX);
		out->source = "file";
		out->kind = VERDICT_FINDINGS;
		out->feedback = clean_text(clean, strlen(clean), CLEAN_FEEDBACK_MAX);
		read_findings(clean, strlen(clean), out);
		free(clean);
	} else if (clean_is_silent(in->text, in->text_size)) {
		/* it may have failed with exit status 0 */
		out->reason = xstrdup(NO_EVIDENCE);
	} else {
		out->source = "text";
		out->kind = VERDICT_PASS;
		out->feedback = clean_text(in->text, in->text_size, CLEAN_FEEDBACK_MAX);
	}
}
