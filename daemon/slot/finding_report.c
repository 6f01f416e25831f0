/* SPDX-License-Identifier: MIT */
#include "slot/finding_report.h"

#include <jansson.h>

#include "core/state.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "txn/txn.h"

char *review_issue(const struct finding_row *f)
{
	if (f->file == NULL)
		return xstrdup(f->text);
	return f->line != ROW_NONE ? xasprintf("%s:%lld: %s", f->file, (long long)f->line, f->text) :
	    xasprintf("%s: %s", f->file, f->text);
}

void review_emit(struct txn *txn, const struct finding_row *f, enum finding_state state, const char *by,
    const char *reason)
{
	json_t *event = json_pack("{s:I, s:s, s:s*, s:s*, s:s, s:s, s:s, s:s*}", "review", (json_int_t)f->review,
	    "id", f->id, "file", f->file, "severity", f->severity, "text", f->text,
	    "state", state_name(&finding_state_names, (int)state), "by", by, "reason", reason);

	if (f->line != ROW_NONE)
		json_object_set_new(event, "line", json_integer(f->line));
	txn_emit(txn, "finding", f->run, event);
}
